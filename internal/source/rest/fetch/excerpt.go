package fetch

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

const (
	// maxExcerpt is how much of an answer or of a body is shown.
	maxExcerpt = 2 << 10
	// maxHead is how much of an answer is looked at for that: secrets are found
	// in it whole, also where they would be cut.
	maxHead = 16 << 10
)

// shownAnswer is what is shown of a request and its answer, which begins with head.
func shownAnswer(m *spec.Mask, request *http.Request, status int, head []byte) *feedmill.SourceAnswer {
	return &feedmill.SourceAnswer{Status: status, Request: shownRequest(m, request), Excerpt: excerpt(m, head)}
}

// shownRequest is what is shown of a request.
func shownRequest(m *spec.Mask, request *http.Request) feedmill.SourceRequest {
	shown := feedmill.SourceRequest{Method: request.Method, URL: m.URL(request.URL), Headers: slices.Sorted(maps.Keys(request.Header))}
	if request.GetBody != nil {
		if body, err := request.GetBody(); err == nil {
			text, _ := io.ReadAll(io.LimitReader(body, maxHead))
			if strings.HasPrefix(request.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
				text = []byte(m.Pairs(string(text)))
			}
			shown.Body = excerpt(m, text)
		}
	}
	return shown
}

// excerpt is the beginning of a text without its secrets.
func excerpt(m *spec.Mask, head []byte) string {
	text := m.Text(strings.ToValidUTF8(string(head), "\uFFFD"))
	if len(text) > maxExcerpt {
		text = strings.ToValidUTF8(text[:maxExcerpt], "")
	}
	return strings.ReplaceAll(text, "\x00", "\uFFFD")
}

// with is an error with what the source said, where it is a failure that does not
// tell already.
func with(err error, said *feedmill.SourceAnswer) error {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || failure.Said != nil || said == nil {
		return err
	}
	told := *failure
	told.Said = said
	return &told
}

// spooled is the beginning of what was spooled last, of so many bytes.
func (r *sequence) spooled(from, size int64) []byte {
	head := make([]byte, min(size, maxHead))
	n, _ := r.lane.file.ReadAt(head, from)
	return head[:n]
}

// fail has a page that was received be the reason of a failure: its trace and the
// failure show what the source said. Data that cannot be read is such a failure,
// too.
func (s *sequence) fail(a *answer, err error) error {
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && errors.Is(err, feedmill.ErrUnprocessable) {
		err = &feedmill.SourceFailure{Type: refusal.Type, Title: spec.Titles["data"], Detail: spec.UpperFirst(refusal.Detail), Cause: err}
	}
	if _, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || a.request == nil {
		return err
	}
	var head []byte
	if a.body != nil {
		head = s.spooled(a.start, a.size)
	}
	said := shownAnswer(s.mask, a.request, a.status, head)
	if n := len(a.traced); n > 0 {
		t := &a.traced[n-1]
		t.Request, t.Excerpt, t.Error = &said.Request, said.Excerpt, feedmill.CutText(s.mask.Text(err.Error()), feedmill.MaxErrorDetail)
	}
	return with(err, said)
}
