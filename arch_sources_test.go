package duplex_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// What the rules look at.

type pkg struct {
	name      string // as in floors
	row       *row
	files     []*file
	variables map[types.Object]bool // its package-level variables
}

type file struct {
	path   string
	test   bool
	lines  int
	syntax *ast.File
	set    *token.FileSet
	info   *types.Info
	uses   map[ast.Node]string // every mention of another package's name, "import/path.Name"
}

func (f *file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d: ", f.path, f.set.Position(n.Pos()).Line)
}

// load reads a module's sources. It resolves names with the type checker but imports nothing, so it needs
// neither the go command nor a build that passes, and sees the files of every operating system.
func load(module fs.FS) ([]*pkg, error) {
	set := token.NewFileSet()
	byName := map[string]*pkg{}
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); entry.IsDir() {
			if base == "testdata" || name != "." && strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := shortName(path.Dir(name))
		if byName[folder] == nil {
			byName[folder] = &pkg{name: folder, row: find(folder), variables: map[types.Object]bool{}}
		}
		byName[folder].files = append(byName[folder].files, &file{
			path: name, set: set, syntax: syntax,
			test:  strings.HasSuffix(name, "_test.go"),
			lines: strings.Count(string(source), "\n"),
		})
		return nil
	})
	var all []*pkg
	for _, p := range byName {
		resolve(p, set)
		all = append(all, p)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all, err
}

// resolve finds which name means which package or variable. Type errors are the compiler's to report.
func resolve(p *pkg, set *token.FileSet) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: nothing{}, Error: func(error) {}, FakeImportC: true}
	var sources []*ast.File
	for _, f := range p.files {
		f.info, f.uses = info, map[ast.Node]string{}
		if !f.test {
			sources = append(sources, f.syntax)
		}
	}
	checked, _ := config.Check(p.name, set, sources, info)
	for _, name := range checked.Scope().Names() {
		if v, ok := checked.Scope().Lookup(name).(*types.Var); ok {
			p.variables[v] = true
		}
	}
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if imported, ok := info.Uses[x].(*types.PkgName); ok {
						f.uses[n] = imported.Imported().Path() + "." + n.Sel.Name
					}
				}
			case *ast.Ident:
				if _, ok := info.Uses[n].(*types.Builtin); ok {
					f.uses[n] = "builtin." + n.Name
				}
			}
			return true
		})
	}
}

// nothing imports no package: the checker then makes an empty one, which is all that names need.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, fs.ErrNotExist }

func find(name string) *row {
	for i, r := range floors {
		if matched, _ := path.Match(r.pkg, name); matched {
			return &floors[i]
		}
	}
	return nil
}

func shortName(folder string) string {
	if folder == "" {
		return "."
	}
	return strings.TrimPrefix(folder, "internal/")
}

func importPath(spec *ast.ImportSpec) string {
	name, _ := strconv.Unquote(spec.Path.Value)
	return name
}

func within(name string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return name == root || strings.HasPrefix(name, root+"/")
	})
}

func outsideFunctions(n ast.Node, visit func(ast.Node)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

func embedded(decl *ast.GenDecl) bool {
	return decl.Doc != nil && slices.ContainsFunc(decl.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// madeToChange tells a cache, a lock or a shared pointer from a table.
func madeToChange(f *file, value ast.Expr) bool {
	switch value := value.(type) {
	case *ast.UnaryExpr:
		return value.Op == token.AND
	case *ast.CompositeLit:
		return within(strings.ReplaceAll(f.uses[value.Type], ".", "/"), "sync")
	case *ast.CallExpr:
		name, ok := value.Fun.(*ast.Ident)
		return ok && (f.uses[name] == "builtin.make" || f.uses[name] == "builtin.new")
	}
	return false
}

// written lists the expressions that a file assigns to, counts up, takes the address of, deletes from or clears.
func written(syntax *ast.File) []ast.Expr {
	var all []ast.Expr
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				all = append(all, n.Lhs...)
			}
		case *ast.IncDecStmt:
			all = append(all, n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				all = append(all, n.Key, n.Value)
			}
		case *ast.UnaryExpr:
			if _, element := n.X.(*ast.IndexExpr); n.Op == token.AND && !element { // &table[i] saves a copy
				all = append(all, n.X)
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (name.Name == "delete" || name.Name == "clear") {
				all = append(all, n.Args[0])
			}
		}
		return true
	})
	return all
}

// root is the variable at the bottom of x.y[z].
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return nil
}

func closed(t ast.Expr) bool {
	s, ok := t.(*ast.StructType)
	if !ok || len(s.Fields.List) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Fields.List, func(field *ast.Field) bool {
		return len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported)
	})
}

func receiver(decl *ast.FuncDecl) string {
	t := decl.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// interfaceMethods are the methods that an interface explains: those of the package and those everybody knows.
func interfaceMethods(files []*file) map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{"String", "Error", "Unwrap", "Is", "Len", "Less", "Swap", "Read", "Write", "Close", "MarshalJSON", "MarshalText"} {
		names[name] = true
	}
	for _, f := range files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if t, ok := n.(*ast.InterfaceType); ok {
				for _, method := range t.Methods.List {
					for _, name := range method.Names {
						names[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return names
}

// opensFunnel tells an exported function that returns redacted text, is no method of a Redactor, and is given
// something else than redacted text.
func opensFunnel(decl *ast.FuncDecl) bool {
	if !decl.Name.IsExported() || storeOnly[decl.Name.Name] != nil || decl.Type.Results == nil || decl.Recv != nil && receiver(decl) == "Redactor" {
		return false
	}
	returns := slices.ContainsFunc(decl.Type.Results.List, func(r *ast.Field) bool { return madeOf(r.Type) })
	takes := slices.ContainsFunc(decl.Type.Params.List, func(p *ast.Field) bool { return !madeOf(p.Type) })
	return returns && takes
}

// madeOf tells a type of the funnel, by itself or in a list.
func madeOf(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.Ident:
		return redacted[t.Name]
	case *ast.Ellipsis:
		return madeOf(t.Elt)
	case *ast.ArrayType:
		return madeOf(t.Elt)
	case *ast.StarExpr:
		return madeOf(t.X)
	}
	return false
}
