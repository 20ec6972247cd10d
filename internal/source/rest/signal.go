package rest

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// signal is a place where a source says something of its pages: in the document,
// or in a header.
type signal struct {
	path   *jsonpath.Path
	header string
}

// signal reads where the source says something of its pages: a JSONPath, or an
// object with the name of a header.
func (o *object) signal(name string) *signal {
	f, ok := o.Given(name)
	switch {
	case !ok:
		return nil
	case f.Kind == '"':
		return &signal{path: o.path(name, true)}
	case f.Kind != '{':
		f.Fault(`This must be a JSONPath such as "$.meta.more", or {"header": "X-Total-Count"}.`)
		return nil
	}
	in := o.inner(f)
	s := &signal{header: in.needText("header")}
	in.RefuseUnknown()
	return s
}

// lookedFor are the paths that are looked for in every answer.
func (s *Spec) lookedFor() (paths []*jsonpath.Path) {
	p := &s.pagination
	if p.path != nil {
		paths = append(paths, p.path)
	}
	for _, signal := range []*signal{p.more, p.end, p.total, p.totalPages} {
		if signal != nil && signal.path != nil {
			paths = append(paths, signal.path)
		}
	}
	for _, rule := range s.rules {
		if rule.path != nil {
			paths = append(paths, rule.path)
		}
		if rule.says != nil {
			paths = append(paths, rule.says)
		}
	}
	return paths
}

// at is what a path of the spec led to in an answer.
func (a *answer) at(path *jsonpath.Path) value {
	for i, looked := range a.paths {
		if looked == path && i < len(a.found) {
			return a.found[i]
		}
	}
	return value{}
}

// signalled is what the source says at a place, the zero value where it says
// nothing.
func (a *answer) signalled(s *signal) value {
	switch {
	case s == nil:
		return value{}
	case s.header == "":
		return a.at(s.path)
	}
	texts := a.header.Values(s.header)
	if len(texts) == 0 {
		return value{}
	}
	quoted := strictjson.String(strings.TrimSpace(texts[0]))
	return value{kind: '"', raw: jsontext.Value(quoted.Raw)}
}

// affirmative is whether a value means yes: something is there, and it is not the word
// no in a form that sources write.
func (v *value) affirmative() bool {
	text, _ := v.text()
	switch strings.ToLower(text) {
	case "false", "0", "no", "n":
		return false
	}
	return v.isSet()
}

// number is the value as a count.
func (v *value) number() (int64, bool) {
	text, ok := v.text()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return int64(n), err == nil && n >= 0 && n < 1<<53
}

// saysLast reports whether the source says that no page comes after this one. What
// it does not say ends nothing.
func (p *pagination) saysLast(a *answer) bool {
	if more := a.signalled(p.more); more.kind != 0 && !more.affirmative() {
		return true
	}
	end := a.signalled(p.end)
	return end.affirmative()
}

// reached reports whether so many records, in this page and those before it, or so
// many pages are all that the source says there are.
func (p *pagination) reached(a *answer, records int64) bool {
	// A total that there are more records than is none: sources that do not count say
	// 0, and some count something else.
	total := a.signalled(p.total)
	if n, ok := total.number(); ok && records == n {
		return true
	}
	return p.pagesReached(a)
}

func (p *pagination) pagesReached(a *answer) bool {
	pages := a.signalled(p.totalPages)
	n, ok := pages.number()
	at := int64(a.step.number)
	if p.kind == pagesNumber && p.start > 0 {
		at = a.step.count // it may have begun in the middle
	}
	return ok && at >= n
}

// counts reports whether pages are counted, by whoever asks for them.
func (p *pagination) counts() bool { return p.kind == pagesOffset || p.kind == pagesNumber }
