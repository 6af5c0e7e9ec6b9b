package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// testSource is the test code of one package: what can fail in each test.
//
// An assertion is a place where a test can fail: t.Error, t.Fatal or t.Fail and
// their kin, a call that hands t to a helper, a panic. Helpers of the package
// are followed, so that emptying the helper empties its tests. What can never
// be reached is not counted: code after a return or a skip, or under `if false`
// or `if got != got`. It is reading, not proof: a test made harmless in another
// way keeps its count.
type testSource struct {
	funcs   map[string][]*function // by name; two when a package and its _test package both have it
	methods map[string][]*function
	subs    map[string]int // assertions of subtests written out in place, by path
}

type function struct {
	decl    *ast.FuncDecl
	imports map[string]string // name in the file to import path
	output  bool              // an example that is compared with its output
	count   int               // -1 until counted, 0 while it is: recursion adds nothing
}

// failing are the methods by which a test fails itself.
var failing = []string{"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}

var skipping = []string{"Skip", "Skipf", "SkipNow"}

// harmless are the other methods of t. Of what was made of t, any method but
// these may be an assertion.
var harmless = []string{
	"Log", "Logf", "Helper", "Parallel", "Cleanup", "TempDir", "Setenv", "Chdir", "Context", "Name", "Failed",
	"Skipped", "Skip", "Skipf", "SkipNow", "Deadline", "Add", "Fuzz", "Loop", "Output", "Attr", "ArtifactDir",
	"Run", "RunParallel", "ReportAllocs", "ReportMetric", "ResetTimer", "StartTimer", "StopTimer", "SetBytes",
}

func newTestSource() *testSource {
	return &testSource{funcs: map[string][]*function{}, methods: map[string][]*function{}, subs: map[string]int{}}
}

func parseTests(dir string, files []string) (*testSource, error) {
	s := newTestSource()
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		s.add(file)
	}
	return s, nil
}

func (s *testSource) add(file *ast.File) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := packageName(path)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = path
	}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil {
			continue
		}
		f := &function{decl: decl, imports: imports, count: -1, output: hasOutput(file, decl)}
		if decl.Recv == nil {
			s.funcs[decl.Name.Name] = append(s.funcs[decl.Name.Name], f)
		} else {
			s.methods[decl.Name.Name] = append(s.methods[decl.Name.Name], f)
		}
	}
}

// packageName guesses the name of a package from its path: the last element
// that is no version.
func packageName(path string) string {
	elements := strings.Split(path, "/")
	name := elements[len(elements)-1]
	if version, ok := strings.CutPrefix(name, "v"); ok && len(elements) > 1 {
		if _, number := leadingNumber(version); number {
			name = elements[len(elements)-2]
		}
	}
	name, _, _ = strings.Cut(name, ".v") // gopkg.in/check.v1
	return name
}

// hasOutput tells whether an example says what it prints.
func hasOutput(file *ast.File, decl *ast.FuncDecl) bool {
	if !strings.HasPrefix(decl.Name.Name, "Example") {
		return false
	}
	return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(c.Text())
		return c.Pos() > decl.Body.Lbrace && c.End() < decl.Body.Rbrace &&
			(strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}

// tests are the top-level tests, examples and fuzz targets that go test runs.
func (s *testSource) tests() []string {
	var names []string
	for _, name := range sortedKeys(s.funcs) {
		f := s.funcs[name][0]
		params := len(f.decl.Type.Params.List)
		switch {
		case f.output, params == 1 && (isTest(name, "Test") && name != "TestMain" || isTest(name, "Fuzz")):
			names = append(names, name)
		}
	}
	return names
}

// isTest follows the rule of the testing package: after the prefix comes no
// lower-case letter.
func isTest(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

// assertions counts those of a case: of the innermost subtest on its path that
// is written out in place, else of its top-level test; -1 when there is none.
func (s *testSource) assertions(name string) int {
	top, _, _ := strings.Cut(name, "/")
	if s.funcs[top] == nil {
		return -1
	}
	total := 0
	for _, f := range s.funcs[top] {
		total += s.counted(f)
	}
	for path := name; path != top; path = path[:strings.LastIndexByte(path, '/')] {
		if n, ok := s.subs[path]; ok {
			return n
		}
	}
	return total
}

func (s *testSource) counted(f *function) int {
	if f.count < 0 {
		f.count = 0
		w := &walker{source: s, imports: f.imports, path: f.decl.Name.Name, ts: map[string]bool{}, closures: map[string]int{}}
		w.params(f.decl.Type)
		w.block(f.decl.Body.List)
		f.count = w.count
		if f.output {
			f.count++
		}
	}
	return f.count
}

// walker counts the assertions of one function body.
type walker struct {
	source   *testSource
	imports  map[string]string
	path     string          // of the test, as go test names it
	ts       map[string]bool // names that hold a *testing.T or what was made of one
	closures map[string]int  // local functions, and how many assertions a call of them is
	count    int
}

// inside counts a function literal apart, with the names it can see.
func (w *walker) inside(lit *ast.FuncLit, path string) int {
	inner := &walker{source: w.source, imports: w.imports, path: path, ts: map[string]bool{}, closures: map[string]int{}}
	for name := range w.ts {
		inner.ts[name] = true
	}
	for name, n := range w.closures {
		inner.closures[name] = n
	}
	inner.params(lit.Type)
	inner.block(lit.Body.List)
	return inner.count
}

// params notes the parameters of type *testing.T, *testing.B, *testing.F and testing.TB.
func (w *walker) params(t *ast.FuncType) {
	for _, field := range t.Params.List {
		typ := field.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		sel, ok := typ.(*ast.SelectorExpr)
		isT := ok && slices.Contains([]string{"T", "B", "F", "TB"}, sel.Sel.Name) && w.imported(sel.X) == "testing"
		for _, name := range field.Names {
			w.ts[name.Name] = isT
		}
	}
}

// imported is the path of the package that an expression names, if it does.
func (w *walker) imported(x ast.Expr) string {
	if id, ok := x.(*ast.Ident); ok && !w.ts[id.Name] {
		return w.imports[id.Name]
	}
	return ""
}

// block counts statements up to the first after which nothing runs.
func (w *walker) block(list []ast.Stmt) {
	for _, stmt := range list {
		w.walk(stmt)
		if w.ends(stmt) {
			return
		}
	}
}

func (w *walker) ends(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			return w.isT(sel.X) && slices.Contains(skipping, sel.Sel.Name)
		}
	}
	return false
}

func (w *walker) walk(node ast.Node) {
	if node == nil {
		return
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			w.block(n.List)
			return false
		case *ast.CaseClause:
			for _, x := range n.List {
				w.walk(x)
			}
			w.block(n.Body)
			return false
		case *ast.CommClause:
			if n.Comm != nil {
				w.walk(n.Comm)
			}
			w.block(n.Body)
			return false
		case *ast.IfStmt:
			return w.branch(n)
		case *ast.AssignStmt:
			return w.assign(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			return w.assign(names, n.Values)
		case *ast.FuncLit:
			w.count += w.inside(n, w.path)
			return false
		case *ast.CallExpr:
			return w.call(n)
		}
		return true
	})
}

// branch leaves out the side of an if that is never taken.
func (w *walker) branch(n *ast.IfStmt) bool {
	value, constant := constantBool(n.Cond)
	if !constant {
		return true
	}
	if n.Init != nil {
		w.walk(n.Init)
	}
	if value {
		w.block(n.Body.List)
	} else if n.Else != nil {
		w.walk(n.Else)
	}
	return false
}

// assign notes local functions, which count where they are called, and what an
// imported package made of t, as `is := is.New(t)`, which then stands for t.
func (w *walker) assign(left, right []ast.Expr) bool {
	if len(left) != len(right) {
		return true
	}
	for i, x := range right {
		name, isName := left[i].(*ast.Ident)
		lit, isLit := x.(*ast.FuncLit)
		switch call, isCall := x.(*ast.CallExpr); {
		case isName && isLit && name.Name != "_":
			w.closures[name.Name] = 0 // should it call itself
			w.closures[name.Name] = w.inside(lit, w.path)
		case isName && isCall && w.makesT(call):
			w.ts[name.Name] = true
		default:
			w.walk(x)
		}
	}
	return false
}

func (w *walker) makesT(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && strings.HasPrefix(sel.Sel.Name, "New") && w.imported(sel.X) != "" && slices.ContainsFunc(call.Args, w.isT)
}

// isT tells whether an expression is a *testing.T: a name known to be one, or a
// field or method called t, as in test suites.
func (w *walker) isT(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return w.ts[x.Name]
	case *ast.SelectorExpr:
		return slices.Contains([]string{"t", "T", "tb", "TB"}, x.Sel.Name) && w.imported(x.X) == ""
	case *ast.CallExpr:
		return len(x.Args) == 0 && w.isT(x.Fun)
	}
	return false
}

// call counts one call, and tells whether its parts are still to be walked.
func (w *walker) call(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.FuncLit: // called in place
		w.count += w.inside(fun, w.path)
		for _, arg := range call.Args {
			w.walk(arg)
		}
		return false
	case *ast.SelectorExpr:
		if w.isT(fun.X) {
			return w.method(fun, call)
		}
		if path := w.imported(fun.X); path != "" {
			if path == "log" && (strings.HasPrefix(fun.Sel.Name, "Fatal") || strings.HasPrefix(fun.Sel.Name, "Panic")) ||
				path == "os" && fun.Sel.Name == "Exit" || slices.ContainsFunc(call.Args, w.isT) {
				w.count++
			}
			return true
		}
		w.helper(w.source.methods[fun.Sel.Name], call)
	case *ast.Ident:
		if n, ok := w.closures[fun.Name]; ok {
			w.count += min(n, 1)
			return true
		}
		if fun.Name == "panic" {
			w.count++
			return true
		}
		w.helper(w.source.funcs[fun.Name], call)
	default:
		w.helper(nil, call)
	}
	return true
}

// helper counts a call of a function of the package by what it holds, and of
// one that is not seen here as an assertion when it is given t.
func (w *walker) helper(known []*function, call *ast.CallExpr) {
	if len(known) == 0 {
		if slices.ContainsFunc(call.Args, w.isT) {
			w.count++
		}
		return
	}
	if slices.ContainsFunc(known, func(f *function) bool { return w.source.counted(f) > 0 }) {
		w.count++
	}
}

// method counts a call of a method of t. A subtest written out in place is
// counted for itself and for its test.
func (w *walker) method(fun *ast.SelectorExpr, call *ast.CallExpr) bool {
	if fun.Sel.Name != "Run" || len(call.Args) != 2 {
		if slices.Contains(failing, fun.Sel.Name) || !slices.Contains(harmless, fun.Sel.Name) {
			w.count++
		}
		return true
	}
	before := w.count
	path := w.path
	name, literal := call.Args[0].(*ast.BasicLit)
	if literal && name.Kind == token.STRING {
		text, _ := strconv.Unquote(name.Value)
		path += "/" + strings.Map(underscore, text)
	}
	switch body := call.Args[1].(type) {
	case *ast.FuncLit:
		w.count += w.inside(body, path)
	case *ast.Ident:
		if n, ok := w.closures[body.Name]; ok {
			w.count += n
		} else if known := w.source.funcs[body.Name]; len(known) > 0 {
			w.count += w.source.counted(known[0])
		} else {
			w.count++
		}
	default: // made by a call, or a method: what it holds is not seen here
		w.count++
	}
	if path != w.path {
		w.source.subs[path] += w.count - before
	}
	return false
}

// underscore is what go test does to a space in the name of a subtest.
func underscore(r rune) rune {
	if r == ' ' || r == '\t' || r == '\n' {
		return '_'
	}
	return r
}
