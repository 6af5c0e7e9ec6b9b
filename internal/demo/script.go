package demo

import "encoding/json"

// The scripts say what the model of each session is good for. It knows only what
// stands in its context: the brief it was given, and what its tools answer.

type object = map[string]any

// work is moving test files, one after the other.
func work() object {
	return object{
		"item": `\w+/\w+_test\.go`,
		"find": "ls */*_test.go",
		"left": []string{`(?m)\bleft in (?P<dir>[^:\n]+): (?P<items>[^\n]+)`},
		"next": []string{`go on in (?P<dir>\S+) with (?P<items>\S+)`},
		"replace": []object{
			{"match": `import \(\n\t"testing"\n\n\t"example.test/shop/expect"\n\)`, "with": `import "testing"`},
			{"match": `\tthat := expect.New\(t\)\n`, "with": "\tfor _, tt := range []struct {\n\t\tname      string\n\t\tgot, want any\n\t}{\n"},
			{"match": `(?m)^\tthat\.Equal\((.*)\)$`, "with": "\t\t{$1},"},
			{"match": `(\t\t\{.*\},\n)\}\n`, "with": "$1\t} {\n\t\tt.Run(tt.name, func(t *testing.T) {\n\t\t\tif tt.got != tt.want {\n\t\t\t\tt.Errorf(\"got %v, want %v\", tt.got, tt.want)\n\t\t\t}\n\t\t})\n\t}\n}\n"},
		},
		"write":  "write",
		"verify": object{"items": 10, "run": "go test ./{dir}"},
		"commit": object{"items": 10, "run": "git add -A && git commit -qm 'tests: {n} more files as table tests'"},
	}
}

// first fills its small context halfway through a folder. On the way it tries what
// leads nowhere, and settles a question.
func first() object {
	return object{"work": work(), "compact": "off", "end": "Every test file is moved.", "extras": []object{
		{"name": "try a rewrite rule", "when": object{"items": 1}, "do": object{"run": `gofmt -r 'that.Equal(a, b, c) -> {a, b, c}' -l calc`, "say": "One rule for all of them would be quicker."}},
		{"name": "dead end", "when": object{"match": `gofmt|parsing`, "items": 1}, "do": object{"run": `duplex deadend "gofmt -r to move all files at once" --why "a composite literal is no expression on its own"`}},
		{"name": "decide", "when": object{"items": 2}, "do": object{"run": `duplex decide "keep every case name as it is" --why "the tests are counted by name" --rejected "names in full sentences"`}},
		{"name": "raise", "when": object{"items": 4}, "do": object{"run": `duplex raise "the expect package must go before the end"`}},
	}}
}

// second is killed in the middle of writing a file.
func second() object {
	return object{"work": work(), "end": "Every test file is moved.", "extras": []object{
		{"name": "crash", "when": object{"writing": `list/sum_test`}, "do": object{"crash": true}},
	}}
}

// third drops two cases of a file and claims that all is done.
func third() object {
	w := work()
	w["final"] = []string{"git rm -rq expect && git commit -qm 'expect: gone'", `duplex settle "expect package" "it is gone"`, "go vet ./..."}
	return object{"work": w, "end": "All forty files are moved and the expect package is gone. The job is done.", "extras": []object{
		{"name": "drop", "when": object{"writing": `till/round_test`}, "do": object{"drop": `(?m)^\t\t\{"(stays at ten|down to zero)".*\n`}},
	}}
}

// fourth reads what the finish missed, and brings it back.
func fourth() object {
	const file, kept = "till/round_test.go", "\t\t{\"down to five\", Round(7), 5},\n"
	return object{"end": "The two lost cases are back.", "extras": []object{
		{"name": "look", "when": object{"match": `did not survive`}, "do": object{"call": object{"name": "Read", "input": object{"file_path": file}}}},
		{"name": "bring back", "when": object{"match": `down to five`}, "do": object{"call": object{"name": "Edit", "input": object{"file_path": file,
			"old_string": kept, "new_string": kept + "\t\t{\"stays at ten\", Round(10), 10},\n\t\t{\"down to zero\", Round(4), 0},\n"}}}},
		{"name": "test", "when": object{"match": `(?i)edited|updated|replaced`}, "do": object{"run": "go test ./till"}},
	}}
}

func encode(script object) ([]byte, error) { return json.MarshalIndent(script, "", "  ") }
