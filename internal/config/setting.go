package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one thing that can be chosen. Values are text in every source, so that a flag, a variable and a
// file mean the same by the same word.
type setting struct {
	key, initial, about string
	set                 func(*Config, string) error
	show                func(*Config) string
}

// settings is the whole list: a new setting is a field of Config and a row here.
func settings() []setting {
	return []setting{
		of("auto", "on", "what becomes of a session that has no job: on (carried), ask, off",
			func(c *Config) *string { return &c.Auto }, oneOf("on", "ask", "off"), asIs),
		of("nudge", "0.70", "fill level at which an agent is asked to record decisions and open items",
			func(c *Config) *float64 { return &c.Nudge }, level, showLevel),
		of("handover", "0.85", "fill level at which Duplex hands over",
			func(c *Config) *float64 { return &c.Handover }, level, showLevel),
		of("brief.tokens", "2000", "size of a brief, in tokens of four bytes",
			func(c *Config) *int { return &c.BriefTokens }, count(200, 100_000), strconv.Itoa),
		of("on-crash", "back", "after a crash of a driven session: back (to the last safe point), keep, ask",
			func(c *Config) *string { return &c.OnCrash }, oneOf("back", "keep", "ask"), asIs),
		of("safepoint.keep", "50", "safe points kept of a job",
			func(c *Config) *int { return &c.SafepointKeep }, count(1, 1_000_000), strconv.Itoa),
		of("safepoint.capture-ignored", "false", "whether safe points hold files that git ignores",
			func(c *Config) *bool { return &c.SafepointCaptureIgnored }, truth, strconv.FormatBool),
		of("quota", "5GB", "size of all state above which Duplex warns and names the largest job",
			func(c *Config) *int64 { return &c.Quota }, size, showSize),
		of("prices", "", "file with prices of your own, over the built-in ones",
			func(c *Config) *string { return &c.Prices }, anything, asIs),
		of("lease.heartbeat", "10s", "how often a driven session renews its lease",
			func(c *Config) *time.Duration { return &c.LeaseHeartbeat }, duration, time.Duration.String),
		of("lease.length", "45s", "how long the lease of a driven session lasts",
			func(c *Config) *time.Duration { return &c.LeaseLength }, duration, time.Duration.String),
		of("lease.remote", "30m", "how long the lease of an observed session holds for another machine",
			func(c *Config) *time.Duration { return &c.LeaseRemote }, duration, time.Duration.String),
		of("redact.known-files", "", "files whose values are credentials: never kept or shown",
			func(c *Config) *[]string { return &c.RedactKnownFiles }, list, showList),
	}
}

// of makes a setting out of the field that holds it and the two ways between its value and text.
func of[T any](key, initial, about string, field func(*Config) *T, read func(string) (T, error), show func(T) string) setting {
	return setting{
		key: key, initial: initial, about: about,
		set: func(c *Config, text string) error {
			value, err := read(text)
			if err == nil {
				*field(c) = value
			}
			return err
		},
		show: func(c *Config) string { return show(*field(c)) },
	}
}

func anything(text string) (string, error) { return text, nil }
func asIs(text string) string              { return text }

func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
		}
		return text, nil
	}
}

// level is a share of a context: 0.7 or 70%.
func level(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value > 0 && value <= 1) {
		return 0, fmt.Errorf("%q is not a level above 0 and up to 1, like 0.7 or 70%%", text)
	}
	return value, nil
}

func showLevel(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func count(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		value, err := strconv.Atoi(text)
		if err != nil || value < least || value > most {
			return 0, fmt.Errorf("%q is not a whole number from %d to %d", text, least, most)
		}
		return value, nil
	}
}

func truth(text string) (bool, error) {
	switch text {
	case "true", "on", "yes", "1":
		return true, nil
	case "false", "off", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

func duration(text string) (time.Duration, error) {
	value, err := time.ParseDuration(text)
	if err != nil || value <= 0 {
		return 0, fmt.Errorf("%q is not a time like 45s or 30m", text)
	}
	return value, nil
}

// units of a size, decimal as disks are sold.
var units = []struct {
	name  string
	bytes int64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

func size(text string) (int64, error) {
	for _, unit := range units {
		number, found := strings.CutSuffix(strings.ToUpper(strings.ReplaceAll(text, " ", "")), unit.name)
		if !found {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		if err == nil && value > 0 && value*float64(unit.bytes) < 1e18 {
			return int64(value * float64(unit.bytes)), nil
		}
		break
	}
	return 0, fmt.Errorf("%q is not a size like 500MB or 5GB", text)
}

func showSize(bytes int64) string {
	for _, unit := range units {
		if bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}

// list is paths in one text, put together as in PATH.
func list(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	paths := strings.Split(text, string(os.PathListSeparator))
	if slices.Contains(paths, "") {
		return nil, errors.New("the list has an empty path")
	}
	return paths, nil
}

func showList(paths []string) string { return strings.Join(paths, string(os.PathListSeparator)) }
