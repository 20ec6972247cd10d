package manual

import (
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// book is the whole documentation, rendered.
type book struct {
	pages map[string]*page
	// Guides and API are the entries of the navigation.
	Guides, API []section
	entries     []entry
}

// page is one page. Path is its address below /docs/.
type page struct {
	Path, Title string
	// Summary is the first paragraph. It is the Lead, set apart, where it has no links or code.
	Summary, Lead string
	// Kind chooses the template: guide, group (of operations), search or missing.
	Kind string
	// Crumbs lead to the page.
	Crumbs []link
	HTML   template.HTML
	TOC    []heading
	// Long pages have no second list of headings, which narrow windows show.
	Long bool
	// Source is the path of the Markdown; empty for pages of the API reference.
	Source     string
	Operations []operation
}

type section struct {
	Title string
	Links []link
}

type link struct{ Title, Path string }

type heading struct {
	Level     int
	Text, ID  string
	Paragraph string
}

// newBook renders all pages.
func newBook(files fs.FS, document []byte) *book {
	b := &book{pages: make(map[string]*page)}
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		p := render(file, text)
		b.pages[p.Path] = p
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	b.Guides = b.navigation(files)
	b.addAPI(document)
	for _, at := range slices.Sorted(maps.Keys(b.pages)) {
		p := b.pages[at]
		p.Crumbs = b.crumbs(p)
		b.enter(p)
	}
	return b
}

// Has reports whether there is a page.
func (b *book) Has(at string) bool { return b.pages[at] != nil }

// address is the path of a file's page: README.md is the index of its folder.
func address(file string) string {
	file = strings.TrimSuffix(file, ".md")
	if path.Base(file) == "README" {
		file = strings.TrimPrefix(path.Dir(file), ".")
	}
	return file
}

// navigation lists the pages that the indexes of docs and of docs/reference link to, in their order.
func (b *book) navigation(files fs.FS) []section {
	var sections []section
	for _, index := range []string{"README.md", "reference/README.md"} {
		text, err := fs.ReadFile(files, index)
		if err != nil {
			panic(err) // the files are part of the program
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if title, ok := strings.CutPrefix(line, "## "); ok && index == "README.md" {
				sections = append(sections, section{Title: title})
			}
			if title, ok := strings.CutSuffix(line, ":"); ok && !strings.HasPrefix(line, "-") && len(sections) > 0 && index == "README.md" {
				if last := &sections[len(sections)-1]; len(last.Links) == 0 {
					last.Title = title
				} else {
					sections = append(sections, section{Title: title})
				}
			}
			m := listed.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			at := address(path.Join(path.Dir(index), m[2]))
			into := len(sections) - 1
			if index != "README.md" {
				into = slices.IndexFunc(sections, func(s section) bool { return s.Title == "Reference" })
			}
			sections[into].Links = append(sections[into].Links, link{m[1], at})
		}
	}
	return sections
}

func (b *book) crumbs(p *page) []link {
	crumbs := []link{{"Docs", ""}}
	if p.Path == "" {
		return nil
	}
	if folder := path.Dir(p.Path); folder != "." {
		at := folder
		if b.pages[at] == nil {
			at = ""
		}
		crumbs = append(crumbs, link{folders[folder], at})
	}
	return crumbs
}

var folders = map[string]string{
	"get-started": "Get started", "how-to": "How-to", "reference": "Reference", "concepts": "Concepts", "decisions": "Decisions", "api": "API reference",
}
