package feed

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// notModelled is the title of what is wrong with data.
const notModelled = "The data cannot be modelled"

// isOfSource reports whether an error is about the source or its data, which the
// feed tells of, and not about this service, such as a disk that is full.
func isOfSource(err error) bool {
	_, failure := errors.AsType[*feedmill.SourceFailure](err)
	return failure || errors.Is(err, feedmill.ErrUnprocessable) || errors.Is(err, feedmill.ErrTooLarge)
}

// isGarbled reports whether a fetch failed because of JSON that is none. It may be
// some the next time.
func isGarbled(err error) bool {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	return ok && failure.Type == "invalid-json"
}

// restarts counts how often a run has fetched its source.
type restarts struct {
	attempts int
	lost     bool
}

const (
	// lostAttempts is how often a source is fetched whose connection breaks, as often as
	// a request to an API is made, and lostWait is the first wait, which doubles.
	lostAttempts = 5
	lostWait     = 500 * time.Millisecond
)

// wanted reports whether a fetch that failed is to be tried again, and waits for it. JSON that
// is garbled is fetched once more. A connection that broke is tried up to [lostAttempts]
// times, also while the database cannot be reached. One that could not be reached to
// begin with is left to the next refresh.
func (r *restarts) wanted(ctx context.Context, err error) bool {
	r.attempts = max(r.attempts, 1)
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || ctx.Err() != nil {
		return false
	}
	r.lost = r.lost || failure.Lost
	switch {
	case isGarbled(err):
		r.attempts++
		return r.attempts == 2
	case !failure.Lost && !(r.lost && failure.Type == "database-unreachable") || r.attempts >= lostAttempts:
		return false
	}
	timer := time.NewTimer(lostWait << (r.attempts - 1))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	r.attempts++
	return true
}

// failed is what a run that failed for a reason of the source means for a feed.
func failed(o feedmill.FeedOutcome, fault error) feedmill.FeedOutcome {
	problem := problemOf(fault)
	problem.At = now()
	o.Error, o.Position = &problem, nil
	if failure, ok := errors.AsType[*feedmill.SourceFailure](fault); ok {
		o.AuthRequired, o.Forbidden, o.RetryAfter = failure.AuthRequired, failure.Forbidden, failure.RetryAfter
	}
	return o
}

// problemOf says why a fetch failed. The time is not set.
func problemOf(err error) feedmill.FeedError {
	if f, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return feedmill.FeedError{Type: "/problems/" + f.Type, Title: f.Title, Detail: feedmill.CutText(f.Detail, feedmill.MaxErrorDetail), Source: f.Said}
	}
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok {
		return feedmill.FeedError{
			Type: "/problems/fetch-failed", Title: "The data could not be fetched",
			Detail: "The server had an internal error. Feedmill retries at the next refresh; the server log has the cause.",
		}
	}
	title := notModelled
	if errors.Is(refusal, feedmill.ErrTooLarge) {
		title = "There is too much data"
	}
	detail := refusal.Detail
	if detail != "" {
		detail = feedmill.CutText(strings.ToUpper(detail[:1])+detail[1:], feedmill.MaxErrorDetail)
	}
	return feedmill.FeedError{Type: "/problems/" + cmp.Or(refusal.Type, "unprocessable"), Title: title, Detail: detail}
}
