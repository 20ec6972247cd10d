package rest

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// ResponseOf is how the records of a feed are read, of which
// [Definition.Public] was kept.
func ResponseOf(feedSpec []byte) (Response, error) {
	doc, err := parseDocument(feedSpec)
	if err != nil {
		return Response{}, fmt.Errorf("read the spec of a feed: %w", err)
	}
	r := newReading()
	response := readResponse(&object{strictjson.NewObject(&doc, "", r.faults.Note), r})
	if err := r.refusal(); err != nil {
		return Response{}, fmt.Errorf("read the spec of a feed: %w", err)
	}
	return response, nil
}

// Paginated reports whether there can be more than one page.
func (s *Spec) Paginated() bool { return s.pagination.kind != pagesNone }

// missing refuses a page that does not have what the path of the records leads
// through: there is nothing that could be empty.
func (r Response) missing(p feedmill.FetchedPage) error {
	if p.Format != "json" {
		return nil
	}
	path, err := jsonpath.Parse(r.Path)
	if err != nil {
		return nil // it was read before
	}
	container, ok := container(path)
	if !ok {
		return nil
	}
	found, err := find(context.Background(), p.Body, p.Body.Size(), container)
	if err != nil || found[0].kind != 0 {
		return nil
	}
	return fail("missing-path", nil,
		"The answer has nothing at %s, where response.path (%s) looks for the records. Correct the path, or set response.missing to \"empty\" where the source leaves it out when there are none.", container, path)
}

// container is the path to what holds the records: as far as it goes by names and
// numbers alone.
func container(path *jsonpath.Path) (*jsonpath.Path, bool) {
	steps, ok := path.Steps()
	if !ok {
		return nil, false
	}
	text := "$"
	for i := range steps {
		name, named := steps[i].Name()
		if !named {
			break
		}
		quoted := strictjson.String(name)
		text += "[" + string(quoted.Raw) + "]"
	}
	if text == "$" {
		return nil, false
	}
	container, err := jsonpath.Parse(text)
	return container, err == nil
}
