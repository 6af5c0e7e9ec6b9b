package script

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// progress is what the model understands when it looks through its context,
// anew for every reply.
type progress struct {
	list    []string // items to work on, in order
	told    []string // of which a brief or a failing command told
	found   bool     // the find command was run since
	at      string   // the item at which it was told to go on
	read    map[string]string
	gone    map[string]bool // could not be read
	done    map[string]bool // written since the list was learned
	failed  map[string]int  // writes that failed
	written int             // items, in the whole context
	last    string          // the newest item written
	// justWrote: what came since its last message is the result of that write.
	justWrote      bool
	verify, commit int // items since the last run of each
	finals         map[string]final
	denied         int // in a row
	denial         string
	did            map[string]int // extras
	newest         string         // what came since its last message
}

// final is the newest run of a final command since the newest item and prompt.
type final struct {
	ran, failed bool
	output      string
}

func (s *Script) look(context []Message) *progress {
	p := &progress{read: map[string]string{}, gone: map[string]bool{}, done: map[string]bool{}, failed: map[string]int{},
		finals: map[string]final{}, did: map[string]int{}}
	uses := map[string]Use{}
	var since []string
	for _, m := range context {
		switch m.Role {
		case Assistant:
			since, p.justWrote = nil, false
			if m.Extra != "" {
				p.did[m.Extra]++
			}
			for _, u := range m.Uses {
				uses[u.ID] = u
			}
		case Tool:
			since = append(since, m.Text)
			s.result(p, uses[m.Of], m)
		default:
			since = append(since, m.Text)
			if m.Role == User {
				p.finals, p.denied = map[string]final{}, 0
			}
			if s.Work != nil {
				s.Work.hear(p, m.Text)
			}
		}
	}
	p.newest = strings.Join(since, "\n")
	return p
}

// result takes in what came of one call.
func (s *Script) result(p *progress, u Use, m Message) {
	if m.Result == Denied {
		p.denied, p.denial = p.denied+1, m.Text
		return
	}
	p.denied = 0
	w, ok := s.Work, m.Result == OK
	if w == nil {
		return
	}
	switch u.Name {
	case Read:
		delete(p.read, u.Input.Path)
		if p.gone[u.Input.Path] = !ok; ok {
			p.read[u.Input.Path] = unnumber(m.Text)
		}
	case Edit, Write:
		item := u.Input.Path
		if !w.is(item) {
			return
		}
		if !ok { // look again before the next try
			delete(p.read, item)
			if p.failed[item]++; p.failed[item] > 2 {
				p.done[item] = true
			}
			return
		}
		p.done[item], p.last, p.justWrote = true, item, true
		p.written, p.verify, p.commit = p.written+1, p.verify+1, p.commit+1
		p.forgetFinals()
	case Bash:
		w.ran(p, u.Input.Command, m)
	}
}

// forgetFinals: after a change the final commands are to be run again.
func (p *progress) forgetFinals() {
	for c, f := range p.finals {
		f.ran = false
		p.finals[c] = f
	}
}

// ran takes in the output of a command, which is known by its text.
func (w *Work) ran(p *progress, command string, m Message) {
	switch {
	case w.Find != "" && command == w.Find:
		if m.Result == OK {
			w.learn(p, w.itemsIn(m.Text))
		}
		p.found = true
	case w.Verify != nil && command == w.Verify.fill(p):
		p.verify = 0
	case w.Commit != nil && command == w.Commit.fill(p):
		p.commit = 0
	case slices.Contains(w.Final, command):
		f := final{ran: true, failed: m.Result != OK, output: m.Text}
		if items := w.itemsIn(m.Text); f.failed && len(items) > 0 && p.finals[command].output != m.Text {
			p.start(items)
			p.found = true
		}
		p.finals[command] = f
	default:
		w.hear(p, m.Text)
	}
}

// hear looks in a text for what is left, what is done, and where to go on.
func (w *Work) hear(p *progress, text string) {
	if left := w.find(w.left, text); len(left) > 0 {
		p.start(left)
		p.told = left
	}
	for _, item := range w.find(w.done, text) {
		if !slices.Contains(p.told, item) {
			p.done[item] = true
		}
	}
	next := w.find(w.next, text)
	if len(next) == 0 {
		return
	}
	if p.at = next[0]; slices.Contains(p.list, p.at) {
		p.list = append([]string{p.at}, without(p.list, p.at)...)
	}
}

// find lists the items that the first regexp to name some finds in a text.
func (w *Work) find(all []*regexp.Regexp, text string) []string {
	for _, r := range all {
		var items []string
		for _, match := range r.FindAllStringSubmatch(text, -1) {
			for _, item := range w.named(r, match) {
				if !slices.Contains(items, item) {
					items = append(items, item)
				}
			}
		}
		if len(items) > 0 {
			return items
		}
	}
	return nil
}

// start begins a new list: what was done before it counts no more.
func (p *progress) start(items []string) {
	p.list, p.found, p.at = slices.Clone(items), false, ""
	p.read, p.done, p.failed, p.gone = map[string]string{}, map[string]bool{}, map[string]int{}, map[string]bool{}
}

// learn takes the list of all items. The work goes in its order, so what stands
// before the first item that a brief told of is done.
func (w *Work) learn(p *progress, all []string) {
	told := func(item string) bool { return item == p.at || slices.Contains(p.told, item) }
	if i := slices.IndexFunc(all, told); i >= 0 {
		all = all[i:]
	}
	for _, item := range all {
		if !slices.Contains(p.list, item) {
			p.list = append(p.list, item)
		}
	}
}

// itemsIn lists the items a text names, each once.
func (w *Work) itemsIn(text string) []string {
	var out []string
	for _, item := range w.item.FindAllString(text, -1) {
		if item != "" && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// named lists the items in a match: the group "items" (or the first, or all of
// it), names being completed by the folder in the group "dir".
func (w *Work) named(r *regexp.Regexp, match []string) []string {
	text, dir := match[0], ""
	if len(match) > 1 {
		text = match[1]
	}
	if i := r.SubexpIndex("items"); i >= 0 {
		text = match[i]
	}
	if i := r.SubexpIndex("dir"); i >= 0 {
		dir = strings.Trim(strings.TrimSpace(match[i]), "`'\"")
	}
	var out []string
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,;`'\"()[]\t", c) }) {
		word = strings.TrimRight(word, ".:")
		if full := path.Join(dir, word); dir != "" && !strings.HasPrefix(word, dir) && w.is(full) {
			word = full
		}
		if w.is(word) {
			out = append(out, word)
		}
	}
	return out
}

func (w *Work) is(item string) bool { return item != "" && w.item.FindString(item) == item }

// work is the reply without extras: the next step of the list.
func (s *Script) work(p *progress) Reply {
	w := s.Work
	switch {
	case p.denied >= 2:
		return Reply{Text: "I stop here, since I was refused twice: " + clip(p.denial, 300)}
	case w == nil:
		return Reply{Text: s.End}
	case w.Verify != nil && p.verify >= w.Verify.Items:
		return run(w.Verify.fill(p))
	case w.Commit != nil && p.commit >= w.Commit.Items:
		return run(w.Commit.fill(p))
	}
	if reply, ok := w.item1(p); ok {
		return reply
	}
	switch {
	case w.Find != "" && !p.found:
		return run(w.Find)
	case w.Verify != nil && p.verify > 0:
		return run(w.Verify.fill(p))
	case w.Commit != nil && p.commit > 0:
		return run(w.Commit.fill(p))
	}
	for _, command := range w.Final {
		f := p.finals[command]
		if !f.ran {
			return run(command)
		}
		if f.failed {
			return Reply{Text: "This still fails: " + command}
		}
	}
	return Reply{Text: s.End}
}

// item1 is the next call on the first item that is not done.
func (w *Work) item1(p *progress) (Reply, bool) {
	for _, item := range p.list {
		if p.done[item] || p.gone[item] {
			continue
		}
		before, ok := p.read[item]
		if !ok {
			return Reply{Text: "Now " + item + ".", Uses: []Use{{Name: Read, Input: Input{Path: item}}}}, true
		}
		if after := w.rewrite(before); after != before {
			return Reply{Uses: []Use{w.write(item, before, after, p.failed[item] > 0)}}, true
		}
	}
	return Reply{}, false
}

func run(command string) Reply {
	return Reply{Uses: []Use{{Name: Bash, Input: Input{Command: command}}}}
}

func (e *Every) fill(p *progress) string {
	return strings.NewReplacer("{item}", p.last, "{dir}", path.Dir(p.last), "{n}", strconv.Itoa(p.written)).Replace(e.Run)
}

// rewrite is what the model is able to do to an item.
func (w *Work) rewrite(text string) string {
	for _, r := range w.Replace {
		text = r.match.ReplaceAllString(text, r.With)
	}
	return text
}

// write is the call that makes before into after: an Edit of the lines that
// differ, with as many around them as make them the only ones of their kind.
func (w *Work) write(item, before, after string, whole bool) Use {
	if w.Write == "write" || whole {
		return Use{Name: Write, Input: Input{Path: item, Content: after}}
	}
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for {
		old := strings.Join(a[head:len(a)-tail], "")
		if head == 0 && tail == 0 {
			return Use{Name: Write, Input: Input{Path: item, Content: after}}
		}
		if old != "" && strings.Count(before, old) == 1 {
			return Use{Name: Edit, Input: Input{Path: item, Old: old, New: strings.Join(b[head:len(b)-tail], "")}}
		}
		head, tail = max(0, head-1), max(0, tail-1)
	}
}

// unnumber takes the line numbers off the result of a Read.
func unnumber(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if number, rest, ok := strings.Cut(line, "\t"); ok && strings.Trim(number, " 0123456789") == "" {
			line = rest
		}
		out.WriteString(line)
	}
	return out.String()
}

// Numbered is the result of a Read: each line behind its number and a tab.
func Numbered(text string) string {
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		number := strconv.Itoa(n)
		out.WriteString(strings.Repeat(" ", max(0, 6-len(number))) + number + "\t" + line)
	}
	return out.String()
}

func without(list []string, item string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(v string) bool { return v == item })
}
