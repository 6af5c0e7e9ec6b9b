// Package config knows the settings a person can choose, where each value came from, and where Duplex keeps
// its state. It is read once, by the command that runs; inner packages are handed the few values they need.
// It is not a place for state that Duplex writes for itself.
//
// Every hook loads it, so that with no file to read it costs a few file look-ups and nothing else.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Config is every setting with its value in force.
type Config struct {
	Auto                    string        // what becomes of a session that has no job: on, ask, off
	Nudge                   float64       // fill level at which an agent is asked to record its decisions
	Handover                float64       // fill level at which Duplex hands over
	BriefTokens             int           // size of a brief, in tokens of four bytes
	OnCrash                 string        // what a driven job does after a crash: back, keep, ask
	SafepointKeep           int           // safe points kept of a job
	SafepointCaptureIgnored bool          // files that git ignores are in safe points
	Quota                   int64         // bytes of state above which Duplex warns
	Prices                  string        // file with prices of one's own; none when empty
	LeaseHeartbeat          time.Duration // how often a driven session renews its lease
	LeaseLength             time.Duration // how long a driven session's lease lasts
	LeaseRemote             time.Duration // how long an observed session's lease holds for another machine
	RedactKnownFiles        []string      // files whose values are never shown or kept

	origins map[string]Origin
}

// Origin says where a value came from.
type Origin struct {
	Kind string // default, flag, environment, file
	Name string // the flag, the variable, or the file
	Line int    // in the file
}

// String is the origin as a person reads it.
func (o Origin) String() string {
	switch o.Kind {
	case "flag", "environment":
		return o.Name
	case "file":
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return "default"
}

// Value is one setting as `duplex config` shows it.
type Value struct {
	Key    string // as in a file: brief.tokens
	Value  string
	Origin Origin
	About  string // one line on what it does
}

// Sources says where to look, the strongest first. The zero value gives the defaults.
type Sources struct {
	Flags    map[string]string   // by key: what the command line says
	Getenv   func(string) string // DUPLEX_BRIEF_TOKENS is brief.tokens
	Folder   string              // the work tree, or a folder in it: .duplex.local.toml, then .duplex.toml
	UserFile string              // as UserFile gives it
}

// The files of a work tree. The local one is a person's own and is not committed.
const (
	LocalFile   = ".duplex.local.toml"
	ProjectFile = ".duplex.toml"
)

// Load reads the settings. With an error the Config still holds every value that could be read, and the
// default for the rest: a hook goes on with it and leaves the error to a command.
func Load(from Sources) (Config, error) {
	all := settings()
	c := Config{origins: map[string]Origin{}}
	var wrong []error
	for _, s := range all {
		if err := s.set(&c, s.initial); err != nil {
			return c, fmt.Errorf("default of %s: %w", s.key, err)
		}
	}
	for _, file := range from.files() {
		wrong = append(wrong, c.readFile(file, all))
	}
	if from.Getenv != nil {
		for _, s := range all {
			name := variable(s.key)
			if text := from.Getenv(name); text != "" {
				wrong = append(wrong, c.put(s, text, Origin{Kind: "environment", Name: name}))
			}
		}
	}
	for _, key := range sorted(from.Flags) {
		s, err := named(all, key)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--%s: %w", key, err))
			continue
		}
		wrong = append(wrong, c.put(s, from.Flags[key], Origin{Kind: "flag", Name: "--" + key}))
	}
	wrong = append(wrong, c.disagreements()...)
	return c, errors.Join(wrong...)
}

// put takes a value over weaker ones. A value that cannot be read leaves the weaker one in force.
func (c *Config) put(s setting, text string, from Origin) error {
	if err := s.set(c, text); err != nil {
		return fmt.Errorf("%s: %s: %w", from, s.key, err)
	}
	c.origins[s.key] = from
	return nil
}

// disagreements are values that are right by themselves and wrong together.
func (c *Config) disagreements() []error {
	var wrong []error
	if c.Nudge > c.Handover {
		wrong = append(wrong, fmt.Errorf("nudge %v (%s) is above handover %v (%s): an agent would be handed over before it is asked to record anything",
			c.Nudge, c.origins["nudge"], c.Handover, c.origins["handover"]))
	}
	if c.LeaseLength < 2*c.LeaseHeartbeat {
		wrong = append(wrong, fmt.Errorf("lease.length %v (%s) is less than two of lease.heartbeat %v (%s): one late heartbeat would lose the lease",
			c.LeaseLength, c.origins["lease.length"], c.LeaseHeartbeat, c.origins["lease.heartbeat"]))
	}
	return wrong
}

// All lists every setting in the order in which the documentation explains them.
func (c Config) All() []Value {
	var values []Value
	for _, s := range settings() {
		origin, found := c.origins[s.key]
		if !found {
			origin.Kind = "default"
		}
		values = append(values, Value{s.key, s.show(&c), origin, s.about})
	}
	return values
}

// Get is one setting. An unknown key is an error that names the nearest one.
func (c Config) Get(key string) (Value, error) {
	values := c.All()
	i := slices.IndexFunc(values, func(v Value) bool { return v.Key == key })
	if i < 0 {
		_, err := named(settings(), key)
		return Value{}, err
	}
	return values[i], nil
}

// files lists the files to read, the weakest first.
func (from Sources) files() []string {
	var files []string
	if from.UserFile != "" {
		files = append(files, from.UserFile)
	}
	if folder := projectFolder(from.Folder); folder != "" {
		files = append(files, filepath.Join(folder, ProjectFile), filepath.Join(folder, LocalFile))
	}
	return files
}

// projectFolder goes up from a folder to the first that has a settings file, and no further than the top of
// the work tree: what lies above is not this project's.
func projectFolder(folder string) string {
	for folder != "" {
		for _, name := range []string{".git", ProjectFile, LocalFile} {
			if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
				return folder
			}
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
	return ""
}

func (c *Config) readFile(file string, all []setting) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	found, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s:%w", file, err)
	}
	var wrong []error
	for _, f := range found {
		if f.empty && slices.ContainsFunc(all, func(s setting) bool { return strings.HasPrefix(s.key, f.key+".") }) {
			continue
		}
		s, err := named(all, f.key)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", file, f.line, err))
			continue
		}
		if s.key == "prices" && f.text != "" && !filepath.IsAbs(f.text) {
			f.text = filepath.Join(filepath.Dir(file), f.text) // a file names its neighbours
		}
		wrong = append(wrong, c.put(s, f.text, Origin{Kind: "file", Name: file, Line: f.line}))
	}
	return errors.Join(wrong...)
}

// named finds a setting by its key, or says which one was probably meant.
func named(all []setting, key string) (setting, error) {
	nearest := setting{}
	best := 1 + len(key)/2 // further away than this is no help
	for _, s := range all {
		if s.key == key {
			return s, nil
		}
		if d := distance(key, s.key); d < best {
			nearest, best = s, d
		}
	}
	if nearest.key == "" {
		return setting{}, fmt.Errorf("no setting is called %q: duplex config lists them", key)
	}
	return setting{}, fmt.Errorf("no setting is called %q: did you mean %s?", key, nearest.key)
}

// distance counts the letters to add, take away or change to make one word of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// variable is the name of a setting in the environment.
func variable(key string) string {
	return "DUPLEX_" + strings.Map(func(r rune) rune {
		if r == '.' || r == '-' {
			return '_'
		}
		return unicode.ToUpper(r)
	}, key)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cmp.Compare)
	return keys
}
