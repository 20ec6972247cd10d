package spec

import (
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// ResponseOf is how the records of a feed are read, of which
// [Definition.Public] was kept under a version of the rules.
func ResponseOf(feedSpec []byte, rules feedmill.Rules) (Response, error) {
	doc, err := ParseDocument(feedSpec)
	if err != nil {
		return Response{}, fmt.Errorf("read the spec of a feed: %w", err)
	}
	r := newReading(rules)
	r.stored = true
	response := readResponse(&object{strictjson.NewObject(&doc, "", r.faults.Note), r})
	if err := r.refusal(); err != nil {
		return Response{}, fmt.Errorf("read the spec of a feed: %w", err)
	}
	return response, nil
}

// Paginated reports whether there can be more than one page.
func (s *Spec) Paginated() bool { return s.Pagination.Kind != PagesNone }

// ContextAlone is why values around the records cannot be columns of records that are written again.
const ContextAlone = "context cannot be combined with columns, names, values, keyAs or each.include. Remove one of them."

// CheckTabular refuses a page of a format that is no JSON where the definition of the
// feed is for JSON.
func (r Response) CheckTabular(format string) error {
	faults := r.tabularFaults()
	if strings.HasPrefix(r.Path, "$") {
		faults = append(faults, feedmill.Fault{Pointer: "/response/path", Detail: "The path is a JSONPath."})
	}
	if len(faults) == 0 {
		return nil
	}
	return Fail("wrong-content-type", nil, "The response is %s. %s: %s", format, strings.ReplaceAll(faults[0].Pointer[1:], "/", "."), faults[0].Detail)
}

// tabularFaults are what of a response is not for pages that are no JSON.
func (r Response) tabularFaults() (faults []feedmill.Fault) {
	note := func(pointer, detail string) {
		faults = append(faults, feedmill.Fault{Pointer: pointer, Detail: detail})
	}
	if r.Deleted != nil {
		note("/deleted", "deleted applies only to JSON; remove it.")
	}
	if r.Shape == nil {
		return faults
	}
	if r.Shape.Pairs != nil {
		note("/response/explode", "explode.as applies only to JSON; remove it.")
	}
	if len(r.Shape.Values) > 0 {
		note("/response/names", "names and values apply only to JSON. Remove them.")
	}
	if r.Shape.KeyAs != "" {
		note("/response/keyAs", "keyAs applies only to JSON. Remove it.")
	}
	for _, c := range r.Shape.Columns {
		if c.Path == nil {
			continue // which is a fault of its own
		}
		at := c.at
		if ColumnOf(c.Path) == "" {
			note(at+"/path", "In formats other than JSON, path must be a column name, such as $.amount or $['Net amount'].")
		}
		if c.As != "" && c.As != "text" {
			note(at+"/type", "In formats other than JSON, the type of an entry with path can only be text. Use an entry with sourceName to set another type.")
		}
	}
	return faults
}
