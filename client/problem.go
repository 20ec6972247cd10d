package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Problem is an error that the server answered with (RFC 9457). It matches
// the sentinel of the package feedmill for its kind, such as
// [feedmill.ErrNotFound].
type Problem struct {
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Detail    string  `json:"detail"`
	Instance  string  `json:"instance"`
	RequestID string  `json:"requestId,omitzero"`
	Errors    []Fault `json:"errors,omitzero"`
	// CreationURL is where a person connects a service that nobody else can.
	CreationURL string `json:"creationUrl,omitzero"`
	// Source is what the source said, and Trace what it was asked for, of a
	// preview whose fetch failed.
	Source *feedmill.SourceAnswer `json:"source,omitzero"`
	Trace  []TracedRequest        `json:"trace,omitzero"`
	// Handle stands for the data of a preview that failed, where it is held.
	Handle *PreviewHandle `json:"handle,omitzero"`

	// RetryAfter is when to try again, where the server said so.
	RetryAfter time.Duration `json:"-"`
	// Document is the whole problem document as it came; nil where the
	// answer was something else.
	Document json.RawMessage `json:"-"`
}

// Fault is one place of the request that is wrong.
type Fault struct {
	Pointer   string `json:"pointer,omitzero"`
	Parameter string `json:"parameter,omitzero"`
	Header    string `json:"header,omitzero"`
	Detail    string `json:"detail"`
}

// Where is the place: a JSON Pointer into the body, the name of a parameter,
// or that of a header. It is empty where the whole body is meant.
func (f Fault) Where() string { return f.Pointer + f.Parameter + f.Header }

func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d): %s", p.Title, p.Status, p.Detail)
	for _, f := range p.Errors {
		fmt.Fprintf(&b, "\n  %s: %s", f.Where(), f.Detail)
	}
	if p.RequestID != "" {
		fmt.Fprintf(&b, "\n  request ID: %s", p.RequestID)
	}
	return b.String()
}

// Kind is the stable name of the problem, such as "not-found".
func (p *Problem) Kind() string { return strings.TrimPrefix(p.Type, "/problems/") }

// Temporary reports whether the same request may succeed later.
func (p *Problem) Temporary() bool {
	return p.Status == http.StatusTooManyRequests || p.Status >= 500
}

// kinds are the sentinels of the statuses that problems have.
var kinds = map[int]error{
	http.StatusBadRequest:            feedmill.ErrInvalid,
	http.StatusUnauthorized:          feedmill.ErrUnauthenticated,
	http.StatusForbidden:             feedmill.ErrForbidden,
	http.StatusNotFound:              feedmill.ErrNotFound,
	http.StatusConflict:              feedmill.ErrConflict,
	http.StatusRequestEntityTooLarge: feedmill.ErrTooLarge,
	http.StatusUnsupportedMediaType:  feedmill.ErrUnsupported,
	http.StatusUnprocessableEntity:   feedmill.ErrUnprocessable,
	http.StatusTooManyRequests:       feedmill.ErrTooMany,
	http.StatusServiceUnavailable:    feedmill.ErrUnavailable,
	http.StatusInsufficientStorage:   feedmill.ErrNoRoom,
}

// Is reports whether target is the sentinel of the problem's kind.
func (p *Problem) Is(target error) bool {
	kind, ok := kinds[p.Status]
	return ok && target == kind
}

// problemOf is the problem that an answer tells of, whatever form it has.
func problemOf(resp *http.Response, text []byte) *Problem {
	p := new(Problem)
	if json.Unmarshal(text, p) == nil && p.Title != "" {
		p.Document = text
	} else {
		*p = Problem{
			Title:  http.StatusText(resp.StatusCode),
			Detail: "The response is not from Feedmill. Check the server's address.",
		}
	}
	p.Status = resp.StatusCode
	p.RetryAfter = retryAfter(resp.Header.Get("Retry-After"))
	return p
}

// retryAfter reads the header of that name: seconds, or a point in time.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
