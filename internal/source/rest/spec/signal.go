package spec

import (
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// Signal is a place where a source says something of its pages: in the document,
// or in a header.
type Signal struct {
	Path   *jsonpath.Path
	Header string
}

// signal reads where the source says something of its pages: a JSONPath, or an
// object with the name of a header.
func (o *object) signal(name string) *Signal {
	f, ok := o.Given(name)
	switch {
	case !ok:
		return nil
	case f.Kind == '"':
		return &Signal{Path: o.path(name, true)}
	case f.Kind != '{':
		f.Fault(`This must be a JSONPath such as "$.meta.more", or {"header": "X-Total-Count"}.`)
		return nil
	}
	in := o.inner(f)
	s := &Signal{Header: in.needText("header")}
	in.RefuseUnknown()
	return s
}

// lookedFor are the paths that are looked for in every answer.
func (s *Spec) lookedFor() (paths []*jsonpath.Path) {
	p := &s.Pagination
	if p.Path != nil {
		paths = append(paths, p.Path)
	}
	for _, signal := range []*Signal{p.More, p.End, p.Total, p.TotalPages} {
		if signal != nil && signal.Path != nil {
			paths = append(paths, signal.Path)
		}
	}
	for _, rule := range s.Rules {
		if rule.Path != nil {
			paths = append(paths, rule.Path)
		}
		if rule.Says != nil {
			paths = append(paths, rule.Says)
		}
	}
	return paths
}

// Counts reports whether pages are counted, by whoever asks for them.
func (p *Pagination) Counts() bool { return p.Kind == PagesOffset || p.Kind == PagesNumber }
