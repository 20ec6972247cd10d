package rest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// ErrAuth is matched by the error of a fetch whose credential was refused. To
// try again is of no use until it is changed.
var ErrAuth = errors.New("the credential was refused")

// Failure is why a fetch ended, in the words of a problem. It holds no secrets.
type Failure struct {
	// Type is the stable name of the problem, such as pagination-loop.
	Type   string
	Title  string
	Detail string
	// RetryAfter is how long the source wants to be left alone.
	RetryAfter time.Duration

	cause error
}

func (f *Failure) Error() string { return f.Detail }

func (f *Failure) Unwrap() error { return f.cause }

// The titles of problems, by their types.
var titles = map[string]string{
	"source-auth":        "The source refused the credential",
	"source-status":      "The source answered with an error",
	"source-unreachable": "The source could not be reached",
	"source-timeout":     "The source took too long",
	"source-truncated":   "The answer of the source broke off",
	"source-busy":        "The source asks to wait for long",
	"source-error":       "The source reported an error",
	"forbidden-address":  "The address is not allowed",
	"redirect":           "The source redirects in a way that is not followed",
	"wrong-content-type": "The answer has the wrong content type",
	"pagination-loop":    "The pages repeat themselves",
	"too-many-pages":     "There are too many pages",
	"data-too-large":     "There is too much data",
	"pagination":         "The next page cannot be found",
	"token":              "No token was received",
	"fetch-failed":       "The data could not be fetched",
	"cancelled":          "The refresh was cancelled",
	"unprocessable":      "The data cannot be modelled",
}

// fail makes a failure of a type.
func fail(problem string, cause error, format string, args ...any) *Failure {
	return &Failure{Type: problem, Title: titles[problem], Detail: fmt.Sprintf(format, args...), cause: cause}
}

// Problem says why a fetch failed, for the feed. The time is not set.
func Problem(err error) feedmill.FeedError {
	if f, ok := errors.AsType[*Failure](err); ok {
		return feedmill.FeedError{Type: "/problems/" + f.Type, Title: f.Title, Detail: f.Detail}
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		kind, title := refusal.Type, "The data cannot be modelled"
		if errors.Is(refusal, feedmill.ErrTooLarge) {
			title = titles["data-too-large"]
		}
		if kind == "" {
			kind = "unprocessable"
		}
		return feedmill.FeedError{Type: "/problems/" + kind, Title: title, Detail: upperFirst(refusal.Detail)}
	}
	kind, detail := "fetch-failed", "Something went wrong on our side; the next refresh tries again."
	if errors.Is(err, context.Canceled) {
		kind, detail = "cancelled", "It was ended before it was done."
	}
	return feedmill.FeedError{Type: "/problems/" + kind, Title: titles[kind], Detail: detail}
}
