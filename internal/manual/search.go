package manual

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxQuery is how many bytes of a query are used.
	maxQuery = 200
	// maxFound is how many results are shown.
	maxFound = 8
	// maxText is how many bytes of a paragraph are searched.
	maxText = 160
)

// entry is a page or one of its headings.
type entry struct {
	Group string `json:"g"`
	Title string `json:"t"`
	Path  string `json:"p"`
	Page  string `json:"h,omitempty"`
	Text  string `json:"x,omitempty"`
}

// group has the results of one part of the documentation.
type group struct {
	Title   string
	Entries []entry
}

// enter adds a page and its headings to the index.
func (b *book) enter(p *page) {
	name := "Guides"
	if i := strings.Index(p.Path, "/"); i > 0 {
		name = cmp.Or(folders[p.Path[:i]], name)
	}
	b.entries = append(b.entries, entry{Group: name, Title: p.Title, Path: "/docs/" + p.Path, Text: cut(p.Summary)})
	for _, h := range p.TOC {
		b.entries = append(b.entries, entry{Group: name, Title: h.Text, Path: "/docs/" + p.Path + "#" + h.ID, Page: p.Title, Text: cut(h.Paragraph)})
	}
}

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	s = s[:maxText]
	return s[:max(strings.LastIndexByte(s, ' '), 0)] + "…"
}

// index is the search index for the script.
func (b *book) index() []byte {
	text, err := json.Marshal(b.entries)
	if err != nil {
		panic(err) // entries are plain strings
	}
	return text
}

// find returns the best results for a query, grouped. Every word must occur.
func (b *book) find(query string) []group {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	type scored struct {
		entry
		score int
	}
	var found []scored
	for _, e := range b.entries {
		if score := e.score(words); score > 0 {
			found = append(found, scored{e, score})
		}
	}
	slices.SortStableFunc(found, func(x, y scored) int { return y.score - x.score })
	var groups []group
	for _, f := range found[:min(len(found), maxFound)] {
		i := slices.IndexFunc(groups, func(g group) bool { return g.Title == f.Group })
		if i < 0 {
			groups = append(groups, group{Title: f.Group})
			i = len(groups) - 1
		}
		groups[i].Entries = append(groups[i].Entries, f.entry)
	}
	return groups
}

// score is 0 if a word is missing. A word in the title weighs more than one in the text, and
// a page more than a heading.
func (e entry) score(words []string) int {
	title, text := strings.ToLower(e.Title), strings.ToLower(e.Page+" "+e.Text)
	score := 0
	for _, w := range words {
		switch {
		case strings.HasPrefix(title, w):
			score += 12
		case strings.Contains(title, w):
			score += 8
		case strings.Contains(text, w):
			score += 2
		default:
			return 0
		}
	}
	if e.Page == "" {
		score += 3
	}
	return score
}

// nearest returns the three pages whose names have most words in common with a path.
func (b *book) nearest(at string) []entry {
	words := strings.FieldsFunc(strings.ToLower(at), func(r rune) bool { return r == '/' || r == '-' || r == '.' })
	common := func(e entry) int {
		n := 0
		for _, w := range words {
			if len(w) > 2 && strings.Contains(e.Path, w) {
				n++
			}
		}
		return n
	}
	pages := slices.DeleteFunc(slices.Clone(b.entries), func(e entry) bool { return e.Page != "" })
	slices.SortStableFunc(pages, func(x, y entry) int { return common(y) - common(x) })
	return pages[:min(3, len(pages))]
}
