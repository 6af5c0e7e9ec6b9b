package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
	"github.com/seed-5777983b/duplex/internal/runner"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// documented is docs/json.md as a table: section, field, type.
type documented map[string]map[string]string

func readDocs(t *testing.T) documented {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	field := regexp.MustCompile("^- `([a-z0-9_]+)` \\(([^)]+)\\) .+")
	docs := documented{}
	section := ""
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "## "); ok {
			if docs[name] != nil {
				t.Errorf("docs/json.md: two sections %q", name)
			}
			section, docs[name] = name, map[string]string{}
			continue
		}
		if m := field.FindStringSubmatch(lines.Text()); m != nil {
			if docs[section][m[1]] != "" {
				t.Errorf("docs/json.md: %s: field %s twice", section, m[1])
			}
			docs[section][m[1]] = m[2]
		} else if strings.HasPrefix(lines.Text(), "- ") {
			t.Errorf("docs/json.md: no field with a type: %s", lines.Text())
		}
	}
	return docs
}

// holds compares a JSON value with what a type is documented to be.
func (d documented) holds(path, kind string, v any) []string {
	if of, ok := strings.CutPrefix(kind, "list of "); ok {
		list, isList := v.([]any)
		if !isList && v != nil {
			return []string{fmt.Sprintf("%s is %T, documented as %s", path, v, kind)}
		}
		var wrong []string
		for _, x := range list {
			wrong = append(wrong, d.holds(path, of, x)...)
		}
		return wrong
	}
	if of, ok := strings.CutPrefix(kind, "map of text to "); ok {
		m, isMap := v.(map[string]any)
		if !isMap {
			return []string{fmt.Sprintf("%s is %T, documented as %s", path, v, kind)}
		}
		var wrong []string
		for k, x := range m {
			wrong = append(wrong, d.holds(path+"."+k, of, x)...)
		}
		return wrong
	}
	plain := map[string]bool{"text": true, "id": true, "time": true}
	switch x := v.(type) {
	case string:
		if !plain[kind] {
			return []string{fmt.Sprintf("%s is text, documented as %s", path, kind)}
		}
	case json.Number:
		if kind != "number" {
			return []string{fmt.Sprintf("%s is a number, documented as %s", path, kind)}
		}
	case bool:
		if kind != "flag" {
			return []string{fmt.Sprintf("%s is true or false, documented as %s", path, kind)}
		}
	case map[string]any:
		fields, known := d[kind]
		if !known {
			return []string{fmt.Sprintf("%s is an object, documented as %s, which has no section", path, kind)}
		}
		var wrong []string
		for k, y := range x {
			of, ok := fields[k]
			switch {
			case !ok:
				wrong = append(wrong, fmt.Sprintf("%s.%s is not documented in section %q", path, k, kind))
			case of == "payload":
				wrong = append(wrong, d.holds(path+"."+k, fmt.Sprint("payload of ", x["kind"]), y)...)
			default:
				wrong = append(wrong, d.holds(path+"."+k, of, y)...)
			}
		}
		return wrong
	}
	return nil
}

func (d documented) check(t *testing.T, name, section, out string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(out))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	if section != "entry" {
		if v["schema"] != "duplex."+section {
			t.Errorf("%s: schema %v, want duplex.%s", name, v["schema"], section)
		}
		if !strings.HasPrefix(strings.TrimSpace(out), `{"schema":`) && !strings.HasPrefix(strings.TrimSpace(out), "{\n  \"schema\":") {
			t.Errorf("%s: the schema is not the first field", name)
		}
		delete(v, "schema")
	}
	for _, wrong := range d.holds(section, section, v) {
		t.Errorf("%s: %s", name, wrong)
	}
}

// TestJSON holds every field that commands print against docs/json.md.
func TestJSON(t *testing.T) {
	t.Parallel()
	docs := readDocs(t)
	w := newTale(t)
	w.monday()
	w.tuesday()
	for _, c := range []struct {
		schema string
		args   []string
	}{
		{"standing/1", []string{"show"}},
		{"brief/1", []string{"show", "--brief"}},
		{"brief/1", []string{"brief"}},
		{"brief/1", []string{"handover"}},
		{"decisions/1", []string{"log", "--decided", "--full"}},
		{"entry/1", []string{"log", w.position("step")}},
		{"entry/1", []string{"log", w.position("checked")}},
		{"cost/1", []string{"cost"}},
		{"recall/1", []string{"recall", "the", "-nothing"}},
		{"recall/1", []string{"recall", "test", "no-such-word"}},
		{"candidates/1", []string{"adopt"}},
		{"lessons/1", []string{"lessons", "--all"}},
		{"verify/1", []string{"verify"}},
		{"config/1", []string{"config"}},
		{"config/1", []string{"config", "on-crash"}},
		{"setting/1", []string{"config", "nudge", "0.6"}},
		{"workspace/1", []string{"off"}},
		{"workspace/1", []string{"on"}},
		{"version/1", []string{"version"}},
		{"jobs/1", []string{"jobs", "--all"}},
		{"added/1", []string{"raise", "look at the goldens"}},
		{"checked/1", []string{"check", "--here"}},
		{"verdict/1", []string{"abandon", w.short, "--reason", "told enough", "--confirm", w.short}},
		{"lessons/1", []string{"lessons"}},
		{"standing/1", []string{"show"}},
		{"removal/1", []string{"remove", w.short, "--dry-run"}},
	} {
		out, errs, code := w.run("", "", append(c.args, "--json")...)
		if code != ExitOK && code != ExitNotPassed {
			t.Fatalf("duplex %s: exit %d\n%s", strings.Join(c.args, " "), code, errs)
		}
		docs.check(t, strings.Join(c.args, " "), c.schema, out)
	}
	lines := strings.Split(strings.TrimSpace(w.must("log", "--json")), "\n")
	docs.check(t, "log", "log/1", lines[0])
	kinds := map[string]bool{}
	for _, l := range lines[1:] {
		docs.check(t, "log", "entry", l)
		var e struct{ Kind, Key string }
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatal(err)
		}
		kinds[e.Kind] = true
		if strings.Contains(e.Key, "REDACTED") {
			t.Errorf("an entry's own key is taken for a credential: %s", l)
		}
	}
	if len(kinds) < 15 {
		t.Errorf("the tale has %d kinds of entries; it should meet most", len(kinds))
	}
	w.dir = t.TempDir() // no job here: all jobs
	docs.check(t, "cost of all", "costs/1", w.must("cost", "--json"))
}

// TestJSONDocs holds the documentation against the types, so that a field that is
// seldom there is documented too, and none that is gone.
func TestJSONDocs(t *testing.T) {
	t.Parallel()
	docs := readDocs(t)
	sections := map[string]any{
		"standing/1": tracker.Shown{}, "brief/1": tracker.Brief{}, "cost/1": bill{}, "verify/1": verified{}, "version/1": build{},
		"started/1": tracker.Started{}, "adopted/1": tracker.Adopted{}, "added/1": tracker.Added{}, "taken/1": tracker.Taken{},
		"checked/1": tracker.CheckRun{}, "verdict/1": tracker.Verdict{}, "run/1": runner.Result{}, "command-line/1": commandLine{}, "went-back/1": tracker.WentBack{},
		"removal/1": tracker.Removal{}, "row": tracker.Row{}, "standing": job.Standing{}, "reference": job.Ref{}, "check now": job.CheckNow{},
		"check": job.Check{}, "check run": tracker.CheckRun{}, "check result": job.CheckResult{}, "test counts": job.TestCounts{},
		"loss": job.TestLoss{}, "keep tests": job.KeepTests{}, "measure": job.Measure{}, "budget": job.Budget{}, "workspace": job.Workspace{},
		"proposal": tracker.Proposal{}, "lease": job.Lease{}, "process": job.Process{}, "pause": job.Pause{}, "outcome": job.Verdict{},
		"verdict": tracker.Verdict{}, "seat": job.Seat{}, "seat name": seatName{}, "sitting": job.Sitting{}, "item": job.Item{},
		"author": job.Author{}, "safe point": tracker.Kept{}, "safe point now": job.SafePointNow{}, "snapshot": job.Snapshot{},
		"uncovered": tracker.Uncovered{}, "restored": tracker.RestoredPlace{}, "handover now": job.HandoverNow{}, "section": job.SectionCount{},
		"bill": job.Bill{}, "model bill": job.ModelBill{}, "side": tracker.CostOf{}, "cost row": store.CostRow{}, "job cost": jobCost{},
		"tokens": job.Tokens{}, "verified job": store.JobReport{}, "fault": store.Fault{}, "setting": setting{}, "layer": tracker.Layer{},
		"receipt": job.Receipt{}, "receipt whole": entryReceipt{}, "touch": job.Touch{}, "folder": job.Folder{}, "model difference": job.ModelDifference{},
		"entry": logLine{}, "setup/1": setup{}, "file change": setupChange{}, "doctor/1": diagnosis{}, "finding": finding{},
		"uninstalled/1": uninstalled{}, "erased": erased{}, "recall/1": tracker.Recalled{}, "hit": tracker.Hit{}, "place found": tracker.Spoken{}, "unread": tracker.Unread{},
		"snippet": query.Snippet{}, "mark": query.Mark{}, "candidate": tracker.Candidate{},
	}
	for _, k := range job.Kinds() {
		p, err := job.Decode(k, job.PayloadVersion, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		sections["payload of "+string(k)] = reflect.ValueOf(p).Elem().Interface()
	}
	for name, v := range sections {
		have := map[string]bool{}
		fieldsOf(reflect.TypeOf(v), have)
		for f := range have {
			if docs[name][f] == "" {
				t.Errorf("docs/json.md: section %q lacks %s", name, f)
			}
		}
		for f := range docs[name] {
			if !have[f] {
				t.Errorf("docs/json.md: section %q has %s, which is not printed", name, f)
			}
		}
	}
	for name, fields := range docs {
		for f, kind := range fields {
			kind = strings.TrimPrefix(strings.TrimPrefix(kind, "map of text to "), "list of ")
			if docs[kind] == nil && !slices.Contains([]string{"text", "id", "time", "number", "flag", "payload"}, kind) {
				t.Errorf("docs/json.md: %s of %q is a %s, which has no section", f, name, kind)
			}
		}
	}
	printed := regexp.MustCompile(`showJSON\("([a-z0-9/-]+)"`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range printed.FindAllStringSubmatch(string(b), -1) {
			if docs[m[1]] == nil {
				t.Errorf("%s prints %s, which has no section in docs/json.md", f, m[1])
			}
		}
	}
}

// fieldsOf lists the JSON fields of a struct, those of embedded ones too.
func fieldsOf(t reflect.Type, into map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fieldsOf(f.Type, into)
		case f.IsExported() && name != "-":
			into[name] = true
		}
	}
}
