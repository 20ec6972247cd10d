package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/reference"
)

func TestReferenceOfFormats(t *testing.T) {
	var b strings.Builder
	b.WriteString("| `format` | Media types | File extensions | Options |\n|---|---|---|---|\n")
	for _, f := range Formats().Readable() {
		types := f.MediaTypes
		if f.Suffix != "" {
			types = append(types[:len(types):len(types)], "*"+f.Suffix)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, codes(types), codes(f.Extensions), codes(f.Parameters))
	}
	reference.CheckPart(t, "../..", "formats.md", "formats", b.String())
}

// codes lists texts as code.
func codes(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, "`, `") + "`"
}
