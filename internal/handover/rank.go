package handover

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Ranked is a row of the working set with how likely it is needed within the
// next 25 actions. For commands P only orders.
type Ranked struct {
	*job.Work
	P float64
}

// At most so many rows go into a working set. A reader's attention is dearer
// than a name missed: lists are cut by expected gain long before this.
const (
	maxFiles    = 30
	maxUnopened = 8
	maxSymbols  = 40
	maxCommands = 20
)

// Moment is when rows are ranked: the action reached, and the action at which the
// newest instruction came.
type Moment struct{ Action, Instruction int64 }

// RankFiles picks the files worth naming, likeliest first: those read or edited
// whose expected gain is larger than the cost of a name in vain, then a few that
// were only seen in results, never opened, beside files in use.
func RankFiles(works []job.Work, m Moment) []Ranked {
	var touched, unopened []Ranked
	for i := range works {
		w := &works[i]
		switch {
		case w.Kind != job.WorkFile || neverNeeded(w.Name):
		case opened(w) > 0:
			touched = append(touched, Ranked{w, needed(w, m)})
		case m.Action-w.Mention <= 60:
			unopened = append(unopened, Ranked{w, 0})
		}
	}
	order(touched)
	near := nearness(touched)
	for i := range unopened {
		w := &unopened[i]
		z := -6.44 + 3.48*near[path.Dir(w.Name)] + 1.55*math.Log1p(job.Decayed(w.R15, w.Last, m.Action, 15))
		w.P = 1 / (1 + math.Exp(-z))
	}
	order(unopened)
	unopened = slices.DeleteFunc(unopened, func(r Ranked) bool { return r.P < .02 })
	return append(worth(touched), unopened[:min(len(unopened), maxUnopened)]...)
}

// opened is the last action that read or edited the file.
func opened(w *job.Work) int64 { return max(w.Edit, w.Read) }

// rate looks up a base rate by how many actions ago something last happened.
func rate(ago int64, rates [5]float64) float64 {
	for i, limit := range [...]int64{5, 15, 40, 100} {
		if ago <= limit {
			return rates[i]
		}
	}
	return rates[4]
}

// needed is the base rate of a file that was opened.
func needed(w *job.Work, m Moment) float64 {
	rates := [5]float64{.35, .38, .18, .08, .03}
	if w.Edit > 0 {
		rates = [5]float64{.57, .38, .26, .13, .07}
	}
	p := rate(m.Action-opened(w), rates) * phase(opened(w), m)
	switch n := w.Edits + w.Reads; {
	case n <= 1:
		p *= .7
	case n >= 4:
		p *= 1.3
	}
	return p
}

// phase weighs whether something happened since the newest instruction.
func phase(action int64, m Moment) float64 {
	if action > m.Instruction {
		return 1.2
	}
	return .8
}

// worth cuts a ranked list of opened files where a miss costs less than a name
// in vain. At least one stays.
func worth(files []Ranked) []Ranked {
	used := func(r Ranked) float64 { return min(.9, .2+r.P) }
	var unused float64
	for _, r := range files {
		unused += 1 - used(r)
	}
	q := 1.0
	if unused > 5 {
		q = 5 / unused
	}
	var out []Ranked
	for _, r := range files {
		edit := .15 * r.P
		if r.Edit > 0 {
			edit = .6 * r.P
		}
		if len(out) == 0 || len(out) < maxFiles && (r.P+edit)/1.5 >= .6*q*(1-used(r)) {
			out = append(out, r)
		}
	}
	return out
}

// nearness says for each folder how recently a file in it was opened: 1/(1+k),
// k the best rank by recency, of the first ten.
func nearness(files []Ranked) map[string]float64 {
	recent := slices.Clone(files)
	slices.SortFunc(recent, func(a, b Ranked) int {
		if x, y := opened(a.Work), opened(b.Work); x != y {
			return int(y - x)
		}
		return strings.Compare(a.Name, b.Name)
	})
	near := map[string]float64{}
	for k, r := range recent[:min(len(recent), 10)] {
		dir := path.Dir(r.Name)
		near[dir] = max(near[dir], 1/float64(1+k))
	}
	return near
}

// RankSymbols picks the symbols worth naming, likeliest first.
func RankSymbols(works []job.Work, m Moment) []Ranked {
	var all []Ranked
	for i := range works {
		if w := &works[i]; w.Kind == job.WorkSymbol && len(w.Name) >= 6 {
			all = append(all, Ranked{w, 0})
		}
	}
	n := float64(len(all))
	for i := range all {
		w := &all[i]
		p := .008
		if w.In != "" || w.Searches > 0 {
			p = .017
		}
		if w.Edit > 0 {
			p = max(p, rate(m.Action-w.Edit, [5]float64{.27, .12, .08, .04, .04}))
		}
		if w.Search > 0 {
			p = max(p, rate(m.Action-w.Search, [5]float64{.53, .13, .07, .07, .07}))
		}
		w.P = p * math.Pow(180/n, .7) * phase(max(w.Edit, w.Search, w.Read), m)
	}
	order(all)
	least := .64 * min(1, 10/n)
	all = slices.DeleteFunc(all, func(r Ranked) bool { return r.P < least })
	return all[:min(len(all), maxSymbols)]
}

// RankCommands picks the commands worth naming, likeliest first: recent before
// frequent. One without an argument says nothing, and what every session types
// says as little, unless it went wrong. What was said to Duplex stands in the
// entry it made.
func RankCommands(works []job.Work, m Moment) []Ranked {
	var all []Ranked
	for i := range works {
		w := &works[i]
		if w.Kind != job.WorkCommand || !strings.Contains(w.Name, " ") || strings.HasPrefix(w.Name, "-") ||
			(w.Result == job.OK || w.Result == "") && everyday(w.Name) {
			continue
		}
		all = append(all, Ranked{w, 1/(1+float64(m.Action-w.Last)/15) + .25*math.Log2(float64(max(w.Runs, 1)))})
	}
	order(all)
	return all[:min(len(all), maxCommands)]
}

// everyday: commands by which any session finds its way.
func everyday(command string) bool {
	program, _, _ := strings.Cut(command, " ")
	switch path.Base(program) {
	case "git", "ls", "cat", "head", "tail", "cd", "echo", "pwd", "mkdir", "rm", "cp", "mv", "which", "sleep", "wc", "find", "grep", "rg", "sed", "printf", "tree", "test", "duplex":
		return true
	}
	return false
}

// order sorts by value, then by name: never by the order of a map.
func order(list []Ranked) {
	slices.SortFunc(list, func(a, b Ranked) int {
		switch {
		case a.P > b.P:
			return -1
		case a.P < b.P:
			return 1
		case a.Name != b.Name:
			return strings.Compare(a.Name, b.Name)
		}
		return strings.Compare(string(a.Workspace), string(b.Workspace))
	})
}

// neverNeeded: files that every session touches and none is about.
func neverNeeded(file string) bool {
	base := path.Base(file)
	switch strings.ToLower(base) {
	case "go.mod", "go.sum", "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "cargo.toml", "cargo.lock",
		"pyproject.toml", "poetry.lock", "uv.lock", "requirements.txt", "gemfile", "gemfile.lock", "composer.json", "composer.lock",
		"claude.md", "agents.md", "gemini.md", ".cursorrules", ".gitignore":
		return true
	}
	return strings.HasPrefix(strings.ToLower(base), "readme") || strings.Contains(file, "node_modules/") || strings.Contains(file, "site-packages/")
}
