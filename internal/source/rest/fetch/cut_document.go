package fetch

import (
	"bytes"
	"mime"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// maxWholeChecked is how long a document may be for its brackets to be counted
// before its records are read.
const maxWholeChecked = 8 << 20

// requireComplete refuses a document of JSON whose brackets do not close, or behind which
// there is something else: an answer that was cut on its way to whoever sent it. It
// may be whole the next time. What is wrong inside is found by whoever reads it.
func (r *sequence) requireComplete(a *answer, o outcome) outcome {
	mediaType, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	format, known := spec.PageFormats.OfMediaType(mediaType)
	if !known {
		format, known = spec.PageFormats.OfSuffix(mediaType)
	}
	isJSON := known && format.Name == "json" || r.job.Format == "json"
	if !isJSON || a.size == 0 || a.size > maxWholeChecked {
		return o
	}
	data := a.text
	if data == nil {
		data = make([]byte, a.size)
		if n, _ := a.body.ReadAt(data, 0); int64(n) < a.size {
			return o
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(data) > 1 && (data[0] == 0 || data[1] == 0) {
		return o // UTF-16, whose bytes say something else
	}
	s := r.scanWhole(a, data)
	for s.PeekKind() == '{' || s.PeekKind() == '[' {
		if s.SkipValue() != nil {
			cut := outcome{err: spec.Fail("source-truncated", nil, "The response is truncated JSON."), retry: true, bytes: o.bytes}
			return cut
		}
	}
	return o
}

// scanWhole looks for what the paths of the spec lead to, and returns the document from where its
// first value ends, so that one look at most of it is enough. Where that is not to be
// had it returns the document from its beginning.
func (r *sequence) scanWhole(a *answer, data []byte) *find.Skimmer {
	from := &find.Skimmer{Data: data}
	a.paths, a.scanErr, a.unread, a.scanned = r.spec.Paths, nil, false, true
	if len(a.paths) == 0 {
		return from
	}
	s := &find.Skimmer{Data: data}
	found, err := find.ValuesIn(a.request.Context(), func() find.Document { return s }, a.body, a.size, a.paths)
	r.scanned(a, found, err)
	if err != nil || s.At == 0 || s.SkipRest() != nil {
		return from
	}
	return s
}
