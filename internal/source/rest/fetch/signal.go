package fetch

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// at is what a path of the spec led to in an answer.
func (a *answer) at(path *jsonpath.Path) find.Value {
	for i, looked := range a.paths {
		if looked == path && i < len(a.found) {
			return a.found[i]
		}
	}
	return find.Value{}
}

// signalled is what the source says at a place, the zero value where it says
// nothing.
func (a *answer) signalled(s *spec.Signal) find.Value {
	switch {
	case s == nil:
		return find.Value{}
	case s.Header == "":
		return a.at(s.Path)
	}
	texts := a.header.Values(s.Header)
	if len(texts) == 0 {
		return find.Value{}
	}
	quoted := strictjson.String(strings.TrimSpace(texts[0]))
	return find.Value{Kind: '"', Raw: jsontext.Value(quoted.Raw)}
}

// saysLast reports whether the source says that no page comes after this one. What
// it does not say ends nothing.
func saysLast(p *spec.Pagination, a *answer) bool {
	if more := a.signalled(p.More); more.Kind != 0 && !more.Affirmative() {
		return true
	}
	end := a.signalled(p.End)
	return end.Affirmative()
}

// totalReached reports whether so many records, in this page and those before it, or so
// many pages are all that the source says there are.
func totalReached(p *spec.Pagination, a *answer, records int64) bool {
	// A total that there are more records than is none: sources that do not count say
	// 0, and some count something else.
	total := a.signalled(p.Total)
	if n, ok := total.Number(); ok && records == n {
		return true
	}
	return pagesReached(p, a)
}

func pagesReached(p *spec.Pagination, a *answer) bool {
	pages := a.signalled(p.TotalPages)
	n, ok := pages.Number()
	at := int64(a.step.number)
	if p.Kind == spec.PagesNumber && p.Start > 0 {
		at = a.step.count // it may have begun in the middle
	}
	return ok && at >= n
}
