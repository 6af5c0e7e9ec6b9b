package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/process"
)

// goList is what is shown as the command of a Go listing. Vet is left out: what
// it finds is not a test, and would hide those of its package.
const goList = "go test -json -count=1 -vet=off ./..."

// ListGo lists the Go tests below dir, in every module there, by running them;
// a test that fails is listed as failed. Assertions are counted in the source
// of the top-level test, or of the subtest where that is written out in place.
// The error is ErrCannotList when a package does not build or a module does
// not load, and ErrNoTests when there are none.
func ListGo(ctx context.Context, dir string, env []string) (Listing, error) {
	l := Listing{Command: goList}
	modules, err := goModules(dir)
	if err != nil {
		return l, fmt.Errorf("%w: %v", ErrCannotList, err)
	}
	for _, module := range modules {
		cases, err := listModule(ctx, module, env)
		if err != nil {
			return Listing{Command: goList}, err
		}
		l.Cases = append(l.Cases, cases...)
	}
	if len(l.Cases) == 0 {
		return l, fmt.Errorf("%w: there is no Go test below %s", ErrNoTests, dir)
	}
	l.sort()
	return l, nil
}

// goModules are the folders to run go in: dir itself, unless only folders below
// it are modules, and every module below it that has tests.
func goModules(dir string) ([]string, error) {
	var found []string
	tested := map[string]bool{}
	current := func(path string) string { // the module a file stands in
		for i := len(found) - 1; i >= 0; i-- {
			if rel, err := filepath.Rel(found[i], path); err == nil && filepath.IsLocal(rel) {
				return found[i]
			}
		}
		return ""
	}
	dir, err := filepath.EvalSymlinks(dir) // the walk would not follow a link it begins with
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if !entry.IsDir() {
			if strings.HasSuffix(name, "_test.go") {
				tested[current(path)] = true
			}
			return nil
		}
		if path != dir && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
			slices.Contains([]string{"vendor", "testdata", "node_modules"}, name)) {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	modules := slices.DeleteFunc(found, func(module string) bool { return module != dir && !tested[module] })
	if len(modules) == 0 || modules[0] != dir && tested[""] { // dir is inside a module, or has none to name
		modules = slices.Insert(modules, 0, dir)
	}
	return modules, nil
}

// goPackageFiles is what go list says of a package.
type goPackageFiles struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
}

func listModule(ctx context.Context, dir string, env []string) ([]Case, error) {
	packages, err := goPackages(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	runs, err := goTest(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, p := range packages {
		files := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		if len(files) == 0 {
			continue
		}
		source, err := parseTests(p.Dir, files)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrCannotList, err)
		}
		run := runs[p.ImportPath]
		if run == nil {
			return nil, fmt.Errorf("%w: go test said nothing of %s", ErrCannotList, p.ImportPath)
		}
		if run.failed { // it ended before these began: a panic, a time limit, os.Exit
			for _, name := range source.tests() {
				if _, ran := run.results[name]; !ran {
					run.results[name] = failed
				}
			}
		}
		for _, name := range leaves(run.results) {
			cases = append(cases, Case{Name: name, Suite: p.ImportPath, State: run.results[name], Assertions: source.assertions(name)})
		}
	}
	return cases, nil
}

// goPackages asks which test files are built here: tags and file names decide.
func goPackages(ctx context.Context, dir string, env []string) ([]goPackageFiles, error) {
	var out strings.Builder
	ran := process.Run(ctx, process.Spec{
		Dir: dir, Env: env, Stdout: &out, Bound: true,
		Argv: []string{"go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "./..."},
	})
	if err := ended(ctx, ran); err != nil {
		return nil, err
	}
	if ran.Exit != 0 {
		return nil, fmt.Errorf("%w: go list exited with %d\n%s", ErrCannotList, ran.Exit, FailingOutput(ran.Output, 10, 2000))
	}
	var packages []goPackageFiles
	for decoder := json.NewDecoder(strings.NewReader(out.String())); ; {
		var p goPackageFiles
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: read go list: %v", ErrCannotList, err)
		}
		packages = append(packages, p)
	}
}

// goResults are the tests of one package that began.
type goResults struct {
	results goPackage
	failed  bool
}

func goTest(ctx context.Context, dir string, env []string) (map[string]*goResults, error) {
	runs := map[string]*goResults{}
	var build strings.Builder // what the compiler said
	broken := ""
	lines := &lineWriter{line: func(line string) {
		e, ok := parseEvent(line)
		if !ok {
			return
		}
		if e.Action == "build-output" && build.Len() < 4000 {
			build.WriteString(e.Output)
		}
		if e.Package == "" {
			return
		}
		run := runs[e.Package]
		if run == nil {
			run = &goResults{results: goPackage{}}
			runs[e.Package] = run
		}
		if broken == "" && (e.FailedBuild != "" || notBuilt(e)) {
			broken = e.Package
		}
		run.take(e)
	}}
	ran := process.Run(ctx, process.Spec{
		Dir: dir, Env: env, Stdout: lines, TailBytes: tailBytes, Bound: true,
		Argv: strings.Fields(goList),
	})
	lines.flush()
	if err := ended(ctx, ran); err != nil {
		return nil, err
	}
	switch {
	case broken != "":
		said := build.String()
		if said == "" {
			said = ran.Output
		}
		return nil, fmt.Errorf("%w: %s does not build\n%s", ErrCannotList, broken, FailingOutput(said, 10, 2000))
	case ran.Exit != 0 && len(runs) == 0:
		return nil, fmt.Errorf("%w: go test exited with %d\n%s", ErrCannotList, ran.Exit, FailingOutput(ran.Output, 10, 2000))
	}
	return runs, nil
}

// notBuilt recognises a package that go test gave up on before it ran.
func notBuilt(e event) bool {
	return e.Action == "output" && e.Test == "" && strings.HasPrefix(e.Output, "FAIL\t") &&
		(strings.Contains(e.Output, "[build failed]") || strings.Contains(e.Output, "[setup failed]"))
}

func (r *goResults) take(e event) {
	switch {
	case e.Action == "run":
		r.results[e.Test] = failed // until it says otherwise
	case e.Test == "":
		r.failed = r.failed || e.Action == "fail"
	case e.Action == "pass":
		r.results[e.Test] = passed
	case e.Action == "skip":
		r.results[e.Test] = skipped
	case e.Action == "fail":
		r.results[e.Test] = failed
	}
}
