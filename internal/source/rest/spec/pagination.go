package spec

import (
	"regexp"
	"slices"
	"strings"
)

var indexes = regexp.MustCompile(`\[-?\d+\]`)

// Inside are the paths by which pages are followed, with any element for a certain one.
func (p *Pagination) Inside() (paths []string) {
	if p.Path != nil {
		paths = append(paths, p.Path.String())
	}
	for _, s := range []*Signal{p.More, p.End} {
		if s != nil && s.Path != nil {
			paths = append(paths, s.Path.String())
		}
	}
	for i, path := range paths {
		paths[i] = indexes.ReplaceAllString(path, "[*]")
	}
	return paths
}

// LooksInside reports whether the document itself says what the next page is.
func (p *Pagination) LooksInside() bool {
	return slices.ContainsFunc([]*Signal{{Path: p.Path}, p.More, p.End, p.Total, p.TotalPages}, func(s *Signal) bool { return s != nil && s.Path != nil })
}

// Members are the JSONPaths of what leads from page to page, or in XML the names that it has
// around the records.
func (p *Pagination) Members() (paths []string) {
	if p.Path != nil {
		paths = append(paths, p.Path.String())
	}
	if p.Outside != nil && len(p.Outside.Element) > 0 {
		name := strings.Join(p.Outside.Element[1:], ".")
		paths = append(paths, name, name+".@rel", name+".@"+p.Outside.Attribute)
	}
	for _, s := range []*Signal{p.More, p.End, p.Total, p.TotalPages} {
		if s != nil && s.Path != nil {
			paths = append(paths, s.Path.String())
		}
	}
	return paths
}
