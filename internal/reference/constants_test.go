package reference

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// constants evaluates the constants of a package by its folder, without compiling it:
// those that need other packages than time are missing.
func constants(t testing.TB, folder string) map[string]int64 {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: onlyTime{}, Error: func(error) {}, IgnoreFuncBodies: true}
	checked, _ := config.Check(folder, files, parsed, nil) // other imports are not found
	values := make(map[string]int64)
	for _, name := range checked.Scope().Names() {
		if c, ok := checked.Scope().Lookup(name).(*types.Const); ok {
			if value, exact := constant.Int64Val(constant.ToInt(c.Val())); exact && c.Val().Kind() != constant.Unknown {
				values[name] = value
			}
		}
	}
	return values
}

// onlyTime imports a package time that has the units.
type onlyTime struct{}

func (onlyTime) Import(path string) (*types.Package, error) {
	if path != "time" {
		return nil, fmt.Errorf("%s is not imported", path)
	}
	p := types.NewPackage("time", "time")
	duration := types.NewNamed(types.NewTypeName(token.NoPos, p, "Duration", nil), types.Typ[types.Int64], nil)
	p.Scope().Insert(duration.Obj())
	for name, value := range map[string]time.Duration{"Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour} {
		p.Scope().Insert(types.NewConst(token.NoPos, p, name, duration, constant.MakeInt64(int64(value))))
	}
	p.MarkComplete()
	return p, nil
}
