package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// FuzzSettings: whatever stands in the file, setup then undo gives it back byte for
// byte, or it is refused untouched; and what is set up is JSON with our hooks.
func FuzzSettings(f *testing.F) {
	for _, c := range asPeopleHaveThem() {
		if len(c.text) < 1<<12 {
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(duplexPath, claude)
		after, edits, err := withEntries([]byte(text), line)
		if err != nil {
			return
		}
		var whole any
		if err := json.Unmarshal(bytes.TrimPrefix(after, byteOrderMark), &whole); err != nil {
			t.Fatalf("it is no JSON any more: %v\n%s", err, after)
		}
		if again, more, err := withEntries(after, line); err != nil || len(more) > 0 || !bytes.Equal(again, after) {
			t.Fatalf("a second setup changes it: %v %v\n%s", more, err, after)
		}
		s := Setup{Revisions: []revision{{digest([]byte(text), true), edits}}}
		if back, _, exact := s.revert(after); !exact || string(back) != text {
			t.Fatalf("undone is %q (%v), want %q", back, exact, text)
		}
		without, _, err := withoutEntries(after, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := parse(without); err != nil || d.ours() > 0 {
			t.Fatalf("taken out by hand, left is %v\n%s", err, without)
		}
		if err := json.Unmarshal(bytes.TrimPrefix(without, byteOrderMark), &whole); err != nil && len(bytes.TrimSpace(bytes.TrimPrefix(without, byteOrderMark))) > 0 {
			t.Fatalf("taken out by hand, it is no JSON: %v\n%s", err, without)
		}
	})
}

// FuzzWithout: whatever was made of the file since, no entry of ours is left, and what
// else it says stays.
func FuzzWithout(f *testing.F) {
	for _, c := range asPeopleHaveThem() {
		if len(c.text) < 1<<12 {
			f.Add(c.text)
			if after, _, err := withEntries([]byte(c.text), Line(duplexPath, claude)); err == nil {
				f.Add(string(after))
				f.Add(strings.ReplaceAll(string(after), "[", "[ // ours\n"))
				f.Add(strings.ReplaceAll(string(after), "}", ",}"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, had := range []map[string]bool{nil, {"hooks": true, "hooks.Stop": true}} {
			without, n, err := withoutEntries([]byte(text), had)
			if err != nil {
				return
			}
			if d, err := parse(without); err != nil || d.ours() > 0 {
				t.Fatalf("left is %v\n%s", err, without)
			}
			if n == 0 && string(without) != text {
				t.Fatalf("nothing of ours was there, and it is\n%s\nwas\n%s", without, text)
			}
			var before, after map[string]any
			if json.Unmarshal([]byte(text), &before) != nil {
				continue
			}
			if err := json.Unmarshal(without, &after); err != nil {
				t.Fatalf("it is no JSON any more: %v\n%s", err, without)
			}
			delete(before, "hooks")
			delete(after, "hooks")
			if fmt.Sprint(before) != fmt.Sprint(after) {
				t.Fatalf("the rest is %v, was %v", after, before)
			}
		}
	})
}
