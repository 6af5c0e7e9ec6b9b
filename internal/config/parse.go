package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// found is one value of a file.
type found struct {
	key   string
	text  string
	line  int
	empty bool // a table with nothing in it
}

// parse reads a settings file. The TOML library says what the values are and whether the file is right;
// outline says on which line each stands, which the library does not tell. An error begins with its line.
func parse(text string) ([]found, error) {
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%d: %s", at.Position.Line, at.Message)
		}
		return nil, fmt.Errorf("1: %w", err)
	}
	values := map[string]any{}
	flatten("", tree, values)
	where := outline(text)
	places := where.entries
	for _, t := range where.tables { // an empty one, or one of a list of tables
		places = append(places, entry{key: t.name, line: t.line})
	}
	var all []found
	for _, place := range append(places, entry{line: 1}) { // what was spelled in a way outline cannot follow
		for _, key := range sorted(values) {
			if place.key != "" && key != place.key && !strings.HasPrefix(key, place.key+".") { // the latter in an inline table
				continue
			}
			value, err := asText(values[key])
			if err != nil {
				return nil, fmt.Errorf("%d: %s: %w", place.line, key, err)
			}
			_, empty := values[key].(map[string]any)
			all = append(all, found{key, value, place.line, empty})
			delete(values, key)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.line - b.line })
	return all, nil
}

func flatten(prefix string, tree map[string]any, into map[string]any) {
	for key, value := range tree {
		if below, ok := value.(map[string]any); ok && len(below) > 0 {
			flatten(prefix+key+".", below, into)
			continue
		}
		into[prefix+key] = value
	}
}

func asText(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case map[string]any:
		return "", nil // flatten leaves only empty ones
	case bool:
		return strconv.FormatBool(value), nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), nil
	case []any:
		var parts []string
		for _, element := range value {
			part, ok := element.(string)
			if !ok || part == "" || strings.ContainsRune(part, os.PathListSeparator) {
				return "", fmt.Errorf("a list holds texts, none empty or with %q in it", os.PathListSeparator)
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, string(os.PathListSeparator)), nil
	}
	return "", errors.New("give it a text, a number, true, false or a list of texts")
}
