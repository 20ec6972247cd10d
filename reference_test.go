package feedmill_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/reference"
)

func TestReferenceOfProblems(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Problem types\n\nEvery error is a problem document (RFC 9457). Its `type` is the path of one of these sections, such as `/problems/not-found`. " +
		"`GET` that path for the same explanation in JSON.\n\nThe `error` of a failed refresh has the same types.\n")
	for _, p := range feedmill.ProblemTypes() {
		fmt.Fprintf(&b, "\n## `%s`\n\n**%s.** %s\n\n%s\n", p.Slug, p.Title, p.Meaning, p.Fix)
	}
	reference.Check(t, ".", "problems.md", b.String())
}

func TestReferenceOfWarnings(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Warning codes\n\nA warning reports what Feedmill found in the data, what it did, and how to change that. Versions, previews and refreshes list their warnings under `warnings`.\n\n" +
		"| Code | Meaning | What to do |\n|---|---|---|\n")
	for _, w := range feedmill.WarningCodes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", w.Code, reference.Cell(w.Meaning), reference.Cell(w.Fix))
	}
	reference.Check(t, ".", "warnings.md", b.String())
}

func TestReferenceOfEvents(t *testing.T) {
	catalogue, err := feedmill.NewCatalogue(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Event types\n\nThe payload of every event has `id`, `type`, `timestamp`, `resourceId` and `data`. These are the types and the members of their `data`. " +
		"`GET /events/types` lists them with their JSON Schemas, together with the types that the operator added.\n\n" +
		"You can publish `metric.*`, `dashboard.*`, `tag.*` and `goal.*`, and your own types. The server emits the others.\n")
	family := ""
	for _, e := range catalogue.Types() {
		if e.Family != family {
			family = e.Family
			fmt.Fprintf(&b, "\n## `%s`\n", family)
			if !e.Available {
				fmt.Fprintf(&b, "\nThis family is turned off. Add `%s` to `eventFamilies` to turn it on.\n", family)
			}
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\n| Member of `data` | Type | |\n|---|---|---|\n", e.Name, e.Description)
		var schema struct {
			Properties map[string]map[string]any
		}
		if err := json.Unmarshal(e.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			description, _ := schema.Properties[name]["description"].(string)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, typeOf(schema.Properties[name]), reference.Cell(description))
		}
	}
	b.WriteString("\n## `test.ping`\n\nThe event that `POST /events/subscriptions/{id}/test` sends. Its `data` is an empty object, and its `resourceId` is the subscription.\n")
	reference.Check(t, ".", "events.md", b.String())
}

// typeOf names the types of a member of an event.
func typeOf(schema map[string]any) string {
	if several, ok := schema["anyOf"].([]any); ok {
		var names []string
		for _, s := range several {
			names = append(names, typeOf(s.(map[string]any)))
		}
		return strings.Join(names, " or ")
	}
	if values, ok := schema["enum"].([]any); ok {
		var names []string
		for _, v := range values {
			names = append(names, fmt.Sprintf("`%v`", v))
		}
		return strings.Join(names, " or ")
	}
	name, _ := schema["type"].(string)
	if items, ok := schema["items"].(map[string]any); ok {
		return name + " of " + typeOf(items)
	}
	return name
}

// TestReferenceOfMetrics finds the metrics by their names, which are literal texts in the code.
func TestReferenceOfMetrics(t *testing.T) {
	type metric struct{ kind, help, labels string }
	metrics := make(map[string]metric)
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, "internal/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			var m metric
			name := text(call.Args[0])
			if strings.HasPrefix(name, "feedmill_") && len(call.Args) > 1 {
				m.kind, m.help = "counter", text(call.Args[1])
				if len(call.Args) == 4 { // NewDesc
					m.kind, m.labels = "gauge", labels(call.Args[2])
				}
			} else if options, ok := call.Args[0].(*ast.CompositeLit); ok {
				inType(options, func(field string, value ast.Expr) {
					switch field {
					case "Name":
						name = text(value)
					case "Help":
						m.help = text(value)
					}
				})
				if kind, ok := options.Type.(*ast.SelectorExpr); ok {
					m.kind = strings.ToLower(strings.TrimSuffix(kind.Sel.Name, "Opts"))
				}
				if len(call.Args) > 1 {
					m.labels = labels(call.Args[1])
				}
			}
			if strings.HasPrefix(name, "feedmill_") && m.help != "" {
				metrics[name] = m
			}
			return true
		})
	}
	if len(metrics) < 25 {
		t.Fatalf("found %d metrics in the code", len(metrics))
	}
	var b strings.Builder
	b.WriteString("# Metrics\n\n`GET /metrics` returns these metrics of one replica in the Prometheus format, with those of the Go runtime and the process. [Monitor the server](../how-to/monitor.md) shows alerts.\n\n" +
		"| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		m := metrics[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, m.kind, m.labels, reference.Cell(m.help))
	}
	reference.Check(t, ".", "metrics.md", b.String())
}

// text is the value of a literal text, or of a format whose only number is the counted backlog.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, _ := strconv.Unquote(e.Value)
		return value
	case *ast.CallExpr:
		if len(e.Args) == 0 {
			return ""
		}
		return strings.ReplaceAll(text(e.Args[0]), "%d", strconv.Itoa(feedmill.MaxCountedBacklog))
	}
	return ""
}

func labels(e ast.Expr) string {
	list, ok := e.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	var names []string
	for _, l := range list.Elts {
		names = append(names, "`"+text(l)+"`")
	}
	return strings.Join(names, ", ")
}
