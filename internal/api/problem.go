package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// kinds is the one table from the domain's kinds of refusal to HTTP.
var kinds = []struct {
	kind   error
	status int
	slug   string
	title  string
	detail string
}{
	{feedmill.ErrInvalid, http.StatusBadRequest, "invalid-request", "The request is not valid", "Fix the fields listed in errors and retry."},
	{feedmill.ErrUnauthenticated, http.StatusUnauthorized, "unauthenticated", "Authentication is required", "Send an API key as 'Authorization: Bearer fm_…'."},
	{feedmill.ErrForbidden, http.StatusForbidden, "forbidden", "The credential does not allow this", "Use a credential that has the required scope."},
	{feedmill.ErrNotFound, http.StatusNotFound, "not-found", "The resource was not found", "Check the path and the ID: the resource does not exist in this workspace."},
	{feedmill.ErrConflict, http.StatusConflict, "conflict", "The request conflicts with the current state", "Fetch the resource again and retry."},
	{feedmill.ErrTooLarge, http.StatusRequestEntityTooLarge, "too-large", "The request is too large", "Split the request into smaller ones."},
	{feedmill.ErrUnsupported, http.StatusUnsupportedMediaType, "unsupported-format", "The format is not supported", "Send one of the formats that the Accept-Post header lists."},
	{feedmill.ErrUnprocessable, http.StatusUnprocessableEntity, "unprocessable", "The data cannot be modelled", "Fix the data at the reported position and send it again."},
	{feedmill.ErrTooMany, http.StatusTooManyRequests, "too-many-requests", "Too many requests", "Retry after the time in the Retry-After header."},
	{feedmill.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", "The service is temporarily unavailable", "Nothing was changed. Retry after the time in the Retry-After header."},
	{feedmill.ErrGone, http.StatusGone, "gone", "The resource no longer exists", "The resource was removed. Request a newer one."},
	{feedmill.ErrDamaged, http.StatusInternalServerError, "file-damaged", "A stored file is damaged", "Ask the operator to restore the file from a backup. The log names the file under the request ID."},
	{feedmill.ErrNoRoom, http.StatusInsufficientStorage, "no-room", "The disk is full", "Nothing was changed. Retry after the operator has freed disk space."},
}

// problem is the body of every error (RFC 9457).
type problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail"`
	Instance  string         `json:"instance"`
	RequestID string         `json:"requestId,omitzero"`
	Errors    []problemFault `json:"errors,omitzero"`
	// CreationURL is where a person connects a service that nobody else can.
	CreationURL string `json:"creationUrl,omitzero"`
	// Source and Trace are of a preview whose fetch failed.
	Source *sourceAnswerView `json:"source,omitzero"`
	Trace  []tracedView      `json:"trace,omitzero"`
	// Handle is that of the data of a preview that failed.
	Handle *client.PreviewHandle `json:"handle,omitzero"`

	retryAfter int // seconds; 0 means not said
	cause      error
}

type problemFault struct {
	Pointer   *string `json:"pointer,omitzero"`
	Parameter string  `json:"parameter,omitzero"`
	Header    string  `json:"header,omitzero"`
	Detail    string  `json:"detail"`
}

// problemOf renders an error. What matches no kind is a fault of our own: the
// client learns the request id and nothing else, and the log has the rest.
func problemOf(err error, instance, requestID string) problem {
	p := problem{Instance: instance}
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		err = &feedmill.Error{Kind: feedmill.ErrTooLarge, Detail: fmt.Sprintf("The body must have at most %d bytes.", limit.Limit)}
	}
	if feedmill.IsNoRoom(err) && !errors.Is(err, feedmill.ErrNoRoom) {
		err = fmt.Errorf("%w: %v", feedmill.ErrNoRoom, err) // of this kind alone
	}
	var refusal *feedmill.Error
	_ = errors.As(err, &refusal)
	for _, k := range kinds {
		if !errors.Is(err, k.kind) {
			continue
		}
		p.Type, p.Title, p.Status, p.Detail = "/problems/"+k.slug, k.title, k.status, k.detail
		if k.status >= 500 {
			p.RequestID, p.cause = requestID, err
		}
		if k.status == http.StatusServiceUnavailable || k.status == http.StatusTooManyRequests {
			p.retryAfter = 1
		}
		if refusal != nil {
			p.refine(refusal)
		}
		return p
	}
	p.Type, p.Title, p.Status = "/problems/internal", "Internal server error", http.StatusInternalServerError
	p.Detail = "Retry the request. If it fails again, report the request ID to the operator."
	p.RequestID, p.cause = requestID, err
	return p
}

func (p *problem) refine(e *feedmill.Error) {
	if e.Type != "" {
		p.Type = "/problems/" + e.Type
	}
	if e.Title != "" {
		p.Title = e.Title
	}
	if e.Detail != "" {
		p.Detail = e.Detail
	}
	if e.RetryAfter != 0 {
		p.retryAfter = max(int(math.Ceil(e.RetryAfter.Seconds())), 0)
	}
	p.CreationURL, p.Handle = e.CreationURL, viewHeld(e.Held)
	p.Source = viewSourceAnswer(e.Said)
	if e.Trace != nil {
		p.Trace = viewTrace(e.Trace)
	}
	for _, f := range e.Faults {
		fault := problemFault{Parameter: cutName(f.Parameter), Header: cutName(f.Header), Detail: f.Detail}
		if f.Parameter == "" && f.Header == "" {
			pointer := cutName(f.Pointer)
			fault.Pointer = &pointer
		}
		p.Errors = append(p.Errors, fault)
	}
}

// maxName is how much of a name or a pointer is given back: a name that nobody knows can be as long as the
// body, and there can be many of them.
const maxName = 1024

// cutName is a name of which an ellipsis stands for the end where it is too long.
func cutName(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

// unrendered stands for a problem that cannot be rendered.
const unrendered = `{"type":"/problems/internal","title":"Internal server error","status":500,"detail":"Retry the request.","instance":"/"}`

// answer renders the problem. It never fails: a path or a parameter can be any
// bytes, and what is no UTF-8 in them is replaced.
func (p problem) answer() answer {
	body, err := render(p)
	if err != nil {
		return answer{
			status: http.StatusInternalServerError, contentType: "application/problem+json", body: []byte(unrendered),
			cause: errors.Join(fmt.Errorf("rendering a problem: %w", err), p.cause),
		}
	}
	a := answer{status: p.Status, contentType: "application/problem+json", body: body, cause: p.cause}
	switch {
	case p.retryAfter > 0:
		a.set("Retry-After", strconv.Itoa(p.retryAfter))
	case p.Status == http.StatusUnauthorized:
		a.set("WWW-Authenticate", challenge)
	}
	return a
}
