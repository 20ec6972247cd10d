package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/fault"
)

// Send makes one attempt. It follows no redirect, reads a bounded part of the response,
// and bounds the whole exchange by the timeout.
func (e *endpoint) Send(ctx context.Context, m feedmill.Message) (r feedmill.Result) {
	req, err := e.request(m)
	if err != nil {
		return feedmill.Result{Verdict: feedmill.VerdictRejected, Error: err.Error(), NotSent: true}
	}
	start := time.Now()
	var timing feedmill.Timing
	defer func() {
		r.Timing = timing
		r.Timing.Total = time.Since(start)
	}()
	token := ""
	if e.client != nil {
		if token, err = e.token(ctx, e.client, start.Add(m.Timeout)); err != nil {
			return e.tokenFailed(err, m.Timeout)
		}
		req.Header = append(req.Header, [2]string{"Authorization", "Bearer " + token})
		defer func() { mask(&r, token) }()
	}
	a, err := e.Transport.Exchange(ctx, start.Add(m.Timeout), &req, &timing)
	if err != nil {
		return e.failed(err, m.Timeout)
	}
	defer a.Body.Close()
	if e.client != nil && a.Status == http.StatusUnauthorized {
		e.tokens.drop(e.client.key, token)
	}
	r = feedmill.Result{Verdict: verdict(a.Status), Responded: true, Status: a.Status, Header: keptHeader(a.Header, a.HeaderCut)}
	if !r.Delivered() {
		r.Error = "the endpoint returned " + strconv.Itoa(r.Status) + " " + http.StatusText(r.Status)
		r.RetryAfter = retryAfter(&a, start)
	}
	r.Body, err = readAnswer(a.Body, !r.Delivered())
	if err != nil && r.Verdict != feedmill.VerdictGone && (ctx.Err() != nil || isTimeout(err)) {
		r.Verdict, r.Error = feedmill.VerdictRetry, e.failed(err, m.Timeout).Error
	}
	if !r.Delivered() {
		r.Class = strconv.Itoa(r.Status/100) + "xx"
	}
	return r
}

// verdict is what a status means.
func verdict(status int) feedmill.Verdict {
	switch {
	case status >= 200 && status < 300:
		return feedmill.VerdictDelivered
	case status == http.StatusGone:
		return feedmill.VerdictGone
	}
	return feedmill.VerdictRetry
}

// isTimeout reports whether an exchange took too long.
func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// readAnswer reads an answer to its end or its cap, and keeps the first part of
// it where it is wanted. An answer that is longer than the cap, or broken, is
// no failure: the status has been given.
func readAnswer(body io.Reader, keep bool) (kept []byte, err error) {
	if keep {
		kept, err = io.ReadAll(io.LimitReader(body, feedmill.MaxKeptAnswer))
		if err != nil {
			return kept, err
		}
	}
	_, err = io.Copy(io.Discard, body)
	return kept, err
}

// failed describes an attempt without an answer in words for the subscriber.
// The error's own text is not for them: it can name addresses inside.
func (e *endpoint) failed(err error, timeout time.Duration) feedmill.Result {
	var (
		dns        *net.DNSError
		op         *net.OpError
		unreadable feedmill.UnreadableAnswer
	)
	switch {
	case errors.Is(err, e.Forbidden):
		return feedmill.Result{Verdict: feedmill.VerdictRejected, Error: "the operator's egress policy forbids the address of this URL"}
	case isTimeout(err):
		return retry(fmt.Sprintf("no complete response within %s", timeout))
	case errors.As(err, &dns):
		return retry("the host's name could not be resolved")
	case errors.As(err, &op) && op.Op == "dial":
		return retry("the connection was refused or failed")
	case errors.As(err, &unreadable):
		return retry("the endpoint's response is not valid: " + string(unreadable))
	}
	if text := fault.TLS(err); text != "" {
		return retry("the TLS connection failed: " + text + expired(e.tls, time.Now()))
	}
	return retry("the connection closed before the response was complete")
}

// tokenFailed describes an attempt without an access token.
func (e *endpoint) tokenFailed(err error, timeout time.Duration) feedmill.Result {
	if refused, ok := errors.AsType[*errToken](err); ok {
		return feedmill.Result{Verdict: feedmill.VerdictRetry, Responded: refused.responded, Class: "auth", Error: refused.text}
	}
	r := e.failed(err, timeout)
	if r.Verdict == feedmill.VerdictRejected {
		r.Error = "the operator's egress policy forbids the address of oauth2.tokenUrl"
		return r
	}
	r.Error = "the token request failed: " + r.Error
	return r
}

// retry is the result of an attempt without a response.
func retry(reason string) feedmill.Result {
	return feedmill.Result{Verdict: feedmill.VerdictRetry, Error: reason}
}

// retryAfter reads the header of the same name, which counts with 429 and 503.
func retryAfter(a *feedmill.HTTPAnswer, now time.Time) time.Duration {
	if a.Status != http.StatusTooManyRequests && a.Status != http.StatusServiceUnavailable {
		return 0
	}
	values := a.Values("Retry-After")
	if len(values) == 0 {
		return 0
	}
	text, wait := values[0], time.Duration(0)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(seconds) * time.Second // out of range it is the largest
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), feedmill.MaxRetryAfter)
}

const (
	maxKeptHeaders     = 50
	maxKeptHeaderBytes = 8 << 10
)

// keptHeader is the part of an answer's header that is kept. cut says that it is only a
// part already.
func keptHeader(h [][2]string, cut bool) [][2]string {
	size := 0
	for i, field := range h {
		if size += len(field[0]) + len(field[1]); i == maxKeptHeaders || size > maxKeptHeaderBytes {
			h, cut = h[:i:i], true
			break
		}
	}
	if cut {
		h = append(h, feedmill.LinesLeftOut)
	}
	return h
}
