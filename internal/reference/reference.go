// Package reference keeps the pages of docs/reference that are generated from code up to date.
// Run the tests with -update-reference to write them.
package reference

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update-reference", false, "write the generated pages of docs/reference")

// notice is at the top of every page.
const notice = "<!-- Generated from code. Change the code, then run the test of this page with -update-reference. -->\n\n"

// Check compares a page with its text, or writes it. root is the path of the repository.
func Check(t testing.TB, root, page, text string) {
	t.Helper()
	path := filepath.Join(root, "docs", "reference", page)
	text = notice + strings.TrimSpace(text) + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != text {
		t.Errorf("docs/reference/%s is out of date; run this test with -update-reference", page)
	}
}

// Cell is a text as a cell of a table.
func Cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", `\|`)
}

// Sentence is a text with a capital letter and a period.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
