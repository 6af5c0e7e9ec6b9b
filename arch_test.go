package duplex_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/seed-5777983b/duplex"

// floors says where every package stands. A package imports only lower floors, never sideways: two
// packages of one floor are composed by the floor above. A new package is a new row, with the reason for it.
//
// Pure: no files, network, clock, randomness or logging; what it knows comes in as parameters.
// Support: for tests, imported only by tests.
// Program: its own main, with the exit code and the terminal that no other package may touch.
var floors = []row{
	{"cmd/duplex", 6, program, ""},

	{"cli", 5, edge, ""},  // one file a command
	{"demo", 5, edge, ""}, // the story a visitor sees

	{"hook", 4, edge, ""},
	{"mcpserver", 4, edge, ""},
	{"web", 4, edge, ""},
	{"runner", 4, edge, ""},
	{"scripted", 4, edge, "the built-in scripted agent as a program: it runs tools, writes its transcript and calls hooks, all that the pure agent/script may not"},

	{"tracker", 3, edge, ""}, // every use case
	{"agent/all", 3, edge, ""},

	{"agent/agenttest", 2, support, ""},
	{"agent/*", 2, pure, ""}, // one an agent
	{"workspace", 2, edge, ""},
	{"install", 2, edge, ""},
	{"store/storetest", 2, support, ""},

	{"handover", 1, pure, ""},
	{"lesson", 1, pure, ""},
	{"pilot", 1, pure, ""},
	{"cost", 1, pure, ""},
	{"agent", 1, pure, ""},
	{"store", 1, edge, ""},
	{"git", 1, edge, ""},
	{"check", 1, edge, ""},
	{"spool", 1, edge, ""},
	{"notify", 1, edge, ""},
	{"bundle", 1, edge, ""},
	{"client", 1, edge, ""},
	{"transcript", 1, edge, ""}, // opens agents' files read-only, hands rows to the pure parsers

	{"job", 0, pure, ""},
	{"redact", 0, pure, ""},
	{"process", 0, edge, ""},
	{"config", 0, edge, ""},
	{"query", 0, pure, "what a person looks for: the store's index, transcripts and the page mean the same by a word"},
	{".", 0, edge, "this tour, and the licences of what is linked, which can be embedded only from beside the file"},

	{"fakemodel", 6, program, ""}, // go run ./internal/fakemodel: a scripted model server
	{"fakemodel/play", 5, edge, "that server, beside its program because tests cannot import a program; so high that nothing of the product can import it"},
	{"live", 6, support, "stories in which a real agent runs: above everything, since they play the whole of it"},
	{"long", 6, program, ""}, // go run ./internal/long: the full figures
	{"suite", 6, program, "the one test command: go run ./internal/suite"},
}

// changing lists the package variables that may change, "package.name", each with the reason.
var changing = map[string]string{}

// unsafeUsers lists the packages that may import unsafe, each with the reason.
var unsafeUsers = map[string]string{
	"process": "Windows wants the size of the record that it fills",
}

// streamUsers lists the files that may name the process's own streams, each with the reason.
var streamUsers = map[string]string{
	"internal/process/become_windows.go": "a program is given our terminal, which on other systems it takes over with our place",
	"internal/cli/process.go":            "the one place where a command is given the real process: its streams, folder and environment",
}

// storeOnly names what package redact offers for reading back what it once made. Anywhere else it would be
// a way around the funnel.
var storeOnly = map[string][]string{}

type row struct {
	pkg   string // its folder, without internal/
	floor int
	kind  kind
	why   string // for a package that the layout did not foresee
}

type kind string

const (
	edge    kind = "edge"
	pure    kind = "pure"
	support kind = "support"
	program kind = "program"
)

func TestArchitecture(t *testing.T) {
	t.Parallel()
	packages, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults(packages) {
		t.Error(fault)
	}
	for _, p := range packages {
		for _, f := range p.files {
			if f.lines > 700 {
				t.Logf("%s has %d lines: which two reasons live in it?", f.path, f.lines)
			}
		}
	}
}

// faults checks every rule and returns what breaks one, as "file:line: what is wrong".
func faults(packages []*pkg) []string {
	var all []string
	for _, p := range packages {
		all = append(all, wrongPlace(p)...)
		all = append(all, undocumented(p)...)
		for _, f := range p.files {
			rules := []func(*pkg, *file) []string{wrongName}
			if !f.test {
				rules = append(rules, wrongImport, impure, wrongExit, wrongPrint, startWork, changingVariable, aroundTheFunnel)
			}
			for _, rule := range rules {
				all = append(all, rule(p, f)...)
			}
		}
		if p.name == "redact" {
			all = append(all, leakyFunnel(p)...)
		}
	}
	sort.Strings(all)
	return slices.Compact(all)
}

// The rules.

func wrongPlace(p *pkg) []string {
	if p.row == nil {
		return []string{p.files[0].path + ": package " + p.name + " has no row in arch_test.go: say its floor and why it exists"}
	}
	return nil
}

func wrongName(_ *pkg, f *file) []string {
	var found []string
	says := func(name string) bool {
		return slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "misc", "types", "models", "manager"}, name)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test")
	if says(base) {
		found = append(found, f.path+": this file name says nothing: name it for what it does")
	}
	if says(strings.TrimSuffix(f.syntax.Name.Name, "_test")) {
		found = append(found, f.path+": this package name says nothing: name it for why it exists")
	}
	return found
}

func wrongImport(p *pkg, f *file) []string {
	var found []string
	for _, spec := range f.syntax.Imports {
		target, ours := strings.CutPrefix(importPath(spec), module)
		if !ours || p.row == nil {
			continue
		}
		name := shortName(strings.TrimPrefix(target, "/"))
		to := find(name)
		switch {
		case to == nil: // its own fault, told where that package is
		case to.kind == support && p.row.kind != support:
			found = append(found, f.at(spec)+name+" is test support: only tests import it")
		case to.floor == p.row.floor:
			found = append(found, f.at(spec)+p.name+" imports "+name+" sideways on floor "+strconv.Itoa(to.floor)+": the floor above composes them")
		case to.floor > p.row.floor:
			found = append(found, f.at(spec)+p.name+" on floor "+strconv.Itoa(p.row.floor)+" imports "+name+" above it on floor "+strconv.Itoa(to.floor))
		}
	}
	return found
}

// impure: what a pure package may not import, and what it may not call of what it may import.
func impure(p *pkg, f *file) []string {
	if p.row == nil || p.row.kind != pure {
		return nil
	}
	var found []string
	for _, spec := range f.syntax.Imports {
		switch name := importPath(spec); {
		case name == "net/url": // a parser of text
		case within(name, "os", "io/fs", "io/ioutil", "net", "syscall", "math/rand", "crypto/rand", "log", "database/sql", "runtime", "plugin", "unsafe"):
			found = append(found, f.at(spec)+p.name+" is pure and imports "+name)
		case strings.HasPrefix(name, "golang.org/x/sys"), strings.HasPrefix(name, "golang.org/x/term"), strings.HasPrefix(name, "modernc.org/"):
			found = append(found, f.at(spec)+p.name+" is pure and imports "+name)
		}
	}
	for use, name := range f.uses {
		switch name {
		case "time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
			"time.Tick", "time.NewTimer", "time.NewTicker", "time.Local", "time.LoadLocation",
			"path/filepath.Abs", "path/filepath.EvalSymlinks", "path/filepath.Glob",
			"path/filepath.Walk", "path/filepath.WalkDir":
			found = append(found, f.at(use)+p.name+" is pure and uses "+name+": take it as a parameter")
		}
	}
	return found
}

func wrongExit(p *pkg, f *file) []string {
	if p.row != nil && p.row.kind == program {
		return nil
	}
	var found []string
	for use, name := range f.uses {
		switch name {
		case "os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "syscall.Exit":
			found = append(found, f.at(use)+name+" outside a program: return an error or a code")
		}
	}
	return found
}

func wrongPrint(p *pkg, f *file) []string {
	if p.row != nil && p.row.kind == program {
		return nil
	}
	var found []string
	for use, name := range f.uses {
		switch name {
		case "os.Stdout", "os.Stderr":
			if streamUsers[f.path] != "" {
				continue
			}
			fallthrough
		case "fmt.Print", "fmt.Printf", "fmt.Println", "builtin.print", "builtin.println":
			found = append(found, f.at(use)+name+" outside a program: print to the writer that was given")
		}
	}
	return found
}

// startWork: what runs before main runs in every hook.
func startWork(_ *pkg, f *file) []string {
	var found []string
	for _, decl := range f.syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name == "init" {
				found = append(found, f.at(decl)+"init: list it where it is used")
			}
		case *ast.GenDecl:
			outsideFunctions(decl, func(n ast.Node) {
				switch f.uses[n] {
				case "regexp.MustCompile", "regexp.Compile", "regexp.MustCompilePOSIX", "html/template.Must", "text/template.Must":
					found = append(found, f.at(n)+f.uses[n]+" at start: compile it when it is first needed (sync.OnceValue)")
				}
			})
		}
	}
	return found
}

// changingVariable: a package variable is a sentinel, a table, or something made once when first asked for.
func changingVariable(p *pkg, f *file) []string {
	var found []string
	report := func(at ast.Node, name, what string) {
		if changing[p.name+"."+name] == "" {
			found = append(found, f.at(at)+"package variable "+name+" "+what+": hand it in instead")
		}
	}
	for _, decl := range f.syntax.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR || embedded(gen) {
			continue
		}
		for _, spec := range gen.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, name := range spec.Names {
				switch {
				case name.Name == "_":
				case len(spec.Values) == 0:
					report(name, name.Name, "has no value, so it is there to change")
				case i < len(spec.Values) && madeToChange(f, spec.Values[i]):
					report(name, name.Name, "is made to change")
				}
			}
		}
	}
	for _, target := range written(f.syntax) {
		if name := root(target); name != nil && p.variables[f.info.Uses[name]] {
			report(name, name.Name, "is changed here")
		}
	}
	return found
}

// aroundTheFunnel: only package redact makes redacted text.
func aroundTheFunnel(p *pkg, f *file) []string {
	if p.name == "redact" {
		return nil
	}
	var found []string
	for _, spec := range f.syntax.Imports {
		if importPath(spec) == "unsafe" && unsafeUsers[p.name] == "" {
			found = append(found, f.at(spec)+"unsafe can make redacted text out of anything")
		}
	}
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				found = append(found, f.at(c)+"go:linkname can reach past the redaction funnel")
			}
		}
	}
	made := func(n ast.Node, kind string) {
		if name, ok := strings.CutPrefix(f.uses[n], module+"/internal/redact."); ok && redacted[name] {
			found = append(found, f.at(n)+kind+" redact."+name+" by itself: only package redact makes one, from text it has read")
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if len(n.Elts) > 0 { // the zero value holds nothing
				made(n.Type, "builds")
			}
		case *ast.CallExpr:
			made(ast.Unparen(n.Fun), "converts to")
		case *ast.TypeSpec:
			made(n.Type, "renames")
		}
		if n != nil {
			if name, ok := strings.CutPrefix(f.uses[n], module+"/internal/redact."); ok {
				if users, limited := storeOnly[name]; limited && !slices.Contains(users, p.name) {
					found = append(found, f.at(n)+"redact."+name+" is for "+strings.Join(users, " and ")+" only")
				}
			}
		}
		return true
	})
	return found
}

// redacted are the types that stand for "has been through the funnel".
var redacted = map[string]bool{"Text": true, "JSON": true}

// undocumented: a package says why it exists, and what others can use of it says what it does.
func undocumented(p *pkg) []string {
	if p.row == nil || p.row.kind == program {
		return nil
	}
	var found []string
	var sources []*file
	for _, f := range p.files {
		if !f.test {
			sources = append(sources, f)
		}
	}
	if len(sources) > 0 && !slices.ContainsFunc(sources, func(f *file) bool { return f.syntax.Doc != nil }) {
		found = append(found, sources[0].path+": package "+p.name+" does not say why it exists")
	}
	promised := interfaceMethods(sources)
	for _, f := range sources {
		for _, decl := range f.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				known := decl.Recv != nil && (promised[decl.Name.Name] || !ast.IsExported(receiver(decl)))
				if decl.Name.IsExported() && decl.Doc == nil && !known {
					found = append(found, f.at(decl)+decl.Name.Name+" has no comment")
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() && decl.Doc == nil && spec.Doc == nil && spec.Comment == nil {
						found = append(found, f.at(spec)+spec.Name.Name+" has no comment")
					}
				}
			}
		}
	}
	return found
}

// leakyFunnel: the types of the funnel must be ones that no conversion and no decoder can fill.
func leakyFunnel(p *pkg) []string {
	var found []string
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, decl := range f.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && redacted[spec.Name.Name] && !closed(spec.Type) {
						found = append(found, f.at(spec)+"redact."+spec.Name.Name+" can be made by a conversion: make it a struct without exported fields")
					}
				}
			case *ast.FuncDecl:
				if opensFunnel(decl) {
					found = append(found, f.at(decl)+"redact."+decl.Name.Name+" makes redacted text without a Redactor: list it in storeOnly if the store needs it to read back what it wrote")
				}
				if decl.Recv == nil || !redacted[receiver(decl)] {
					continue
				}
				switch decl.Name.Name {
				case "UnmarshalJSON", "UnmarshalText", "UnmarshalBinary", "UnmarshalTOML", "GobDecode", "Scan", "Set", "Write":
					found = append(found, f.at(decl)+"redact."+receiver(decl)+"."+decl.Name.Name+" lets a decoder fill redacted text")
				}
			}
		}
	}
	return found
}
