package main

import (
	"slices"
	"strings"
	"testing"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	const bsd2 = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"MIT, wrapped", "Permission is hereby granted, free of charge, to any\n  person obtaining a copy of this software", []string{"MIT"}},
		{"Apache", "Apache License\n   Version 2.0, January 2004", []string{"Apache-2.0"}},
		{"BSD, two clauses", bsd2, []string{"BSD-2-Clause"}},
		{"BSD, three clauses", bsd2 + " Neither the name of X may be used to endorse or promote products derived from", []string{"BSD-3-Clause"}},
		{"several in one file", bsd2 + "\n---\nLicensed under the Apache License, Version 2.0", []string{"Apache-2.0", "BSD-2-Clause"}},
		{"MPL names GPL as compatible", "Mozilla Public License Version 2.0\n the GNU General Public License, Version 2.0, the GNU Lesser General Public License", []string{"MPL-2.0"}},
		{"GPL", "GNU GENERAL PUBLIC LICENSE\nVersion 3", []string{"GPL"}},
		{"AGPL", "GNU AFFERO GENERAL PUBLIC LICENSE", []string{"AGPL"}},
		{"nothing known", "All rights reserved.", nil},
	}
	for _, test := range tests {
		if got := identify(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestAcceptable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		licences []string
		want     string // what the error says; none when empty
	}{
		{[]string{"MIT"}, ""},
		{[]string{"Apache-2.0", "MPL-2.0"}, ""},
		{[]string{"MIT", "GPL"}, "GPL is neither"},
		{[]string{"BUSL"}, "BUSL is neither"},
		{nil, "no licence was recognised"},
	}
	for _, test := range tests {
		err := acceptable(linked{name: "example.com/x", licences: test.licences})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: got %v, want %q", test.licences, err, test.want)
		}
	}
}

func TestReadLicences(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "LICENSE", "ISC\r\n\r\nPermission to use, copy, modify, and distribute this software for any purpose with or without fee\r\n")
	write(t, folder, "COPYING.txt", "Apache License\nVersion 2.0\n")
	write(t, folder, "README", "GNU General Public License")
	l, err := readLicences(folder)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Apache-2.0", "ISC"}; !slices.Equal(l.licences, want) {
		t.Errorf("got %v, want %v", l.licences, want)
	}
	l.name, l.version = "example.com/x", "v1.2.3"
	list := string(licenceList([]linked{l}))
	for _, want := range []string{"example.com/x", "v1.2.3", "Apache-2.0, ISC\n", "with or without fee\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q:\n%s", want, list)
		}
	}
	if strings.Contains(list, "\r") {
		t.Error("the list has line ends of two kinds")
	}
}
