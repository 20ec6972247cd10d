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
	check(t, root, page, func(string) string { return notice + strings.TrimSpace(text) + "\n" })
}

// CheckPart compares a generated part of a page with its text, or writes it. The part is
// between the comments "generated: name" and "end of name".
func CheckPart(t testing.TB, root, page, name, text string) {
	t.Helper()
	begin, end := "<!-- generated: "+name+" -->\n\n", "\n<!-- end of "+name+" -->"
	check(t, root, page, func(stored string) string {
		before, rest, found := strings.Cut(stored, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("docs/reference/%s has no part %s", page, name)
		}
		return before + begin + strings.TrimSpace(text) + "\n" + end + after
	})
}

func check(t testing.TB, root, page string, generate func(stored string) string) {
	t.Helper()
	path := filepath.Join(root, "docs", "reference", page)
	stored, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	text := generate(string(stored))
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
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
