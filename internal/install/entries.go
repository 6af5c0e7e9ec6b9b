package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Entries are our hooks in a settings file of Claude Code:
//
//	"hooks": { EVENT: [ { "matcher": …, "hooks": [ { "type": "command", "command": LINE } ] } ] }

// ErrUnfit is a file that an agent would not take hooks from as it stands.
var ErrUnfit = errors.New("the agent would not read hooks from it")

// entry is one hook found in a file, with the places that hold it.
type entry struct {
	event          string
	command        *node // its line, in quotes
	line           string
	matcher        string
	groups, hooks  *node // the arrays
	member         int   // which event in the file's hooks
	inGroups, here int   // which of each array
}

// everyTool reports whether an entry is called for every tool.
func (e entry) everyTool() bool { return e.matcher == "" || e.matcher == "*" }

// find gives the value of a key: of two with one name the last, as agents read them.
func find(in *node, key string) *node {
	if i := last(in, key); i >= 0 {
		return in.members[i].value
	}
	return nil
}

func last(in *node, key string) int {
	if in == nil {
		return -1
	}
	i := len(in.members) - 1
	for i >= 0 && in.members[i].key != key {
		i--
	}
	return i
}

// textOf is a value that is a text; empty otherwise.
func (d *document) textOf(n *node) string {
	if n == nil || n.open != '"' {
		return ""
	}
	s, err := unquote(d.text[n.from:n.to])
	if err != nil {
		return ""
	}
	return s
}

// entries lists the command hooks of a file, passing over what has another shape.
func (d *document) entries() []entry {
	var found []entry
	hooks := find(d.root, "hooks")
	if hooks == nil {
		return nil
	}
	for n, m := range hooks.members {
		for i, g := range m.value.items {
			list := find(g, "hooks")
			if list == nil {
				continue
			}
			for j, h := range list.items {
				if c := find(h, "command"); c != nil {
					found = append(found, entry{m.key, c, d.textOf(c), d.textOf(find(g, "matcher")), m.value, list, n, i, j})
				}
			}
		}
	}
	return found
}

// fit is an error when the agent would refuse the file, or read hooks elsewhere in it
// than where we would put them. Claude Code loads nothing at all of a file with a
// comment, a comma too many, or a hook of another shape.
func (d *document) fit() error {
	if err := d.strict(); err != nil {
		return fmt.Errorf("%w: %w, and Claude Code loads nothing of such a file", ErrUnfit, err)
	}
	if d.root == nil {
		return nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(d.text[d.root.from:d.root.to], &whole); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			err = d.wrongAt(d.root.from+int(at.Offset)-1, "%v", at)
		}
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	if d.root.open != '{' {
		return fmt.Errorf("%w: settings are an object, and this is none", ErrUnfit)
	}
	hooks := find(d.root, "hooks")
	if hooks == nil {
		return nil
	}
	if hooks.open != '{' {
		return fmt.Errorf(`%w: %w`, ErrUnfit, d.wrongAt(hooks.from, `"hooks" is no object`))
	}
	if err := d.once(d.root, "hooks"); err != nil {
		return err
	}
	for _, m := range hooks.members {
		if err := d.once(hooks, m.key); err != nil {
			return err
		}
		if m.value.open != '[' {
			return fmt.Errorf(`%w: %w`, ErrUnfit, d.wrongAt(m.value.from, "%q is no list", m.key))
		}
		for _, g := range m.value.items {
			if list := find(g, "hooks"); list == nil || list.open != '[' {
				return fmt.Errorf(`%w: %w`, ErrUnfit, d.wrongAt(g.from, "an entry of %q without a list of hooks", m.key))
			}
		}
	}
	return nil
}

func (d *document) once(in *node, key string) error {
	seen := 0
	for _, m := range in.members {
		if m.key != key {
			continue
		}
		if seen++; seen > 1 {
			return fmt.Errorf("%w: %w", ErrUnfit, d.wrongAt(m.from, "%q stands here a second time, and only this one counts", key))
		}
	}
	return nil
}

// withEntries puts one hook of ours under every event that has none, and brings those
// that stand there with another line up to date.
func withEntries(text []byte, line string) ([]byte, []splice, error) {
	var edits []splice
	d, err := parse(text)
	if err == nil {
		err = d.fit()
	}
	if err != nil {
		return nil, nil, err
	}
	edit := func(s splice) error {
		text, edits = s.in(text), append(edits, s)
		d, err = parse(text)
		return err
	}
	heard := map[string]bool{}
	for i, e := range d.entries() {
		if written(e.line, claude) && e.line != line {
			// The line of one entry is another's length; the entries stay as many.
			e = d.entries()[i]
			if err := edit(splice{e.command.from, string(text[e.command.from:e.command.to]), quote(line)}); err != nil {
				return nil, nil, err
			}
		}
		heard[e.event] = heard[e.event] || e.everyTool() && calls(e.line, claude)
	}
	for _, want := range claudeEvents() {
		if heard[want.event] {
			continue
		}
		if err := edit(d.enter(want, line)); err != nil {
			return nil, nil, err
		}
	}
	return text, edits, nil
}

// enter is the edit that adds one event's hook, as deep in the file as it has to reach.
func (d *document) enter(want hooked, line string) splice {
	group := want.entry(line)
	groups := "[" + group + "]"
	if d.root == nil {
		s := d.style()
		return splice{At: d.position, New: "{" + s.newline + s.indent + d.hooks(s.indent, want.event, groups) + s.newline + "}" + s.newline}
	}
	hooks := find(d.root, "hooks")
	if hooks == nil {
		// Its indent is that of the keys beside it.
		indent := d.style().indent
		if n := len(d.root.members); n > 0 {
			indent = d.indentOf(d.root.members[n-1].from)
		}
		_, value, _ := strings.Cut(d.hooks(indent, want.event, groups), ": ")
		return d.addMember(d.root, "hooks", value)
	}
	if event := find(hooks, want.event); event != nil {
		return d.addItem(event, group)
	}
	return d.addMember(hooks, want.event, groups)
}

// hooks is the text of our first event, with the container that it is in.
func (d *document) hooks(indent, event, groups string) string {
	s := d.style()
	text := quote(event) + ": " + groups
	if s.lines {
		text = s.newline + indent + s.indent + text + s.newline + indent
	}
	return `"hooks": {` + text + "}"
}

// withoutEntries takes every hook that setup writes out, with what it leaves empty, and
// counts them. had are the containers that stood there before we came: they stay.
func withoutEntries(text []byte, had map[string]bool) ([]byte, int, error) {
	for n := 0; ; n++ {
		d, err := parse(text)
		if err != nil {
			return nil, 0, err
		}
		s, found := d.leave(had)
		if !found {
			return text, n, nil
		}
		text = s.in(text)
	}
}

// leave is the edit that takes one hook of ours out.
func (d *document) leave(had map[string]bool) (splice, bool) {
	for _, e := range d.entries() {
		if !written(e.line, claude) {
			continue
		}
		if len(e.hooks.items) > 1 {
			return d.cutItem(e.hooks, e.here), true
		}
		if len(e.groups.items) > 1 || had["hooks."+e.event] {
			return d.cutItem(e.groups, e.inGroups), true
		}
		if hooks := find(d.root, "hooks"); len(hooks.members) > 1 || had["hooks"] {
			return d.cutMember(hooks, e.member), true
		}
		return d.cutMember(d.root, last(d.root, "hooks")), true
	}
	return splice{}, false
}

func (d *document) cutItem(in *node, i int) splice {
	before := in.from + 1
	if i > 0 {
		before = in.items[i-1].to
	}
	return d.cut(in, in.items[i].from, in.items[i].to, before)
}

func (d *document) cutMember(in *node, i int) splice {
	before := in.from + 1
	if i > 0 {
		before = in.members[i-1].value.to
	}
	return d.cut(in, in.members[i].from, in.members[i].value.to, before)
}

// containers names the places for hooks that a file has.
func (d *document) containers() map[string]bool {
	had := map[string]bool{}
	if hooks := find(d.root, "hooks"); hooks != nil {
		had["hooks"] = true
		for _, m := range hooks.members {
			had["hooks."+m.key] = true
		}
	}
	return had
}

// ours counts the hooks that setup writes.
func (d *document) ours() int {
	n := 0
	for _, e := range d.entries() {
		if written(e.line, claude) {
			n++
		}
	}
	return n
}
