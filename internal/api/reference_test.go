package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/reference"
)

func TestReferenceOfOutputFormats(t *testing.T) {
	var b strings.Builder
	b.WriteString("| `format` | `Accept` | Content type | Rows |\n|---|---|---|---|\n")
	for _, f := range outputFormats {
		rows := "all"
		if f.paged {
			rows = "a page"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | %s |\n", f.name, strings.Join(f.types, "`, `"), f.contentType, rows)
		if !strings.Contains(outputNames, f.name) {
			t.Errorf("%q does not name %s", outputNames, f.name)
		}
	}
	reference.CheckPart(t, "../..", "formats.md", "output", b.String())
}
