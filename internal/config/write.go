package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Set writes one setting into a settings file, which it makes when there is none. Comments, order and every
// other line stay as they are. The value is text as for a flag; one that the setting does not take is an
// error, and the file stays as it was.
func Set(file, key, value string) error {
	s, err := named(settings(), key)
	if err != nil {
		return err
	}
	if err := s.set(&Config{}, value); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // a settings file is often a link into a folder of such files
	}
	mode := fs.FileMode(0o644)
	before, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("write settings: %w", err)
		}
	case err != nil:
		return fmt.Errorf("write settings: %w", err)
	default:
		if info, err := os.Stat(file); err == nil {
			mode = info.Mode().Perm()
		}
	}
	after, err := edit(string(before), key, literal(key, value))
	if err != nil {
		return fmt.Errorf("%s:%w", file, err)
	}
	return replace(file, []byte(after), mode)
}

// literal is a value as TOML writes it. Numbers and truths go without quotes, a list as one.
func literal(key, value string) string {
	c := Config{}
	s, _ := named(settings(), key)
	_ = s.set(&c, value) // Set has seen that it can be read
	switch key {
	case "brief.tokens", "safepoint.keep", "safepoint.capture-ignored", "nudge", "handover":
		return s.show(&c)
	case "redact.known-files":
		var quoted []string
		for _, path := range c.RedactKnownFiles {
			quoted = append(quoted, quote(path))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return quote(value)
}

// quote makes a TOML text. TOML has every escape that Go's quoting of ASCII uses but \x and \a and \v.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// edit puts a value into a TOML text: over the one there is, else at the end of its table, else as a dotted
// key above the first table. It reads the result back and gives up when anything but this key has changed.
func edit(text, key, value string) (string, error) {
	before, err := values(text)
	if err != nil {
		return "", err
	}
	for _, e := range outline(text).entries {
		if strings.HasPrefix(key, e.key+".") {
			return "", fmt.Errorf("%d: %s is written in braces: edit the file by hand to set %s", e.line, e.key, key)
		}
	}
	after := splice(text, key, value)
	now, err := values(after)
	if err != nil {
		return "", fmt.Errorf("1: %s cannot be set here without changing other lines: edit the file by hand", key)
	}
	delete(before, key)
	delete(now, key)
	if !maps.Equal(before, now) {
		return "", fmt.Errorf("1: %s cannot be set here without changing other settings: edit the file by hand", key)
	}
	return after, nil
}

func splice(text, key, value string) string {
	found := outline(text)
	for _, e := range found.entries {
		if e.key == key {
			return text[:e.start] + value + text[e.end:]
		}
	}
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	for _, t := range found.tables {
		if last, inside := strings.CutPrefix(key, t.name+"."); inside {
			return insert(text, t.end, last+" = "+value, newline)
		}
	}
	line := key + " = " + value
	if len(found.tables) == 0 {
		return insert(text, len(text), line, newline)
	}
	first := found.tables[0].start
	end := 0
	for _, e := range found.entries {
		if e.start < first {
			end = e.end + strings.IndexByte(text[e.end:]+"\n", '\n') + 1
		}
	}
	if end == 0 { // nothing above the table: the comment that explains it stays with it
		return line + newline + newline + text
	}
	return insert(text, min(end, len(text)), line, newline)
}

func insert(text string, at int, line, newline string) string {
	if at > 0 && text[at-1] != '\n' {
		line = newline + line
	}
	return text[:at] + line + newline + text[at:]
}

func values(text string) (map[string]string, error) {
	all, err := parse(text)
	if err != nil {
		return nil, err
	}
	byKey := map[string]string{}
	for _, f := range all {
		if !f.empty {
			byKey[f.key] = f.text
		}
	}
	return byKey, nil
}

// replace puts a file in the place of another in one step, so that a hook never reads half of it.
func replace(file string, content []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*"+strconv.Itoa(os.Getpid()))
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}
