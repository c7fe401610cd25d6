package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goOwners are the places that may start goroutines: each owns those that it starts and waits for them.
var goOwners = []string{
	"generations/", "kernel/", "plugins/", "internal/childproc/", "internal/wire/", "internal/builtin/", "internal/home/", "cmd/",
	"internal/offline/",
}

func eachFile(t *testing.T, do func(path string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != top && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		do(filepath.ToSlash(rel), fset, f)
		return nil
	})
	require.NoError(t, err)
}

func TestEachPackageIsDocumentedOnce(t *testing.T) {
	docs := map[string][]string{}
	eachFile(t, func(path string, _ *token.FileSet, f *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		if _, seen := docs[dir]; !seen {
			docs[dir] = nil
		}
		if f.Doc != nil {
			docs[dir] = append(docs[dir], path)
		}
	})
	for dir, files := range docs {
		if len(files) != 1 {
			t.Errorf("package %s has %d package comments (%s): it needs one", dir, len(files), strings.Join(files, ", "))
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	eachFile(t, func(path string, fset *token.FileSet, f *ast.File) {
		if strings.HasSuffix(path, "_test.go") || f.Name.Name == "main" {
			return
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !plainMethod(d) {
					t.Errorf("%s: %s has no doc comment", fset.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
						t.Errorf("%s: type %s has no doc comment", fset.Position(s.Pos()), s.Name.Name)
					}
				}
			}
		}
	})
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// plainMethod is a method whose meaning its well-known interface gives.
func plainMethod(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	switch d.Name.Name {
	case "Error", "String", "Unwrap", "Is", "Kind", "Type":
		return true
	}
	return false
}

func TestGoroutinesHaveOwners(t *testing.T) {
	eachFile(t, func(path string, fset *token.FileSet, f *ast.File) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "examples/") {
			return
		}
		for _, owner := range goOwners {
			if strings.HasPrefix(path, owner) {
				return
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: a goroutine is started by a package that owns none", fset.Position(g.Pos()))
			}
			return true
		})
	})
}

func TestTestsDoNotSleep(t *testing.T) {
	eachFile(t, func(path string, fset *token.FileSet, f *ast.File) {
		if !strings.HasSuffix(path, "_test.go") || usesSynctest(f) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "Sleep" {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
				t.Errorf("%s: a test sleeps; wait for what it waits for", fset.Position(s.Pos()))
			}
			return true
		})
	})
}

// usesSynctest reports whether a file's time may be that of a bubble, where sleeping takes none.
func usesSynctest(f *ast.File) bool {
	for _, i := range f.Imports {
		if i.Path.Value == `"testing/synctest"` {
			return true
		}
	}
	return false
}
