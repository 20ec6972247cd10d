package rest

import (
	"fmt"

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
