package deliver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/webhook"
)

// answer is what an endpoint does with a request: it answers with a status and
// a header, or its answer breaks off, or none comes.
type answer struct {
	status     int
	retryAfter []string
	body       io.Reader
	err        error
}

var errForbidden = errors.New("forbidden by the policy")

// answers is a transport on which the path of a URL says which of them comes.
type answers []answer

func (a answers) Exchange(_ context.Context, _ time.Time, r *feedmill.HTTPRequest, _ *feedmill.Timing) (feedmill.HTTPAnswer, error) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || a[i].err != nil {
		return feedmill.HTTPAnswer{}, errors.Join(err, a[i].err)
	}
	got := feedmill.HTTPAnswer{Status: a[i].status, Body: http.NoBody}
	for _, value := range a[i].retryAfter {
		got.Header = append(got.Header, [2]string{"Retry-After", value})
	}
	if a[i].body != nil {
		got.Body = io.NopCloser(a[i].body)
	}
	return got, nil
}

// What the lane has learnt of its endpoint after one attempt.
var (
	learntGood    = pace{allowed: firstLimit + 1, trust: answersWell}
	learntBad     = pace{allowed: firstLimit / 2, trust: answersBadly}
	learntSilent  = pace{allowed: firstLimit / 2, trust: answersBadly, silent: 1}
	learntNothing = newPace()
)

// outcome is what becomes of a delivery, and what its subscriber reads of it.
type outcome struct {
	state    feedmill.DeliveryState
	wait     time.Duration // until the next attempt
	reason   string        // why the delivery ended
	attempt  string        // what went wrong with the attempt
	noTry    bool          // no attempt was made
	disabled string        // why the subscription is disabled
	learnt   pace
}

type outcomeCase struct {
	name    string
	answer  answer
	payload int // how long, where it matters
	get     bool
	want    outcome
}

// firstWait is the wait after the first attempt with a random number of 0.25:
// 5 s, less a tenth.
const firstWait = 4500 * time.Millisecond

// statusCases is every status that an endpoint can answer with, each with a
// Retry-After of a minute.
func statusCases() (cases []outcomeCase) {
	for status := 100; status < 600; status++ {
		says := fmt.Sprintf("the endpoint returned %d %s", status, http.StatusText(status))
		want := outcome{state: feedmill.DeliveryRetrying, wait: firstWait, attempt: says, learnt: learntBad}
		switch {
		case status >= 200 && status <= 299:
			want = outcome{state: feedmill.DeliveryDelivered, learnt: learntGood}
		case status == 410:
			want = outcome{state: feedmill.DeliveryExhausted, reason: "the endpoint returned 410 Gone", attempt: says, disabled: "gone", learnt: learntBad}
		case status == 429, status == 503:
			want.wait = time.Minute
		}
		cases = append(cases, outcomeCase{
			name: fmt.Sprint("status ", status), answer: answer{status: status, retryAfter: []string{"60"}}, want: want,
		})
	}
	return cases
}

// retryAfterCases is what an endpoint may ask for.
func retryAfterCases(now time.Time) (cases []outcomeCase) {
	const day = 24 * time.Hour
	date := func(after time.Duration) string { return now.Add(after).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		values []string
		wait   time.Duration
	}{
		{nil, firstWait},
		{[]string{""}, firstWait},
		{[]string{"0"}, firstWait},
		{[]string{"4"}, firstWait}, // sooner than the schedule
		{[]string{"5"}, 5 * time.Second},
		{[]string{"3600"}, time.Hour},
		{[]string{"86400"}, day},
		{[]string{"86401"}, day},
		{[]string{"2147483648"}, day},
		{[]string{"99999999999999999999999"}, day},
		{[]string{"-60"}, firstWait},
		{[]string{"+60"}, firstWait},
		{[]string{"60.5"}, firstWait},
		{[]string{"a minute"}, firstWait},
		{[]string{"60", "120"}, time.Minute},
		{[]string{"garbage", "120"}, firstWait},
		{[]string{date(time.Minute)}, time.Minute},
		{[]string{date(-time.Minute)}, firstWait},
		{[]string{date(0)}, firstWait},
		{[]string{date(30 * day)}, day},
		{[]string{"Mon, 99 Jan 2000 00:00:00 GMT"}, firstWait},
	} {
		for _, status := range []int{429, 503} {
			says := fmt.Sprintf("the endpoint returned %d %s", status, http.StatusText(status))
			cases = append(cases, outcomeCase{
				name: fmt.Sprintf("%d with Retry-After %q", status, c.values), answer: answer{status: status, retryAfter: c.values},
				want: outcome{state: feedmill.DeliveryRetrying, wait: c.wait, attempt: says, learnt: learntBad},
			})
		}
	}
	return cases
}

// brokenBody fails after some bytes.
type brokenBody struct{ err error }

func (b brokenBody) Read(p []byte) (int, error) { return copy(p, "some"), b.err }

// failureCases is what happens without an answer, or with half of one.
func failureCases() (cases []outcomeCase) {
	failed := func(text string, learnt pace) outcome {
		if learnt.silent > 0 {
			learnt.failure = text
		}
		return outcome{state: feedmill.DeliveryRetrying, wait: firstWait, attempt: text, learnt: learnt}
	}
	op := func(name string, err error) error {
		return &url.Error{Op: "Post", Err: &net.OpError{Op: name, Net: "tcp", Err: err}}
	}
	badCertificate := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	timeout := os.ErrDeadlineExceeded
	const late = "no complete response within 15s"
	const gone = "the endpoint returned 410 Gone"
	const refused = "the operator's egress policy forbids the address of this URL"
	const tooLong = "the payload does not fit into a GET request: its URL would exceed 8 KiB"
	return []outcomeCase{
		{name: "timeout of the dial", answer: answer{err: op("dial", timeout)}, want: failed(late, learntSilent)},
		{name: "timeout of the answer", answer: answer{err: op("read", timeout)}, want: failed(late, learntSilent)},
		{name: "name that does not resolve", answer: answer{err: op("dial", &net.DNSError{IsNotFound: true})}, want: failed("the host's name could not be resolved", learntSilent)},
		{name: "connection refused", answer: answer{err: op("dial", errors.New("refused"))}, want: failed("the connection was refused or failed", learntSilent)},
		{name: "connection reset", answer: answer{err: op("read", errors.New("reset"))}, want: failed("the connection closed before the response was complete", learntSilent)},
		{name: "connection closed", answer: answer{err: io.ErrUnexpectedEOF}, want: failed("the connection closed before the response was complete", learntSilent)},
		{name: "answer that is no HTTP", answer: answer{err: feedmill.UnreadableAnswer("it is not a valid HTTP response")}, want: failed("the endpoint's response is not valid: it is not a valid HTTP response", learntSilent)},
		{name: "bad certificate", answer: answer{err: badCertificate(x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign})}, want: failed("the TLS connection failed: the endpoint's certificate is not accepted", learntSilent)},
		{name: "old certificate", answer: answer{err: badCertificate(x509.CertificateInvalidError{Reason: x509.Expired})}, want: failed("the TLS connection failed: the endpoint's certificate has expired, or is not valid yet", learntSilent)},
		{name: "another's certificate", answer: answer{err: badCertificate(x509.HostnameError{Certificate: &x509.Certificate{}})}, want: failed("the TLS connection failed: the endpoint's certificate is not for this host", learntSilent)},
		{name: "TLS alert", answer: answer{err: op("remote error", tls.AlertError(40))}, want: failed("the TLS connection failed: the endpoint reported: handshake failure", learntSilent)},
		{name: "TLS that breaks the rules", answer: answer{err: op("local error", tls.AlertError(10))}, want: failed("the TLS connection failed: the endpoint's protocol is not accepted", learntSilent)},
		{
			name: "address that the policy forbids", answer: answer{err: fmt.Errorf("dial: %w", errForbidden)},
			want: outcome{state: feedmill.DeliveryExhausted, reason: refused, attempt: refused, learnt: learntNothing},
		},
		{name: "redirect", answer: answer{status: 302}, want: failed("the endpoint returned 302 Found", learntBad)},
		{name: "good answer that does not end in time", answer: answer{status: 200, body: brokenBody{timeout}}, want: failed(late, learntBad)},
		{name: "bad answer that does not end in time", answer: answer{status: 500, body: brokenBody{timeout}}, want: failed(late, learntBad)},
		{
			name: "gone, in an answer that does not end in time", answer: answer{status: 410, body: brokenBody{timeout}},
			want: outcome{state: feedmill.DeliveryExhausted, reason: gone, attempt: gone, disabled: "gone", learnt: learntBad},
		},
		{name: "good answer that breaks off", answer: answer{status: 200, body: brokenBody{io.ErrUnexpectedEOF}}, want: outcome{state: feedmill.DeliveryDelivered, learnt: learntGood}},
		{name: "bad answer that breaks off", answer: answer{status: 500, body: brokenBody{io.ErrUnexpectedEOF}}, want: failed("the endpoint returned 500 Internal Server Error", learntBad)},
		{name: "GET", get: true, answer: answer{status: 200}, want: outcome{state: feedmill.DeliveryDelivered, learnt: learntGood}},
		{
			name: "GET that is too long", get: true, payload: feedmill.MaxGetURL, answer: answer{status: 200},
			want: outcome{state: feedmill.DeliveryExhausted, reason: tooLong, noTry: true, learnt: learntNothing},
		},
		{name: "POST of the same length", payload: feedmill.MaxGetURL, answer: answer{status: 200}, want: outcome{state: feedmill.DeliveryDelivered, learnt: learntGood}},
	}
}

// TestOutcomes is the rules of what an attempt means, from the endpoint's answer
// to what stands in the store. A changed rule is a changed row.
func TestOutcomes(t *testing.T) {
	hooks := &webhook.Kind{Forbidden: errForbidden}
	runDispatcher(t, Options{Random: func() float64 { return 0.25 }}, through(hooks), func(h *harness) {
		began := time.Now()
		cases := slices.Concat(statusCases(), retryAfterCases(began), failureCases())
		var to answers
		subs := make([]feedmill.ID, len(cases))
		for i, c := range cases {
			to = append(to, c.answer)
			subs[i] = h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) {
				s.Destination.URL, s.ResourceID = fmt.Sprint("http://example.com/", i), fmt.Sprint("length ", c.payload)
				if c.get {
					s.Destination.Method = http.MethodGet
				}
			})
		}
		hooks.Transport = to
		delivery := make(map[feedmill.ID]feedmill.ID) // of a subscription
		for _, length := range []int{0, feedmill.MaxGetURL} {
			due := h.acceptPayload(fmt.Sprint("length ", length), strings.Repeat("x", length))
			for _, d := range due {
				delivery[d.Subscription] = d.ID
			}
			h.dispatcher.Offer(due)
		}
		synctest.Wait()
		for i, c := range cases {
			h.checkOutcome(c, began, subs[i], delivery[subs[i]])
		}
	})
}

// through sends by a kind.
func through(k Kind) endpoint {
	return func(ctx context.Context, sub feedmill.Subscription, m feedmill.Message) feedmill.Result {
		e, err := k.Open(sub, nil)
		if err != nil {
			panic(err)
		}
		return e.Send(ctx, m)
	}
}

func (h *harness) checkOutcome(c outcomeCase, began time.Time, sub, id feedmill.ID) {
	h.Helper()
	want := c.want
	d := h.delivery(id)
	if d.State != want.state || d.Reason != want.reason {
		h.Errorf("%s: the delivery is %s because %q, want %s because %q", c.name, d.State, d.Reason, want.state, want.reason)
	}
	if got := d.DueAt.Sub(began); want.state == feedmill.DeliveryRetrying && got != want.wait {
		h.Errorf("%s: the next attempt follows after %s, want %s", c.name, got, want.wait)
	}
	attempts, err := h.store.DeliveryAttempts(h.Context(), id)
	h.must(err)
	switch {
	case want.noTry && len(attempts) > 0:
		h.Errorf("%s: an attempt was made: %+v", c.name, attempts)
	case want.noTry:
	case len(attempts) != 1 || attempts[0].Error != want.attempt || attempts[0].Status != c.answer.status:
		h.Errorf("%s: the attempts are %+v, want one with %q", c.name, attempts, want.attempt)
	}
	s := h.subscription(sub)
	state := feedmill.SubscriptionActive
	if want.disabled != "" {
		state = feedmill.SubscriptionDisabled
	}
	if s.State != state || s.DisabledReason != want.disabled || !s.WarnedAt.IsZero() {
		h.Errorf("%s: the subscription is %s because %q and warned at %v", c.name, s.State, s.DisabledReason, s.WarnedAt)
	}
	if succeeded := want.state == feedmill.DeliveryDelivered; s.LastSuccessAt.IsZero() == succeeded {
		h.Errorf("%s: the last success is %v", c.name, s.LastSuccessAt)
	}
	h.dispatcher.mu.Lock()
	defer h.dispatcher.mu.Unlock()
	if got := h.dispatcher.lanes[sub].pace; got != want.learnt {
		h.Errorf("%s: the lane has learnt %+v, want %+v", c.name, got, want.learnt)
	}
}
