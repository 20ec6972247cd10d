package feed

import (
	"cmp"
	"errors"
	"strings"

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
			Detail: "Something went wrong on our side; the next refresh tries again.",
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
