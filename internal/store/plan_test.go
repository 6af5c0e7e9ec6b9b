package store

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// TestQueriesStayFlat: what is asked in a hook, or of a ledger of any length,
// reads by an index. Each case runs through the exported call, and SQLite is asked
// how it ran every statement that was prepared.
func TestQueriesStayFlat(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	fill(t, s, a, id, 200, "m")
	write(t, s, func(tx *Tx) error {
		if _, err := a.append(tx, id, testID('s', 1), &job.Touched{Title: "t", Action: 999}); err != nil {
			return err
		}
		calls := []error{}
		did := func(_ any, err error) { calls = append(calls, err) }
		did(tx.EntriesOf(id, []job.Kind{job.KindDecided}, true, 5))
		did(tx.EntriesOf(id, []job.Kind{job.KindStep}, true, 5))
		did(tx.Entry(id, "7"))
		did(tx.Entry(id, string(testID('e', 5))))
		did(tx.Items(id, job.KindDecided, job.InForce, 5, true))
		did(tx.Works(id, job.WorkFile))
		did(tx.OpenJobsOf(testID('w', 1)))
		did(tx.Jobs(JobFilter{Open: true}))
		did(tx.Jobs(JobFilter{Workspace: testID('w', 1)}))
		did(tx.Jobs(JobFilter{Repository: "r"}))
		did(tx.Jobs(JobFilter{Parent: id}))
		did(tx.Lessons("r", 5))
		did(tx.SessionsOf(id))
		did(tx.Renew(id, "", 0, 1))
		did(tx.Off(testID('w', 1)))
		did(tx.SessionModels(id, testID('s', 1), 0))
		did(tx.SpendBy(id, ByAgent, nil))
		tx.Session("claude", "x")
		tx.SessionByID(testID('s', 1))
		tx.SessionByProcess(job.Process{PID: 1})
		tx.WorkspaceByPath("/x")
		tx.Resolve("k7m2")
		for _, err := range calls {
			if err != nil {
				t.Error(err)
			}
		}
		for _, sql := range slices.Collect(maps.Keys(tx.c.stmts)) {
			if err := tx.c.query(func(r row) error {
				if plan := r.str(3); strings.HasPrefix(plan, "SCAN") && !strings.Contains(plan, "CONSTANT ROW") && !strings.Contains(plan, "job_done") {
					t.Errorf("%s\n  by %s", sql, plan)
				}
				return nil
			}, "EXPLAIN QUERY PLAN "+sql, make([]any, strings.Count(sql, "?"))...); err != nil {
				return err
			}
		}
		return nil
	})
}
