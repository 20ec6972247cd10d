package feedmill_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// slugForm is the form of the types of problems and of the codes of warnings.
var slugForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// problemMakers are functions whose first text is the type of a problem.
var problemMakers = []string{"Refuse", "refuseAt", "fail", "conflict", "refusePage"}

// usedSlugs finds the types of problems and the codes of warnings in the code, and all texts of their form.
func usedSlugs(t *testing.T) (problems, warnings, texts map[string]string) {
	t.Helper()
	problems, warnings, texts = make(map[string]string), make(map[string]string), make(map[string]string)
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "bench/") || strings.HasPrefix(file, "internal/ui/") || strings.HasPrefix(file, "tools/") || strings.HasPrefix(file, "internal/store/storetest/") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		add := func(to map[string]string, e ast.Expr) bool {
			l, ok := e.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return false
			}
			text, _ := strconv.Unquote(l.Value)
			if slug, ok := strings.CutPrefix(text, "/problems/"); ok && slug != "" {
				text, to = slug, problems
				texts[slug] = slug
			}
			if slugForm.MatchString(text) {
				to[text] = set.Position(l.Pos()).String()
			}
			return true
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				add(texts, n)
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && strings.HasPrefix(name.Name, "Problem") {
						add(problems, n.Values[i])
					}
					if i < len(n.Values) && strings.HasPrefix(strings.ToLower(name.Name), "warn") {
						add(warnings, n.Values[i])
					}
				}
			case *ast.CompositeLit:
				inType(n, func(field string, value ast.Expr) {
					switch {
					case field == "Type" && isNamed(n.Type, "Error", "SourceFailure"):
						add(problems, value)
					case field == "Code" && isNamed(n.Type, "Warning"):
						add(warnings, value)
					}
				})
			case *ast.CallExpr:
				name := ""
				switch f := n.Fun.(type) {
				case *ast.Ident:
					name = f.Name
				case *ast.SelectorExpr:
					name = f.Sel.Name
				}
				if slices.Contains(problemMakers, name) {
					for _, a := range n.Args {
						if add(problems, a) {
							break
						}
					}
				}
			}
			return true
		})
	}
	return problems, warnings, texts
}

func inType(l *ast.CompositeLit, f func(field string, value ast.Expr)) {
	for _, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				f(key.Name, kv.Value)
			}
		}
	}
}

func isNamed(e ast.Expr, names ...string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return slices.Contains(names, e.Name)
	case *ast.SelectorExpr:
		return slices.Contains(names, e.Sel.Name)
	}
	return false
}

// TestEverythingIsExplained checks that every type of problem and every code of a warning in the code has an
// explanation, and that no explanation is left over.
func TestEverythingIsExplained(t *testing.T) {
	problems, warnings, texts := usedSlugs(t)
	if len(problems) < 80 || len(warnings) < 60 {
		t.Fatalf("found %d problems and %d warnings in the code", len(problems), len(warnings))
	}
	explained := make(map[string]bool)
	for i, p := range feedmill.ProblemTypes() {
		explained[p.Slug] = true
		if i > 0 && p.Slug <= feedmill.ProblemTypes()[i-1].Slug {
			t.Errorf("problems.json: %s is not in its place in the alphabet", p.Slug)
		}
		if p.Title == "" || !strings.HasSuffix(p.Meaning, ".") || !strings.HasSuffix(p.Fix, ".") || texts[p.Slug] == "" {
			t.Errorf("problems.json: %s is not explained in sentences, or is not in the code", p.Slug)
		}
	}
	for slug, at := range problems {
		if !explained[slug] {
			t.Errorf("%s: the problem %q is not in problems.json", at, slug)
		}
	}
	clear(explained)
	for _, w := range feedmill.WarningCodes() {
		if explained[w.Code] || !strings.HasSuffix(w.Meaning, ".") || !strings.HasSuffix(w.Fix, ".") || texts[w.Code] == "" {
			t.Errorf("warnings.json: %s is there twice, is not explained in sentences, or is not in the code", w.Code)
		}
		explained[w.Code] = true
	}
	for code, at := range warnings {
		if !explained[code] {
			t.Errorf("%s: the warning %q is not in warnings.json", at, code)
		}
	}
}
