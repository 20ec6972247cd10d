package feedmill_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxDecisions is how many decision records there can be, so that a newcomer can read them all.
const maxDecisions = 45

// TestDecisionRecords checks that every decision record is short, complete and listed in
// the table of contents, and that the table lists nothing else.
func TestDecisionRecords(t *testing.T) {
	const folder = "docs/decisions"
	contents, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, link := range regexp.MustCompile(`(?m)^\| \[[^\]]+\]\(([^)]+)\) \|`).FindAllSubmatch(contents, -1) {
		listed[string(link[1])] = true
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	slug := regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)*\.md$`)
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !slug.MatchString(name) {
			t.Errorf("%s: name the record by its topic, such as delivery-leases.md", file)
		}
		if !listed[name] {
			t.Errorf("%s: add the record to the table of contents in %s/README.md", file, folder)
		}
		delete(listed, name)
		for _, heading := range []string{"\n## Context\n", "\n## Decision\n", "\n## Consequences\n", "\n## Alternatives"} {
			if !strings.Contains(string(text), heading) {
				t.Errorf("%s: the heading %q is missing", file, strings.TrimSpace(heading))
			}
		}
		if len(text) > 5000 {
			t.Errorf("%s: the record has %d bytes; shorten it to 5,000", file, len(text))
		}
	}
	for name := range listed {
		t.Errorf("%s/README.md lists %s, which does not exist", folder, name)
	}
	if n := len(files) - 1; n > maxDecisions {
		t.Errorf("there are %d decision records; merge or delete some, so that there are at most %d", n, maxDecisions)
	}
}
