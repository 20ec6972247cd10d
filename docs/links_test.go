package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	heading = regexp.MustCompile(`^#{1,6} (.*)`)
	link    = regexp.MustCompile(`!?\[[^\[\]]*\]\(([^()\s]+)\)`)
	markup  = regexp.MustCompile("`|\\*|\\[|\\]\\([^)]*\\)|\\]")
)

// TestLinks checks that every link of the documentation leads to a file or a heading, and that
// every page can be reached from the README of the project.
func TestLinks(t *testing.T) {
	pages := make(map[string]page)
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "bin"):
			return fs.SkipDir
		case strings.HasSuffix(file, ".md"):
			pages[filepath.ToSlash(filepath.Clean(file))] = readPage(t, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, p := range pages {
		for _, target := range p.links {
			if fault := broken(pages, file, target); fault != "" {
				t.Errorf("%s: the link to %s is broken: %s", file, target, fault)
			}
		}
	}
	reached := map[string]bool{"../README.md": true}
	for open := []string{"../README.md"}; len(open) > 0; {
		file := open[0]
		open = open[1:]
		for _, target := range pages[file].links {
			name, _, _ := strings.Cut(target, "#")
			if to := path.Join(path.Dir(file), name); pages[to].read && !reached[to] {
				reached[to] = true
				open = append(open, to)
			}
		}
	}
	for file := range pages {
		if strings.HasPrefix(file, "../docs/") && !reached[file] {
			t.Errorf("no link leads from README.md to %s", strings.TrimPrefix(file, "../"))
		}
	}
}

// TestAnchor checks anchors against those that GitHub makes.
func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"Verify a signature":   "verify-a-signature",
		"Node.js":              "nodejs",
		"4-byte floats":        "4-byte-floats",
		"Google Analytics (4)": "google-analytics-4",
		"`GET` deliveries":     "get-deliveries",
	} {
		if got := Anchor(heading); got != want {
			t.Errorf("the anchor of %q is %q, want %q", heading, got, want)
		}
	}
}

// page is what a file links to, and can be linked to by.
type page struct {
	read           bool
	links, anchors []string
}

func readPage(t *testing.T, file string) page {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := page{read: true}
	fenced := false
	var prose strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if m := heading.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			anchor := Anchor(markup.ReplaceAllString(m[1], ""))
			for n, first := 1, anchor; slices.Contains(p.anchors, anchor); n++ {
				anchor = fmt.Sprintf("%s-%d", first, n)
			}
			p.anchors = append(p.anchors, anchor)
		}
		prose.WriteString(line)
	}
	for _, m := range link.FindAllStringSubmatch(prose.String(), -1) {
		if !strings.Contains(m[1], ":") {
			p.links = append(p.links, m[1])
		}
	}
	return p
}

// broken returns what is wrong with a link.
func broken(pages map[string]page, from, target string) string {
	name, anchor, _ := strings.Cut(target, "#")
	to := from
	if name != "" {
		to = path.Join(path.Dir(from), name)
	}
	if _, err := os.Stat(to); err != nil {
		return "there is no such file"
	}
	if anchor != "" && !slices.Contains(pages[to].anchors, anchor) {
		return "there is no such heading"
	}
	return ""
}
