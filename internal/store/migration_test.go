package store

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

var update = flag.Bool("update", false, "write the dump of the newest schema anew")

// TestOldSchemasMigrate: a dump of every schema that was released, with jobs in
// it, opens, verifies and goes on. Dumps are never changed once released.
func TestOldSchemasMigrate(t *testing.T) {
	t.Parallel()
	newest := filepath.Join("testdata", fmt.Sprintf("schema-%04d.sql", schema))
	if *update {
		if err := os.WriteFile(newest, []byte(dump(t)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dumps, err := filepath.Glob(filepath.Join("testdata", "schema-*.sql"))
	if err != nil || len(dumps) != schema {
		t.Fatalf("%d dumps, %v, want one for each of %d schemas", len(dumps), err, schema)
	}
	for _, path := range dumps {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			sql, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			load(t, filepath.Join(dir, databaseFile), string(sql))
			s := reopen(t, dir, Options{})
			report, err := s.Verify(t.Context(), "")
			if err != nil || !report.Holds() || len(report.Jobs) != 2 {
				t.Fatalf("verify: %+v, %v", report, err)
			}
			for _, r := range report.Jobs {
				if r.Unsigned != r.Entries || r.Entries == 0 {
					t.Errorf("job %s: %d of %d entries unsigned, want all: no key is in a dump", r.Short, r.Unsigned, r.Entries)
				}
			}
			a, id := &author{t: t, n: 100_000}, report.Jobs[0].Job
			write(t, s, func(tx *Tx) error {
				now, err := tx.Standing(id)
				if err != nil {
					return err
				}
				if now.Goal != "first goal" || now.InForce == 0 {
					t.Errorf("goal %q with %d decisions in force", now.Goal, now.InForce)
				}
				if got, err := tx.Session("claude", "dumped"); err != nil || got.Transcript != "/transcript" {
					t.Errorf("session: %+v, %v", got, err)
				}
				_, err = a.append(tx, id, "", &job.Raised{Text: "after the migration"})
				return err
			})
			if r := verify(t, s, id); !r.Holds() {
				t.Errorf("after one more entry: %s", r.String())
			}
		})
	}
}

// dump writes a store with two jobs as SQL.
func dump(t *testing.T) string {
	t.Helper()
	s, a := openTest(t), &author{t: t}
	first, second := testID('j', 1), testID('j', 2)
	fill(t, s, a, first, 30, "first")
	fill(t, s, a, second, 10, "second")
	write(t, s, func(tx *Tx) error {
		blob, err := tx.PutBlob(redact.New(nil, nil).Text("a receipt"))
		if err != nil {
			return err
		}
		if _, err := a.append(tx, first, "", &job.Step{Title: "t", Receipt: job.Receipt{Blob: blob}}); err != nil {
			return err
		}
		row := Session{ID: testID('s', 1), Agent: "claude", AgentSession: "dumped", Job: first, Transcript: "/transcript"}
		w := Workspace{ID: testID('w', 1), Path: "/src"}
		// Whoever reads a dump folds by later rules.
		if err := tx.flush(); err != nil {
			return err
		}
		if _, err := tx.c.exec("UPDATE job SET standing = json_set(standing, '$.apply', 0)"); err != nil {
			return err
		}
		return errors.Join(tx.SaveSession(row.Agent, row.AgentSession, sealed(t, row)), tx.SaveWorkspace(w.Path, sealed(t, w)))
	})
	var out strings.Builder
	out.WriteString("PRAGMA journal_mode=WAL;\nBEGIN;\n")
	read(t, s, func(tx *Tx) error {
		var tables []string
		err := tx.c.query(func(r row) error {
			name := r.str(1)
			if r.str(0) == "table" && name != "search" {
				tables = append(tables, name)
			}
			if strings.HasPrefix(name, "search_") { // made with the index, with rows of its own
				fmt.Fprintf(&out, "DELETE FROM %s;\n", name)
				return nil
			}
			fmt.Fprintf(&out, "%s;\n", r.str(2))
			return nil
		}, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
		if err != nil {
			return err
		}
		for _, table := range tables {
			var columns []string
			if err := tx.c.query(func(r row) error {
				columns = append(columns, "quote("+r.str(0)+")")
				return nil
			}, "SELECT name FROM pragma_table_info(?)", table); err != nil {
				return err
			}
			if err := tx.c.query(func(r row) error {
				fmt.Fprintf(&out, "INSERT INTO %s VALUES (%s);\n", table, r.str(0))
				return nil
			}, "SELECT "+strings.Join(columns, " || ', ' || ")+" FROM "+table); err != nil {
				return err
			}
		}
		version, err := tx.c.version()
		fmt.Fprintf(&out, "PRAGMA user_version = %d;\nCOMMIT;\n", version)
		return err
	})
	return out.String()
}

func load(t *testing.T, path, sql string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := dial(path, "mode=rw", 0)
	if err == nil {
		err = errors.Join(c.script(t.Context(), sql), c.close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
