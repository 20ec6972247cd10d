package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
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

// retryAfter is how long an answer asks to wait, and whether it does.
func retryAfter(status int, h http.Header) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds == seconds {
		return inSeconds(seconds), true
	}
	now := clockOf(h)
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0), true
	}
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		left := strings.TrimSpace(h.Get(prefix + "Remaining"))
		reset, err := strconv.ParseFloat(strings.TrimSpace(h.Get(prefix+"Reset")), 64)
		nothing := left == "0" || left == "" && status == http.StatusTooManyRequests
		if err == nil && reset == reset && nothing {
			return untilReset(reset, now), true
		}
	}
	return 0, false
}

// maxSkew is how far the clock of a source may be from ours to be believed.
const maxSkew = time.Hour

// clockOf is what time it is for the source, by which it says when to come back: its
// clock and ours may differ.
func clockOf(h http.Header) time.Time {
	now := time.Now()
	if at, err := http.ParseTime(h.Get("Date")); err == nil && at.Sub(now).Abs() > time.Second && at.Sub(now).Abs() < maxSkew {
		return at
	}
	return now
}

// untilReset is the time until a limit is lifted: a large number is a point in
// time, in seconds or milliseconds since 1970, and a small one seconds from now.
func untilReset(reset float64, now time.Time) time.Duration {
	const moment, millis = 1e9, 1e12
	switch {
	case reset > millis:
		return max(time.UnixMilli(int64(min(reset, 1e15))).Sub(now), 0)
	case reset > moment:
		// A part of a second is waited for, too.
		return max(time.Unix(int64(math.Ceil(reset)), 0).Sub(now), 0)
	}
	return inSeconds(reset)
}

func inSeconds(seconds float64) time.Duration {
	const longest = 365 * 24 * 3600
	return time.Duration(max(min(seconds, longest), 0) * float64(time.Second))
}

// refusedBy says what a status means that is no success.
func refusedBy(status int, h http.Header) outcome {
	after, asked := retryAfter(status, h)
	switch {
	case status == http.StatusUnauthorized && asksForDigest(h):
		return outcome{
			err:     spec.Fail("source-auth", spec.ErrAuth, "The source returned %s and requires digest authentication. Set auth to kind digest with a valid username and password.", statusText(status)),
			refused: true,
		}
	case status == http.StatusUnauthorized:
		return outcome{
			err:     spec.Fail("source-auth", spec.ErrAuth, "The source returned %s. Set a valid credential.", statusText(status)),
			refused: true,
		}
	case status == http.StatusForbidden && !asked:
		failure := spec.Fail("source-auth", nil, "The source returned %s. Check that the credential can read this resource.", statusText(status))
		failure.Forbidden = true
		return outcome{err: failure}
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status == http.StatusForbidden:
		return outcome{err: spec.Fail("source-status", nil, "The source returned %s.", statusText(status)), retry: true, after: after}
	}
	return outcome{err: spec.Fail("source-status", nil, "The source returned %s. Check the request.", statusText(status))}
}

// sendFailed says what it means that a request got no answer.
func (e *exchange) sendFailed(ctx context.Context, err error) outcome {
	switch {
	case e.f.Options.Forbidden != nil && errors.Is(err, e.f.Options.Forbidden):
		return outcome{err: spec.Fail("forbidden-address", err, "The egress policy forbids the address of the source. Ask the operator to allow it.")}
	case errors.Is(context.Cause(ctx), errTimeout):
		return outcome{err: e.tookTooLong(), retry: true}
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return outcome{err: spec.Fail("source-unreachable", err, "The certificate of the source cannot be trusted: %s.", bad.Err)}
	}
	return outcome{err: spec.Fail("source-unreachable", err, "The source could not be reached: %s.", unreachable(err)), retry: true}
}

// unreachable says in words why there was no answer. The error's own text is not
// for users: it can name what a name resolves to, and who was asked.
func unreachable(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return "there is no such host"
		}
		return "the name of its host could not be resolved"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		switch {
		case errors.Is(op, syscall.ECONNREFUSED):
			return "the connection was refused"
		case op.Timeout():
			return "the connection took too long"
		case op.Op == "dial":
			return "no connection could be made"
		case op.Op == "remote error", op.Op == "local error":
			return "the TLS connection failed"
		}
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not speak TLS"
	}
	return "the connection was closed before a response arrived"
}

func (e *exchange) tookTooLong() error {
	return spec.Fail("source-timeout", errTimeout, "The source sent nothing for %s, or took longer than %s in total.",
		feedmill.FormatDuration(e.timeout), feedmill.FormatDuration(max(maxExchange, e.timeout)))
}

// readFailed says what it means that the body of an answer cannot be read.
func (r *run) readFailed(err error) outcome {
	refusal, ours := errors.AsType[*feedmill.Error](err)
	switch {
	case ours && errors.Is(refusal, feedmill.ErrTooLarge):
		return outcome{err: spec.Fail("data-too-large", err, "The data is larger than %d bytes. Raise pagination.maxBytes, or request less data.", r.spec.Pagination.MaxBytes)}
	case ours && errors.Is(refusal, feedmill.ErrUnsupported):
		return outcome{err: spec.Fail("wrong-content-type", err, "The response has an unsupported Content-Encoding. The source must use gzip, zstd or none.")}
	case ours && errors.Is(refusal, feedmill.ErrUnprocessable):
		return outcome{err: spec.Fail("source-truncated", err, "The response is truncated or does not match its Content-Encoding."), retry: true}
	case ours, errors.Is(err, io.ErrUnexpectedEOF):
		return outcome{err: spec.Fail("source-truncated", err, "The response ended too early."), retry: true}
	}
	return outcome{err: spec.Fail("source-truncated", err, "The connection was lost before the end of the response."), retry: true}
}
