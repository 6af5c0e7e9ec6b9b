package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// licenceFile is checked in: `duplex version --licenses` prints it, and a change of what is linked shows in
// the commit that makes it.
const licenceFile = "LICENSES.txt"

const licenceHead = `What is linked into duplex, besides its own code (Apache-2.0), and on which terms.
Written by: go run ./internal/suite --write-licences licences
`

// linked is one module in the binary.
type linked struct {
	name, version string
	licences      []string // SPDX identifiers
	texts         []string // of its licence files, by file name
}

// licences compares LICENSES.txt with what the program links on every system. Only permissive licences and
// MPL-2.0 are accepted.
func licences(ctx context.Context, s *suite) error {
	modules, err := linkedModules(ctx, s)
	if err != nil {
		return err
	}
	var wrong []error
	for _, m := range modules {
		if err := acceptable(m); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	file := filepath.Join(s.root, licenceFile)
	want := licenceList(modules)
	if s.write {
		return os.WriteFile(file, want, 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !bytes.Equal(have, want) {
		return errors.New(licenceFile + " does not say what is linked: run go run ./internal/suite --write-licences licences, and look at the difference")
	}
	return nil
}

// linkedModules asks what ./cmd/duplex links on each system, and reads the licences from the module cache.
func linkedModules(ctx context.Context, s *suite) ([]linked, error) {
	type module struct{ Path, Version, Dir string }
	dirs := map[module]bool{}
	for _, target := range targets {
		variables := []string{"GOOS=" + target[0], "GOARCH=" + target[1], "CGO_ENABLED=0"}
		listed, err := s.output(ctx, variables, "go", "list", "-deps", "-json=Module,Standard", "./cmd/duplex")
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(strings.NewReader(listed))
		for {
			var p struct {
				Standard bool
				Module   *struct {
					module
					Main bool
				}
			}
			if err := decoder.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read what is linked: %w", err)
			}
			if p.Module != nil && !p.Module.Main {
				dirs[p.Module.module] = true
			}
		}
	}
	goRoot, err := s.output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	dirs[module{Path: "Go standard library", Dir: strings.TrimSpace(goRoot)}] = true

	var all []linked
	for m := range dirs {
		l, err := readLicences(m.Dir)
		if err != nil {
			return nil, fmt.Errorf("licence of %s %s: %w", m.Path, m.Version, err)
		}
		l.name, l.version = m.Path, m.Version
		all = append(all, l)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all, nil
}

func readLicences(folder string) (linked, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return linked{}, err
	}
	var l linked
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return linked{}, err
		}
		l.texts = append(l.texts, strings.ReplaceAll(string(text), "\r\n", "\n"))
		for _, id := range identify(string(text)) {
			if !slices.Contains(l.licences, id) {
				l.licences = append(l.licences, id)
			}
		}
	}
	sort.Strings(l.licences)
	return l, nil
}

// marks are sentences that only one licence has. Text is compared in lower case with single spaces.
var marks = []struct{ id, sentence string }{
	{"AGPL", "gnu affero general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"GPL", "gnu general public license"},
	{"SSPL", "server side public license"},
	{"BUSL", "business source license"},
	{"Apache-2.0", "apache license version 2.0"},
	{"Apache-2.0", "licensed under the apache license, version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"blessing", "may you do good and not evil"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"Zlib", "altered source versions must be plainly marked as such"},
}

var permissive = []string{"Apache-2.0", "MPL-2.0", "MIT", "ISC", "BSD-3-Clause", "BSD-2-Clause", "Unlicense", "blessing", "CC0-1.0", "Zlib"}

// identify names the licences whose sentences stand in a text. MPL-2.0 names the GNU licences as ones that
// it may be combined with, which makes it none of them.
func identify(text string) []string {
	plain := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	var ids []string
	for _, mark := range marks {
		if strings.Contains(plain, mark.sentence) && !slices.Contains(ids, mark.id) {
			ids = append(ids, mark.id)
		}
	}
	if slices.Contains(ids, "MPL-2.0") {
		ids = slices.DeleteFunc(ids, func(id string) bool { return strings.HasSuffix(id, "GPL") })
	}
	if slices.Contains(ids, "BSD-3-Clause") {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == "BSD-2-Clause" })
	}
	return ids
}

func acceptable(m linked) error {
	if len(m.licences) == 0 {
		return fmt.Errorf("%s %s: no licence was recognised: do not link it, or teach licences.go to read it", m.name, m.version)
	}
	for _, id := range m.licences {
		if !slices.Contains(permissive, id) {
			return fmt.Errorf("%s %s: %s is neither permissive nor MPL-2.0: do not link it", m.name, m.version, id)
		}
	}
	return nil
}

// licenceList is the file: who and on which terms at the top, the texts that the terms ask to pass on below.
func licenceList(modules []linked) []byte {
	var b bytes.Buffer
	b.WriteString(licenceHead + "\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "%-42s %-40s %s\n", m.name, m.version, strings.Join(m.licences, ", "))
	}
	for _, m := range modules {
		title := strings.TrimSpace(m.name + " " + m.version)
		fmt.Fprintf(&b, "\n\n%s\n%s\n", title, strings.Repeat("=", len(title)))
		for _, text := range m.texts {
			b.WriteString("\n")
			for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
				b.WriteString(strings.TrimRight(line, " \t\n") + "\n")
			}
		}
	}
	return b.Bytes()
}
