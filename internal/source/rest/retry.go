package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	firstBackOff   = 500 * time.Millisecond
	longestBackOff = 30 * time.Second
	// maxRetryAfter is the longest Retry-After that is waited for.
	maxRetryAfter = 5 * time.Minute
)

// backOff is how long to wait after so many tries: twice as long each time,
// spread over a half less and a half more.
func backOff(tries int) time.Duration {
	d := min(firstBackOff<<(tries-1), longestBackOff)
	return d/2 + rand.N(d)
}

// retryAfter is how long an answer asks to wait, 0 where it does not.
func retryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(time.Duration(seconds)*time.Second, 0)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// refusedBy says what a status means that is no success.
func refusedBy(status int, h http.Header) outcome {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return outcome{
			err:     fail("source-auth", ErrAuth, "The source answered %s. Give it a credential that it accepts.", statusText(status)),
			refused: status == http.StatusUnauthorized,
		}
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return outcome{err: fail("source-status", nil, "The source answered %s.", statusText(status)), retry: true, after: retryAfter(h)}
	}
	return outcome{err: fail("source-status", nil, "The source answered %s. Check the request.", statusText(status))}
}

// sendFailed says what it means that a request got no answer.
func (e *exchange) sendFailed(ctx context.Context, err error) outcome {
	switch {
	case e.f.options.Forbidden != nil && errors.Is(err, e.f.options.Forbidden):
		return outcome{err: fail("forbidden-address", err, "The address of the source is not allowed: %s.", err)}
	case errors.Is(context.Cause(ctx), errTimeout):
		return outcome{err: e.tookTooLong(), retry: true}
	}
	if _, bad := errors.AsType[*tls.CertificateVerificationError](err); bad {
		return outcome{err: fail("source-unreachable", err, "The certificate of the source cannot be trusted: %s.", err)}
	}
	return outcome{err: fail("source-unreachable", err, "The source could not be reached: %s.", err), retry: true}
}

func (e *exchange) tookTooLong() error {
	return fail("source-timeout", errTimeout, "The source sent nothing for %s, or took longer than %s in all.",
		feedmill.FormatDuration(e.timeout), feedmill.FormatDuration(max(maxExchange, e.timeout)))
}

// readFailed says what it means that the body of an answer cannot be read.
func (r *run) readFailed(err error) outcome {
	refusal, ours := errors.AsType[*feedmill.Error](err)
	switch {
	case ours && errors.Is(refusal, feedmill.ErrTooLarge):
		return outcome{err: fail("data-too-large", err, "There is more data than %d bytes. Raise pagination.maxBytes, or ask for less.", r.spec.pagination.maxBytes)}
	case ours && errors.Is(refusal, feedmill.ErrUnsupported):
		return outcome{err: fail("wrong-content-type", err, "The answer cannot be read: %s.", refusal.Detail)}
	case ours, errors.Is(err, io.ErrUnexpectedEOF):
		return outcome{err: fail("source-truncated", err, "The answer ended before its end."), retry: true}
	}
	return outcome{err: fail("source-truncated", err, "The answer broke off: %s.", err), retry: true}
}
