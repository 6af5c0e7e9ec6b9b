package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// page is what a command prints: lines gathered, redacted as one, written once.
type page struct {
	a   *App
	buf bytes.Buffer
}

func (a *App) page() *page { return &page{a: a} }

// line adds one line.
func (p *page) line(format string, args ...any) {
	fmt.Fprintf(&p.buf, format, args...)
	p.buf.WriteByte('\n')
}

// fact adds a line of two columns: a name, and what is.
func (p *page) fact(name, format string, args ...any) {
	p.line("  %s%s", pad(name, 12), fmt.Sprintf(format, args...))
}

// flush writes the page through the funnel.
func (p *page) flush() error {
	_, err := p.a.Out.Write([]byte(p.a.clean(p.buf.String())))
	p.buf.Reset()
	return err
}

// clean is the funnel for everything shown. Escape sequences that did not come
// from us are dropped: a transcript must not drive a terminal.
func (a *App) clean(s string) string {
	r := redact.New(nil, nil)
	if a.tracker != nil {
		r = a.tracker.Redact()
	}
	return a.tamed(r.Text(s).String())
}

// tamed is a text for the terminal with no escape sequence but those of paint.
func (a *App) tamed(s string) string {
	if !a.OutTerminal {
		return tame(s)
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); i++ {
		n := ownSequence(s[i:])
		if n == 0 {
			continue
		}
		b.WriteString(tame(s[from:i]))
		b.WriteString(s[i : i+n])
		from, i = i+n, i+n-1
	}
	b.WriteString(tame(s[from:]))
	return b.String()
}

// ownSequence is the length of the escape sequence of paint that s begins with.
func ownSequence(s string) int {
	rest, found := strings.CutPrefix(s, "\x1b[")
	if !found {
		return 0
	}
	for _, code := range []string{reset, bold, dim, colourAsk, colourFail, colourOK} {
		if strings.HasPrefix(rest, code+"m") {
			return len("\x1b[") + len(code) + len("m")
		}
	}
	return 0
}

// fileName is a path as it is shown: one with line ends or other control
// characters in its name is quoted.
func fileName(path string) string {
	if strings.IndexFunc(path, unicode.IsControl) >= 0 {
		return strconv.Quote(path)
	}
	return path
}

func fileNames(paths []string) string {
	shown := make([]string, len(paths))
	for i, path := range paths {
		shown[i] = fileName(path)
	}
	return strings.Join(shown, ", ")
}

// showJSON prints a value as one JSON object whose first field is its schema.
func (a *App) showJSON(schema string, v any) error {
	r := redact.New(nil, nil)
	if a.tracker != nil {
		r = a.tracker.Redact()
	}
	sealed, err := r.JSON(v)
	if err != nil {
		return err
	}
	body := sealed.Bytes()
	if len(body) == 0 || body[0] != '{' {
		return fmt.Errorf("%s is not an object", schema)
	}
	head := fmt.Sprintf("{\"schema\":%q", "duplex."+schema)
	if string(body) != "{}" {
		head += ","
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append([]byte(head), body[1:]...), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = a.Out.Write(out.Bytes())
	return err
}

// listed is a list as JSON should have it: empty, never null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Colours of LOOK, terminal: ANSI, on a terminal only, NO_COLOR obeyed. A colour
// never stands alone: a sign or a word goes with it.
const (
	colourAsk  = "33"
	colourFail = "31"
	colourOK   = "32"
	reset      = "0"
	bold       = "1"
	dim        = "2"
)

func (a *App) paint(colour, s string) string {
	if !a.OutTerminal || a.Getenv("NO_COLOR") != "" || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// pad fills a cell to a width in runes; text that is wider keeps two blanks.
func pad(s string, n int) string {
	w := utf8.RuneCountInString(s)
	if w >= n {
		return s + "  "
	}
	return s + strings.Repeat(" ", n-w)
}

// cut shortens a title to a width in runes, ending in "…". Control characters are
// dropped: what an agent wrote must not drive a terminal.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(tame(s)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}

// when shows a time: hour and minute today, weekday and 24 h within a week, the
// date before that. Local time; the offset stands once, in a page's head.
func (a *App) when(t job.Time) string {
	if t == 0 {
		return "–"
	}
	at, now := t.Time().In(a.zone()), a.Now().In(a.zone())
	switch {
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format("15:04")
	case now.Sub(at) < 6*24*time.Hour && at.Before(now), at.Sub(now) < 6*24*time.Hour && at.After(now):
		return at.Format("Mon 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}

func (a *App) zone() *time.Location { return a.Now().Location() }

// offset is the local zone as a page's head shows it.
func (a *App) offset() string { return a.Now().Format("-07:00") }

// age is how long ago, where waiting matters.
func (a *App) age(t job.Time) string { return span(a.Now().Sub(t.Time())) }

// span shows a duration in its two largest units.
func span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// thousands writes a count with separators: 1,342.
func thousands(n int64) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// tail is the last n lines of a text.
func tail(s string, n int) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return lines[max(len(lines)-n, 0):]
}

func secondsOf(n int64) time.Duration { return time.Duration(n) * time.Second }

// plural is a count with its noun.
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ss"):
		noun += "e"
	}
	return thousands(int64(n)) + " " + noun + "s"
}

// progress shows one changing line on a terminal, and whole lines elsewhere.
type progress struct {
	a    *App
	last time.Time
	open bool
}

func (a *App) progress() *progress { return &progress{a: a} }

// say replaces the line under way.
func (p *progress) say(text string) {
	if p.a.asJSON {
		return
	}
	text = p.a.clean(text)
	if !p.a.ErrTerminal {
		fmt.Fprintln(p.a.Err, text)
		return
	}
	fmt.Fprintf(p.a.Err, "\r\x1b[K%s", cut(text, max(p.a.Width-1, 20)))
	p.open = true
}

// part shows how much of a whole is done, at most ten times a second.
func (p *progress) part(what string, done, total int64) {
	if !p.a.ErrTerminal || p.a.asJSON || time.Since(p.last) < 100*time.Millisecond || total <= 0 {
		return
	}
	p.last = time.Now()
	filled := int(20 * done / total)
	p.say(fmt.Sprintf("%s %s%s %d %%", what, strings.Repeat("▇", filled), strings.Repeat("░", 20-filled), 100*done/total))
}

// end clears the line.
func (p *progress) end() {
	if p.open {
		fmt.Fprint(p.a.Err, "\r\x1b[K")
		p.open = false
	}
}

// knownValues reads the values known to be credentials: those of the files that
// are configured, and of environment variables with credential-like names.
func knownValues(files []string, dir string, environ []string) ([]string, error) {
	var out []string
	for _, f := range files {
		if !strings.HasPrefix(f, "/") {
			f = dir + "/" + f
		}
		b, err := os.ReadFile(f)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read known credentials: %w", err)
		}
		out = append(out, redact.KnownValues(strings.Split(string(b), "\n"))...)
	}
	return append(out, redact.KnownValues(environ)...), nil
}

// interrupted is the error of a command whose context has ended: whatever went
// wrong then went wrong because of that.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	return err
}
