package fetch

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/feedmill/feedmill/internal/source/rest/find"
)

// The members by which a list inside a record says that it has more pages: with the value
// true beside the elements or in the pageInfo of GraphQL, or as an address.
var (
	nestedTruths = nameSet("hasNextPage", "has_more", "hasMore")
	nestedNames  = [][]byte{[]byte(`"hasNextPage"`), []byte(`"has_more"`), []byte(`"hasMore"`), []byte(nestedNextLink + `"`), []byte(`"` + nestedRecords + `"`)}
)

// The names of such addresses: the end of that in OData, after the name of the list, and
// that of Salesforce.
const (
	nestedNextLink = "@odata.nextLink"
	nestedRecords  = "nextRecordsUrl"
)

// maxNesting is how many objects and arrays a list is looked for in.
const maxNesting = 64

// noteCut notes the lists inside records that have more pages, which no pagination asks
// for: that of a feed leads from records to records.
func (s *sequence) noteCut(a *answer, format string) {
	if s.job.Notes == nil || format != "json" || a.size > find.MaxTree {
		return
	}
	// Sources that cut lists say of all of them whether they have, and name the next page of
	// the records in the same way: where the first page has no such name the others are not
	// looked through, because reading everything twice is dear.
	if a.step.number == 1 {
		s.whole = !mentions(a.body, a.size, nestedNames)
	}
	if s.whole {
		return
	}
	n := nested{d: find.OpenDocument(a.body, a.size), followed: s.spec.Pagination.Inside()}
	// What is wrong with the document is found by whoever reads it.
	_ = n.next(0)
	if n.count == 0 {
		return
	}
	if s.job.Notes.Cut == 0 {
		s.job.Notes.Where = n.where
	}
	s.job.Notes.Cut += n.count
}

// mentions reports whether one of the texts stands in a document.
func mentions(doc io.ReaderAt, size int64, texts [][]byte) bool {
	data := make([]byte, size)
	n, _ := doc.ReadAt(data, 0)
	for _, text := range texts {
		if bytes.Contains(data[:n], text) {
			return true
		}
	}
	return false
}

// nested finds the lists inside records that have more pages.
type nested struct {
	d find.Document
	// names lead to where it is, and arrays counts those among them.
	names  []string
	arrays int
	// followed are the paths by which pages are asked for: what stands there is not cut.
	followed []string
	count    int64
	where    string // the first of them
}

var errNoValue = errors.New("no value where one should be")

// next looks into the value that comes next.
func (n *nested) next(depth int) error {
	switch kind := n.d.PeekKind(); {
	case kind == 0:
		return errNoValue
	case kind == '{' && depth < maxNesting:
		return n.object(depth)
	case kind == '[' && depth < maxNesting:
		return n.array(depth)
	}
	return n.d.SkipValue()
}

func (n *nested) array(depth int) error {
	if err := n.d.Bracket(); err != nil {
		return err
	}
	n.arrays++
	n.names = append(n.names, "[*]")
	for n.d.PeekKind() != ']' {
		if err := n.next(depth + 1); err != nil {
			return err
		}
	}
	n.names = n.names[:len(n.names)-1]
	n.arrays--
	return n.d.Bracket()
}

func (n *nested) object(depth int) error {
	if err := n.d.Bracket(); err != nil {
		return err
	}
	truth, list := "", false
	for n.d.PeekKind() != '}' {
		raw, err := n.d.Name()
		if err != nil {
			return err
		}
		name, kind := string(raw), n.d.PeekKind()
		list = list || kind == '['
		switch {
		case kind == 't' && nestedTruths[name]:
			truth = name
		case kind == '"' && (name == nestedRecords || strings.HasSuffix(name, nestedNextLink)):
			n.found(name)
		}
		n.names = append(n.names, "."+name)
		if err := n.next(depth + 1); err != nil {
			return err
		}
		n.names = n.names[:len(n.names)-1]
	}
	if truth != "" && (list || len(n.names) > 0 && (n.names[len(n.names)-1] == ".pageInfo" || n.names[len(n.names)-1] == ".page_info")) {
		n.found(truth)
	}
	return n.d.Bracket()
}

// found counts a list that has more, where it is in a record.
func (n *nested) found(name string) {
	if n.arrays == 0 {
		return
	}
	here := "$" + strings.Join(n.names, "") + "."
	for _, path := range n.followed {
		if strings.HasPrefix(path, here) && !strings.Contains(path[len(here):], "[") && !strings.Contains(path[len(here):], ".") {
			return
		}
	}
	if n.count++; n.count == 1 {
		n.where = here + name
	}
}
