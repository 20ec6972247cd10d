package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/reference"
)

func TestReferenceOfOperations(t *testing.T) {
	doc := document()
	paths := doc["paths"].(map[string]any)
	var b strings.Builder
	b.WriteString("# HTTP API\n\nThese are all operations. A running server serves a page for each group at `/docs/`, and the OpenAPI document at `/openapi.json`.\n\n" +
		"Send an API key as `Authorization: Bearer fm_…`. Operations without a scope need no credential, except where the table says `any`.\n")
	listed := 0
	for _, tag := range doc["tags"].([]any) {
		name := tag.(map[string]any)["name"].(string)
		var rows strings.Builder
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			for _, method := range []string{"get", "post", "put", "patch", "delete"} {
				operation, ok := paths[path].(map[string]any)[method].(map[string]any)
				if !ok || operation["tags"].([]any)[0] != name {
					continue
				}
				listed++
				description, _ := operation["description"].(string)
				scope := ""
				if security, ok := operation["security"].([]any); !ok || len(security) > 0 {
					scope = "any"
					if _, rest, ok := strings.Cut(description, "Scope `"); ok {
						scope, _, _ = strings.Cut(rest, "`")
						scope = "`" + scope + "`"
					}
				}
				fmt.Fprintf(&rows, "| `%s %s` | %s | %s |\n", strings.ToUpper(method), path, scope, reference.Cell(reference.Sentence(operation["summary"].(string))))
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n| Operation | Scope | |\n|---|---|---|\n%s", name, rows.String())
		}
	}
	all := 0
	for _, item := range paths {
		all += len(item.(map[string]any))
	}
	if listed != all {
		t.Errorf("%d of %d operations are listed", listed, all)
	}
	reference.Check(t, "../../..", "http-api.md", b.String())
}
