package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// What was set up is remembered in the state folder, with no word of anybody else's:
// paths, digests, and our own text.

// recordFile is its name there.
const recordFile = "setup.json"

type record struct {
	Setups []Setup `json:"setups"`
}

// Setups lists what is remembered, in the order it was set up.
func (h Home) Setups() ([]Setup, error) {
	path := filepath.Join(h.State, recordFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was set up: %w", err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): move it away; what is set up is then found by looking for it", path, err)
	}
	return r.Setups, nil
}

// recorded is the memory of one place.
func (h Home) recorded(kind Kind, path string) (Setup, bool, error) {
	all, err := h.Setups()
	i := slices.IndexFunc(all, func(s Setup) bool { return s.at(kind, path) })
	if err != nil || i < 0 {
		return Setup{}, false, err
	}
	return all[i], true, nil
}

func (s Setup) at(kind Kind, path string) bool {
	return s.Agent == claude && s.Kind == kind && s.Path == path
}

func (h Home) remember(s Setup) error {
	return h.rewrite(func(all []Setup) []Setup {
		if i := slices.IndexFunc(all, func(o Setup) bool { return o.at(s.Kind, s.Path) }); i >= 0 {
			all[i] = s
			return all
		}
		return append(all, s)
	})
}

func (h Home) forget(s Setup) error {
	return h.rewrite(func(all []Setup) []Setup {
		return slices.DeleteFunc(all, func(o Setup) bool { return o.at(s.Kind, s.Path) })
	})
}

func (h Home) rewrite(with func([]Setup) []Setup) error {
	all, err := h.Setups()
	if err != nil {
		return err
	}
	had := len(all) > 0
	all = with(all)
	path := filepath.Join(h.State, recordFile)
	if len(all) == 0 {
		if !had {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		_ = os.Remove(h.State) // when there is no store in it
		return nil
	}
	text, err := json.MarshalIndent(record{all}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.State, 0o700); err != nil {
		return err
	}
	return replace(path, append(text, '\n'), 0o600)
}
