package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/reference"
)

func TestReferenceOfTools(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Tools for AI assistants\n\nThe MCP server at `/mcp` and `feedmill mcp` have these tools. [Connect an AI assistant](../how-to/connect-an-assistant.md) describes how to use them.\n\n")
	fmt.Fprintf(&b, "A result has at most %d rows and %d KB of text. If there are more, it has a `nextCursor`: pass it as `cursor` with the same other arguments. ", maxRows, maxBytes>>10)
	fmt.Fprintf(&b, "A message to the server has at most %d MiB.\n\nA call that fails returns the error, its cause and the next step, with `isError`.\n", maxMessage>>20)
	for _, tool := range tools() {
		scope := "api:read"
		if tool.writes() {
			scope = "api:write"
		}
		fmt.Fprintf(&b, "\n## `%s`\n\n%s Scope `%s`.\n\n| argument | type | description |\n|---|---|---|\n", tool.Name, tool.Description, scope)
		var schema struct {
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		text, err := json.Marshal(tool.InputSchema)
		if err == nil {
			err = json.Unmarshal(text, &schema)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			p := schema.Properties[name]
			if slices.Contains(schema.Required, name) {
				p.Type += ", required"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, p.Type, reference.Cell(p.Description))
		}
	}
	reference.Check(t, "../..", "mcp.md", b.String())
}
