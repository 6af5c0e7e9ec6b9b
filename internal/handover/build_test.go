package handover

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		view func(t *testing.T) View
		o    Options
	}{
		{"calc", func(t *testing.T) View {
			v := calc(t).view()
			v.Claim = "I have moved almost all of the tests, everything is fine."
			return v
		}, Options{}},
		{"calc-small", func(t *testing.T) View { return calc(t).view() }, Options{Tokens: MinTokens}},
		{"calc-decisions", func(t *testing.T) View { return calc(t).view() }, Options{Section: "decisions"}},
		{"calc-looked", func(t *testing.T) View {
			v := calc(t).view()
			v.Facts = Facts{Looked: true, Branch: "try", Head: "aaaaaaaaaaaa", Dirty: []string{"calc/sub_test.go", "notes.txt"},
				Missing: []string{"calc/div_test.go"}, Changed: []string{"calc/add_test.go"}}
			return v
		}, Options{}},
		{"back", func(t *testing.T) View { return back(t).view() }, Options{}},
		{"new", func(t *testing.T) View { return newStory(t, "Say hello").view() }, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Build(c.view(t), c.o)
			file := filepath.Join("testdata", c.name+".txt")
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got.Text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got.Text, want)
			}
		})
	}
}

// back is a job whose second session crashed in a call; it went back.
func back(t testing.TB) *story {
	s := calc(t)
	s.duplex(&job.HandedOver{Why: "level", Level: .85, Fill: .86, Next: "calc/div_test.go: keep the case that divides by zero", Claim: "div is next"})
	s.sit("codex")
	s.duplex(&job.TookOver{How: "startup", Tokens: 600})
	s.edit("calc/mul_test.go", "TestMulTable")
	s.actions++
	s.agents(&job.Step{Class: job.ClassCommand, Title: "sed", Command: "sed -i s/AssertEq/want/ calc/pow_test.go", Result: job.ResultUnknown, Action: s.actions})
	s.duplex(&job.SessionEnded{Reason: "crashed", Evidence: "its process is gone"})
	s.duplex(&job.Paused{Reason: job.PauseCrashed, Evidence: "pid 4711 is gone"})
	return s
}

func TestBackGoesOnFromTheSafePoint(t *testing.T) {
	t.Parallel()
	s := back(t)
	if p := Build(s.view(), Options{}); p.Next != "go on in calc/ with div_test.go" {
		t.Errorf("next = %q, want the folder: work was done after the handover", p.Next)
	}
	s.duplex(&job.WentBack{To: 2, Undo: 3, Written: 1, Removed: 0, Why: "a call with unknown outcome was in flight"})
	p := Build(s.view(), Options{})
	if want := "calc/div_test.go: keep the case that divides by zero"; p.Next != want {
		t.Errorf("next = %q, want %q: what was done after the handover is undone", p.Next, want)
	}
}

func TestAClaimIsItsSessions(t *testing.T) {
	t.Parallel()
	s := calc(t)
	handed := s.duplex(&job.HandedOver{Why: "level", Claim: "div is next, then mul"})
	s.sit("codex")
	v := s.view()
	v.Claim = "div is next, then mul" // as the handover has it: claude said so, not who sits there now
	for _, l := range sound(t, s, v, Options{}).Lines {
		if l.Section == Claim && (l.By.Name != "claude" || l.Position != handed.Position) {
			t.Errorf("claimed by %s at %d", l.By, l.Position)
		}
	}
}

func TestUncommittedPathsAreNamedOrCounted(t *testing.T) {
	t.Parallel()
	s := calc(t)
	v := s.view()
	v.Facts = Facts{Looked: true, Branch: "main", Head: "9d03f1e2a4b5c6d7", More: 7}
	for _, n := range strings.Fields("a b c d e f g h i j k l") {
		v.Facts.Dirty = append(v.Facts.Dirty, n+".go")
	}
	if p := sound(t, s, v, Options{}); !strings.Contains(p.Text, "uncommitted: a.go, b.go, c.go, d.go, e.go, f.go, g.go, h.go, i.go, j.go, k.go, l.go (+7 more)") {
		t.Errorf("not all uncommitted paths are there:\n%s", p.Text)
	}
	if p := sound(t, s, v, Options{Tokens: MinTokens}); !strings.Contains(p.Text, "h.go (+11 more)") {
		t.Errorf("those that do not fit are not counted:\n%s", p.Text)
	}
}

func TestNothingComesAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := calc(t)
	s.agents(&job.Raised{Text: "look at the rest of the folder", Next: true})
	s.duplex(&job.HandedOver{Why: "end", Next: "go on with div_test.go"})
	s.duplex(&job.Finished{Outcome: job.OutcomeFailed, Reason: "check c2 failed"})
	if p := sound(t, s, s.view(), Options{}); p.Next == "" {
		t.Errorf("a failed finish leaves the job open, and the brief names nothing to do next:\n%s", p.Text)
	}
	s.person(&job.Finished{Outcome: job.OutcomeAccepted, Reason: "the rest is not worth it"})
	p := sound(t, s, s.view(), Options{})
	if p.Next != "" || strings.Contains(p.Text, nextLabel) {
		t.Errorf("a job that has ended goes on with %q:\n%s", p.Next, p.Text)
	}
	if want := "person: the job has ended: accepted: the rest is not worth it"; !strings.Contains(p.Text, want) {
		t.Errorf("the brief does not say %q:\n%s", want, p.Text)
	}
}

// In a plain folder there is nothing that could be committed.
func TestPlainFolderHasNoCommits(t *testing.T) {
	t.Parallel()
	s := newStory(t, "Round prices")
	s.duplex(&job.Seen{})
	v := s.view()
	for _, v.Facts = range []Facts{{}, {Missing: []string{"price.sh"}}} {
		if p := sound(t, s, v, Options{}); strings.Contains(p.Text, "uncommitted") {
			t.Errorf("a plain folder is told of as of a repository:\n%s", p.Text)
		}
	}
}
