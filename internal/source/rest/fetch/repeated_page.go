package fetch

import (
	"bytes"
	"hash/maphash"
	"io"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// repeated knows the records of a first page, to tell whether a later one has them again in
// an answer that is otherwise different: with another token, or the time that it took.
type repeated struct {
	hash uint64
	// sample is a part of them, which stands at this place of the page.
	sample []byte
	at     int64
}

const (
	maxRepeated = 8 << 20 // how long pages are that are compared
	maxSample   = 64
	maxShift    = 1 << 10 // how far what stands before the records may move them
)

// noteRepeated notes a page that has the records of the first one. It may be right, where
// records have nothing to tell them apart, and so it is no loop.
func (s *sequence) noteRepeated(a *answer, format string) {
	if s.job.Notes == nil || s.spec.Pagination.Kind == spec.PagesNone || format != "json" || a.size > maxRepeated {
		return
	}
	if a.step.number == 1 {
		s.opening = repeated{}
		data := make([]byte, a.size)
		n, _ := a.body.ReadAt(data, 0)
		if records := longestList(data[:n]); len(records) > len("[]") {
			middle := records[len(records)/2:]
			s.opening = repeated{hash: maphash.Bytes(hashSeed, records), sample: bytes.Clone(middle[:min(len(middle), maxSample)])}
			s.opening.at = int64(bytes.Index(data, s.opening.sample))
		}
		return
	}
	// Some sources give the last records again, and say that there are no more.
	if a.last || !s.opening.in(a.body, a.size) {
		return
	}
	if s.job.Notes.Same++; s.job.Notes.Same == 1 {
		s.job.Notes.SamePage = a.step.number
	}
}

// in reports whether a page has the records. Most do not have the sample where it would be,
// and are not read for this.
func (r *repeated) in(page io.ReaderAt, size int64) bool {
	if len(r.sample) == 0 {
		return false
	}
	from := max(r.at-maxShift, 0)
	near := make([]byte, min(max(size-from, 0), r.at-from+maxSample+maxShift))
	n, _ := page.ReadAt(near, from)
	if !bytes.Contains(near[:n], r.sample) {
		return false
	}
	data := make([]byte, size)
	n, _ = page.ReadAt(data, 0)
	return maphash.Bytes(hashSeed, longestList(data[:n])) == r.hash
}

// longestList is the text of the longest array of a document that is in no other, which is
// where the records are. What is wrong with the document is found by whoever reads it.
func longestList(data []byte) []byte {
	d := &find.Skimmer{Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	var longest []byte
	var look func(depth int) error
	look = func(depth int) error {
		switch kind := d.PeekKind(); {
		case kind == '[':
			raw, err := d.ReadValue()
			if len(raw) > len(longest) {
				longest = raw
			}
			return err
		case kind != '{' || depth >= maxNesting:
			return d.SkipValue()
		}
		if err := d.Bracket(); err != nil {
			return err
		}
		for d.PeekKind() != '}' {
			if _, err := d.Name(); err != nil {
				return err
			}
			if err := look(depth + 1); err != nil {
				return err
			}
		}
		return d.Bracket()
	}
	_ = look(0)
	return longest
}
