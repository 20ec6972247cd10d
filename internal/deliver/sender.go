package deliver

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
)

// Sender makes attempts over HTTP. It follows no redirect, reads a bounded part
// of the answer, and holds the whole exchange to the subscription's timeout.
type Sender struct {
	// Transport is the way out, with the address policy in it.
	Transport Transport
	// Forbidden is what an error of the transport matches where the policy
	// refuses the address.
	Forbidden error
	// UserAgent is sent with every attempt.
	UserAgent string
}

// Transport makes one exchange over HTTP, the answer's body included by the
// deadline, and follows no redirect. It notes how the time was spent. What is wrong
// with an answer that is none of HTTP's is an [feedmill.UnreadableAnswer], in words that name
// nothing inside.
type Transport interface {
	Exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest, timing *feedmill.Timing) (feedmill.HTTPAnswer, error)
}

// Message is what an attempt sends.
type Message struct {
	Delivery feedmill.ID
	Event    feedmill.ID
	Type     string
	Payload  []byte
	Attempt  int
	At       time.Time
}

// Result is what came of an attempt.
type Result struct {
	// Status is the answer's, 0 where none came.
	Status int
	// Error says what went wrong, for the subscriber to read.
	Error  string
	Header [][2]string
	Body   []byte
	Timing feedmill.Timing
	// RetryAfter is how long the endpoint asks to be left alone.
	RetryAfter time.Duration
	// Final says that no attempt can succeed, whatever the endpoint would
	// answer; NotSent that none was made for that reason.
	Final, NotSent bool
}

func (r Result) ok() bool { return r.Error == "" && r.Status >= 200 && r.Status < 300 }

// record is the attempt as it is kept.
func (r Result) record(delivery feedmill.ID, m Message) *feedmill.Attempt {
	return &feedmill.Attempt{
		ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: delivery, Number: m.Attempt, At: m.At.UTC().Truncate(time.Millisecond),
		Status: r.Status, Error: r.Error, Header: r.Header, Body: r.Body, Timing: r.Timing,
	}
}

// Send makes one attempt.
func (s *Sender) Send(ctx context.Context, t Target, m Message) (r Result) {
	req, err := s.request(t, m)
	if err != nil {
		return Result{Error: err.Error(), Final: true, NotSent: true}
	}
	start := time.Now()
	var timing feedmill.Timing
	defer func() {
		r.Timing = timing
		r.Timing.Total = time.Since(start)
	}()
	a, err := s.Transport.Exchange(ctx, start.Add(t.Settings.Timeout), &req, &timing)
	if err != nil {
		return s.failed(err, t)
	}
	defer a.Body.Close()
	r = Result{Status: a.Status, Header: keptHeader(a.Header, a.HeaderCut)}
	good := r.ok()
	if !good {
		r.Error = "the endpoint answered " + strconv.Itoa(r.Status) + " " + http.StatusText(r.Status)
		r.RetryAfter = retryAfter(&a, start)
	}
	r.Body, err = readAnswer(a.Body, !good)
	if err != nil && (ctx.Err() != nil || isTimeout(err)) {
		r.Error = s.failed(err, t).Error
	}
	return r
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
func (s *Sender) failed(err error, t Target) Result {
	var (
		dns        *net.DNSError
		op         *net.OpError
		unreadable feedmill.UnreadableAnswer
	)
	switch {
	case errors.Is(err, s.Forbidden):
		return Result{Error: "the operator's egress policy forbids the address of this URL", Final: true}
	case isTimeout(err):
		return Result{Error: fmt.Sprintf("no complete answer within %s", t.Settings.Timeout)}
	case errors.As(err, &dns):
		return Result{Error: "the host's name could not be resolved"}
	case errors.As(err, &op) && op.Op == "dial":
		return Result{Error: "the connection was refused or could not be made"}
	case errors.As(err, &unreadable):
		return Result{Error: "the endpoint's answer cannot be read: " + string(unreadable)}
	}
	if fault := tlsFault(err); fault != "" {
		return Result{Error: "the TLS connection failed: " + fault}
	}
	return Result{Error: "the connection broke before an answer came"}
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
