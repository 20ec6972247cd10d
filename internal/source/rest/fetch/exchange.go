package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

const (
	maxRedirects = 10
	// maxExchange is the longest that one answer may take, however steadily it
	// comes.
	maxExchange = time.Hour
	// maxDrained is how much of an answer is read for nothing else than to
	// keep the connection.
	maxDrained = 64 << 10
)

// exchange is a request that is made until it is answered.
type exchange struct {
	*run
	page    int
	timeout time.Duration
	// signed says that the request has the credential of the source, and keeps
	// to its rate.
	signed bool
	build  func(ctx context.Context) (*http.Request, error)
	// receive reads an answer. The body is decompressed, and of at most limit
	// bytes.
	receive func(response *http.Response, body io.Reader) outcome
	limit   int64
	traced  *[]feedmill.TracedRequest
	// arrived reports of a redirect whether it has what is asked for, so that it is not
	// followed; it may be nil.
	arrived func(*http.Response) bool
	// nonce is that of the challenge which the last request has answered, empty for none, and
	// challenges how many were taken.
	nonce      string
	challenges int
	// waited is how long it was waited before the next try, and waitedFor mostly why.
	waited    time.Duration
	waitedFor string
}

// outcome is what came of one try; without an error it is done.
type outcome struct {
	err error
	// retry says that the next try may go better, after so long at least.
	retry bool
	after time.Duration
	// refused says that the credential was not good any more.
	refused bool
	// challenged says that the next try answers what the source asks for.
	challenged bool
	bytes      int64
	// head is the beginning of an answer that is an error.
	head []byte
}

// do makes the request, again and again where that may help.
func (e *exchange) do(ctx context.Context) error {
	var renewals renewals
	for attempt, tries := 1, 1; ; attempt++ {
		var c credential
		if e.signed {
			var err error
			if c, err = e.credential(ctx, e.traced); err != nil {
				return err
			}
			began := time.Now()
			if err := e.f.paces.wait(ctx, e.place, e.spec.Rate); err != nil {
				return err
			}
			if e.spec.Rate != nil {
				e.wait(time.Since(began), feedmill.WaitRateLimit)
			}
		}
		e.signing.inFlight.Add(1)
		o := e.try(ctx, attempt, c)
		others := e.signing.inFlight.Add(-1) > 0
		if o.err == nil && e.signed {
			e.signing.taken.Add(1)
		}
		switch {
		case o.err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case o.challenged:
			continue
		case o.refused && c.renewable && renewals.another(c, e.signing.taken.Load(), others):
			if err := e.f.tokens.drop(ctx, e.tokenKey(), c.token); err != nil {
				return err
			}
			continue
		case !o.retry || tries >= e.spec.MaxAttempts:
			return gaveUp(o.err, tries)
		}
		pause := backOff(tries)
		if o.after > maxRetryAfter {
			busy := spec.Fail("source-busy", o.err, "%s It requests a wait of %s, which is longer than a refresh waits.",
				o.err, feedmill.FormatDuration(o.after.Round(time.Second)))
			busy.RetryAfter = o.after
			return busy
		}
		if err := sleep(ctx, max(pause, o.after)); err != nil {
			return err
		}
		if o.after > pause {
			e.wait(o.after, feedmill.WaitRetryAfter)
		} else {
			e.wait(pause, feedmill.WaitBackOff)
		}
		tries++
	}
}

// wait notes a wait before the next try. The longest of them says why.
func (e *exchange) wait(d time.Duration, reason string) {
	if d < time.Millisecond {
		return
	}
	if d > e.waited {
		e.waitedFor = reason
	}
	e.waited += d
}

// gaveUp says of a failure how often it was tried to get around it.
func gaveUp(err error, tries int) error {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || tries == 1 {
		return err
	}
	again := *failure
	again.Detail = fmt.Sprintf("%s Feedmill tried %d times.", failure.Detail, tries)
	return &again
}

// try makes the request once and follows its redirects.
func (e *exchange) try(ctx context.Context, attempt int, c credential) outcome {
	request, err := e.build(ctx)
	if err != nil {
		return outcome{err: err}
	}
	home := e.signed && spec.SameOrigin(request.URL, e.spec.Request.Origin)
	for hops := 0; ; hops++ {
		// A redirect within the origin keeps its headers.
		if home && (hops == 0 || c.signer.signsAddress()) {
			c.signer.sign(request, c.token)
			if user := c.signer.digest(); user != nil {
				e.nonce = e.digest.sign(user, request)
			}
		}
		traced := feedmill.TracedRequest{Method: request.Method, URL: e.mask.URL(request.URL), At: time.Now().UTC(), Page: e.page, Attempt: attempt}
		traced.WaitedMS, traced.WaitedFor = float64(e.waited.Microseconds())/1000, e.waitedFor
		e.waited, e.waitedFor = 0, ""
		o, next := e.send(request, &traced)
		if o.err == nil && next != nil && hops == maxRedirects {
			o, next = outcome{err: spec.Fail("redirect", nil, "The source redirects more than %d times.", maxRedirects)}, nil
		}
		traced.DurationMS = float64(time.Since(traced.At).Microseconds()) / 1000
		if o.err != nil {
			said := shownAnswer(e.mask, request, traced.Status, o.head)
			o.err = with(o.err, said)
			traced.Error, traced.Request, traced.Excerpt = e.mask.Text(o.err.Error()), &said.Request, said.Excerpt
			if cause := context.Cause(ctx); cause != nil {
				traced.Error = "The fetch was canceled."
			}
		}
		*e.traced = append(*e.traced, traced)
		if next == nil || o.err != nil {
			return o
		}
		// What was left behind once is not taken up again.
		home = home && spec.SameOrigin(next.URL, e.spec.Request.Origin)
		request = next
	}
}

// errTimeout is why a request ended that took too long.
var errTimeout = errors.New("the source took too long")

// send sends a request and has its answer read, or returns where it is
// redirected to.
func (e *exchange) send(request *http.Request, traced *feedmill.TracedRequest) (outcome, *http.Request) {
	if check := e.f.Options.CheckURL; check != nil {
		if err := check(request.URL); err != nil {
			return outcome{err: spec.Fail("forbidden-address", err, "%s.", spec.UpperFirst(err.Error()))}, nil
		}
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	defer cancel(nil)
	idle := time.AfterFunc(e.timeout, func() { cancel(errTimeout) })
	defer idle.Stop()
	all := time.AfterFunc(max(maxExchange, e.timeout), func() { cancel(errTimeout) })
	defer all.Stop()
	response, err := e.f.transport(e.spec, request.URL).RoundTrip(request.WithContext(ctx))
	if err != nil {
		return e.sendFailed(ctx, err), nil
	}
	defer response.Body.Close()
	traced.Status = response.StatusCode
	wire := &watchedReader{src: response.Body, idle: idle, timeout: e.timeout, left: e.limit + e.limit/64 + 1<<20}
	if e.challenged(request, response) {
		_, _ = io.CopyN(io.Discard, wire, maxDrained)
		return outcome{err: spec.Fail("source-auth", spec.ErrAuth, "The source requires digest authentication."), challenged: true}, nil
	}
	if e.arrived != nil && response.StatusCode/100 == 3 && e.arrived(response) {
		_, _ = io.CopyN(io.Discard, wire, maxDrained)
		return outcome{}, nil
	}
	if next, o, ok := e.redirected(request, response); ok {
		_, _ = io.CopyN(io.Discard, wire, maxDrained)
		return o, next
	}
	response.Request = request
	o := e.read(response, wire)
	if cause := context.Cause(ctx); o.err != nil && errors.Is(cause, errTimeout) {
		o = outcome{err: e.tookTooLong(), retry: true, bytes: o.bytes}
	}
	traced.Bytes = o.bytes
	_, _ = io.CopyN(io.Discard, wire, maxDrained)
	return o, nil
}

// read has the answer received.
func (e *exchange) read(response *http.Response, wire *watchedReader) outcome {
	encoding := response.Header.Get("Content-Encoding")
	if response.ContentLength == 0 || response.StatusCode == http.StatusNoContent || response.StatusCode == http.StatusNotModified {
		encoding = ""
	}
	body, err := decode.Decompress(wire, encoding, e.limit)
	if err != nil {
		if response.StatusCode >= 300 {
			return e.receive(response, http.NoBody)
		}
		return e.readFailed(err)
	}
	defer body.Close()
	return e.receive(response, body)
}

// redirected makes the request that a redirect asks for, where there is one.
func (e *exchange) redirected(request *http.Request, response *http.Response) (*http.Request, outcome, bool) {
	method := request.Method
	location := response.Header.Get("Location")
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if method != http.MethodHead {
			method = http.MethodGet
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, outcome{}, false
	}
	refuse := func(format string, args ...any) (*http.Request, outcome, bool) {
		return nil, outcome{err: spec.Fail("redirect", nil, format, args...)}, true
	}
	target, err := request.URL.Parse(location)
	switch {
	case location == "" || err != nil || target.Host == "":
		return refuse("The source returned %s without a valid Location header.", statusText(response.StatusCode))
	case request.URL.Scheme == "https" && target.Scheme != "https":
		return refuse("The source redirects from https to %s, which is not followed.", target.Scheme)
	}
	target.User, target.Fragment = nil, ""
	same := spec.SameOrigin(target, request.URL)
	body := ""
	if method == request.Method && request.GetBody != nil {
		if !same {
			return refuse("The source redirects a %s with its body to another origin, %s, which is not followed.", method, target.Host)
		}
		reader, _ := request.GetBody()
		sent, _ := io.ReadAll(reader)
		body = string(sent)
	}
	next, err := newRequest(request.Context(), method, target, body, "")
	if err != nil {
		return nil, outcome{err: err}, true
	}
	for name, values := range request.Header {
		if same && (name != "Content-Type" || body != "") {
			next.Header[name] = values
		}
	}
	e.f.identify(next)
	return next, outcome{}, true
}

// watchedReader reads an answer and has it ended when nothing comes for long,
// or too much.
type watchedReader struct {
	src     io.Reader
	idle    *time.Timer
	timeout time.Duration
	left    int64
}

func (w *watchedReader) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, &feedmill.Error{Kind: feedmill.ErrTooLarge, Type: "data-too-large", Detail: "too much data"}
	}
	n, err := w.src.Read(p)
	w.left -= int64(n)
	w.idle.Reset(w.timeout)
	return n, err
}

// statusText names a status.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprint(status)
}
