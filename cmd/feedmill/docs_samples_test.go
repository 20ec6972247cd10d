package main

import (
	"go/ast"
	"go/parser"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/feedmill/feedmill/client"
)

// TestDocumentedSamples checks the examples of the API reference: that the commands and their
// flags exist, and that the Go code is valid and calls methods of the client.
func TestDocumentedSamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/manual/samples.yaml")
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[string]struct{ CLI, Go string })
	if err := yaml.Unmarshal(text, &samples); err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	for id, s := range samples {
		for line := range strings.SplitSeq(strings.ReplaceAll(s.CLI, "\\\n", ""), "\n") {
			if line == "" {
				continue
			}
			args := words.FindAllString(line, -1)
			for i := range args {
				args[i] = strings.Trim(args[i], `'"`)
			}
			command, rest, err := newRoot().Find(args[1:])
			if err == nil {
				err = command.ParseFlags(rest)
			}
			if err == nil && command.Args != nil {
				err = command.Args(command, command.Flags().Args())
			}
			if err != nil || args[0] != program || !command.Runnable() {
				t.Errorf("%s: %s: %v", id, line, err)
			}
		}
		if s.Go != "" {
			checkGo(t, id, s.Go)
		}
	}
}

// checkGo checks that code is the body of a function that calls a method of the client.
func checkGo(t *testing.T, id, code string) {
	t.Helper()
	expr, err := parser.ParseExpr("func() {\n" + code + "\n}")
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return
	}
	calls := 0
	ast.Inspect(expr, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); ok {
			if on, ok := s.X.(*ast.Ident); ok && on.Name == "c" {
				m, found := reflect.TypeFor[*client.Client]().MethodByName(s.Sel.Name)
				if !found || len(call.Args) > m.Type.NumIn()-1 {
					t.Errorf("%s: the client has no such method: %s", id, s.Sel.Name)
				}
				calls++
			}
		}
		return true
	})
	if calls == 0 {
		t.Errorf("%s: the example does not call the client", id)
	}
}
