package handover

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

func file(name string, edit, read, edits, reads int64) job.Work {
	return job.Work{WorkKey: job.WorkKey{Kind: job.WorkFile, Name: name}, Last: max(edit, read), Edit: edit, Read: read, Edits: edits, Reads: reads}
}

func named(list []Ranked) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.Name)
	}
	return out
}

func TestNeededFollowsTheBaseRates(t *testing.T) {
	t.Parallel()
	m := Moment{Action: 200, Instruction: 190}
	for _, c := range []struct {
		name string
		w    job.Work
		want float64
	}{
		{"edited now, often, since the instruction", file("a", 198, 0, 4, 0), .57 * 1.2 * 1.3},
		{"edited now, once", file("a", 196, 0, 1, 0), .57 * 1.2 * .7},
		{"read only", file("a", 0, 199, 0, 2), .35 * 1.2},
		{"read 15 ago, before the instruction", file("a", 0, 185, 0, 2), .38 * .8},
		{"edited 40 ago", file("a", 160, 0, 2, 0), .26 * .8},
		{"edited 100 ago", file("a", 100, 0, 2, 0), .13 * .8},
		{"edited long ago", file("a", 1, 0, 2, 0), .07 * .8},
		{"read long ago", file("a", 0, 1, 0, 2), .03 * .8},
	} {
		if got := needed(&c.w, m); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s: p = %.4f, want %.4f", c.name, got, c.want)
		}
	}
}

func TestRankFiles(t *testing.T) {
	t.Parallel()
	m := Moment{Action: 100, Instruction: 90}
	seen := job.Work{WorkKey: job.WorkKey{Kind: job.WorkFile, Name: "calc/new.go"}, Mention: 99, Mentions: 3, R15: 3, Last: 99}
	gone := seen
	gone.Name, gone.Mention, gone.Last = "calc/past.go", 20, 20
	far := seen
	far.Name, far.R15, far.Mentions = "other/x.go", .01, 1
	works := []job.Work{
		file("README.md", 99, 0, 9, 0), file("go.mod", 99, 0, 9, 0), seen, gone, far,
		file("calc/old.go", 0, 2, 0, 1), file("calc/b.go", 99, 0, 5, 0), file("calc/a.go", 99, 0, 5, 0), file("calc/read.go", 0, 98, 0, 2),
	}
	want := []string{"calc/a.go", "calc/b.go", "calc/read.go", "calc/new.go"}
	if got := named(RankFiles(works, m)); !reflect.DeepEqual(got, want) {
		t.Errorf("files = %v, want %v", got, want)
	}
	if got := named(RankFiles([]job.Work{file("x/last.go", 0, 1, 0, 1)}, m)); len(got) != 1 {
		t.Errorf("files = %v, want the only one, however unlikely", got)
	}
	var many []job.Work
	for n := range 200 {
		many = append(many, file(fmt.Sprintf("p%d/f.go", n), 99, 0, 5, 0))
	}
	if got := RankFiles(many, m); len(got) > maxFiles {
		t.Errorf("%d files are listed, want at most %d", len(got), maxFiles)
	}
}

func TestRankSymbols(t *testing.T) {
	t.Parallel()
	m := Moment{Action: 100, Instruction: 50}
	symbol := func(name string, edit, search int64) job.Work {
		w := job.Work{WorkKey: job.WorkKey{Kind: job.WorkSymbol, Name: name}, Edit: edit, Search: search}
		if search > 0 {
			w.Searches = 1
		}
		return w
	}
	works := []job.Work{symbol("editedNow", 99, 0), symbol("searchedNow", 0, 99), symbol("searchedLately", 0, 90), symbol("short", 99, 99), symbol("bothEqual", 99, 0)}
	for n := range 60 {
		works = append(works, symbol(fmt.Sprintf("onlyMentioned%d", n), 0, 0))
	}
	want := []string{"searchedNow", "bothEqual", "editedNow", "searchedLately"}
	if got := named(RankSymbols(works, m)); !reflect.DeepEqual(got, want) {
		t.Errorf("symbols = %v, want %v", got, want)
	}
	var many []job.Work
	for n := range 300 {
		many = append(many, symbol(fmt.Sprintf("editedName%d", n), 99, 0))
	}
	if got := RankSymbols(many, m); len(got) != maxSymbols {
		t.Errorf("%d symbols are listed, want %d", len(got), maxSymbols)
	}
	if got := RankSymbols(nil, m); len(got) != 0 {
		t.Errorf("symbols of nothing = %v", got)
	}
}

func TestRankCommands(t *testing.T) {
	t.Parallel()
	command := func(name string, last, runs int64) job.Work {
		return job.Work{WorkKey: job.WorkKey{Kind: job.WorkCommand, Name: name}, Last: last, Runs: runs}
	}
	works := []job.Work{command("go test ./old", 10, 1), command("go test ./now", 100, 1), command("make often", 70, 16), command("ls", 100, 9), command("-H x", 100, 9), command("git status --short", 100, 9)}
	broken := command("git push origin main", 99, 1)
	broken.Result = job.Failed
	works = append(works, broken)
	want := []string{"make often", "go test ./now", "git push origin main", "go test ./old"}
	if got := named(RankCommands(works, Moment{Action: 100})); !reflect.DeepEqual(got, want) {
		t.Errorf("commands = %v, want %v", got, want)
	}
}
