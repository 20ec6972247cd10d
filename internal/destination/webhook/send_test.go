package webhook

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/egress"
)

func newKind(t *testing.T, allow ...string) *Kind {
	t.Helper()
	c, err := egress.New(egress.Options{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	transport := c.Express(100, feedmill.MaxReadAnswer)
	t.Cleanup(transport.CloseIdleConnections)
	return &Kind{Transport: transport, Forbidden: egress.ErrForbidden}
}

// open opens a webhook with extra headers, given as JSON.
func open(t *testing.T, k *Kind, method, url, headers string) feedmill.Endpoint {
	t.Helper()
	e, err := k.Open(feedmill.Subscription{Destination: feedmill.Destination{URL: url, Method: method}}, []byte(headers))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func post(t *testing.T, k *Kind, url string) feedmill.Result {
	t.Helper()
	return open(t, k, http.MethodPost, url, "").Send(t.Context(), newMessage(`{}`))
}

func newMessage(payload string) feedmill.Message {
	return feedmill.Message{
		Payload: []byte(payload), Header: [][2]string{{"Content-Type", "application/json"}, {"X-Service-Event", "metric.created"}}, Timeout: feedmill.DefaultTimeout,
	}
}

func TestSendPost(t *testing.T) {
	var got *http.Request
	var body []byte
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		io.WriteString(w, "thanks")
	}))
	defer sink.Close()
	m := newMessage(`{"id":"evt_1","data":{"ü":1}}`)
	r := open(t, newKind(t, "127.0.0.0/8"), http.MethodPost, sink.URL+"/hook?a=1", `{"X-Extra":"one","X-Other":"two"}`).Send(t.Context(), m)
	if !r.Delivered() || !r.Responded || r.Class != "" || r.Status != 200 || r.Body != nil {
		t.Errorf("result is %+v", r)
	}
	if string(body) != string(m.Payload) || got.Method != "POST" || got.RequestURI != "/hook?a=1" {
		t.Errorf("got %s %s with %s", got.Method, got.RequestURI, body)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Service-Event": "metric.created", "X-Extra": "one", "X-Other": "two"} {
		if v := got.Header.Get(name); v != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	if r.Timing.Total <= 0 || r.Timing.Connect <= 0 || r.Timing.FirstByte <= 0 || r.Timing.Total < r.Timing.FirstByte {
		t.Errorf("timing is %+v", r.Timing)
	}
	found := false
	for _, kv := range r.Header {
		found = found || kv == [2]string{"X-Answer", "yes"}
	}
	if !found {
		t.Errorf("kept header is %q", r.Header)
	}
}

func TestSendGet(t *testing.T) {
	var got *http.Request
	var body []byte
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer sink.Close()
	payload := `{"id":"evt_1","data":{"text":"a b&c=d+e/ü#"}}`
	for _, c := range []struct{ path, want string }{
		{"/hook", "/hook?payload="}, {"/hook?a=1", "/hook?a=1&payload="}, {"/hook?", "/hook?payload="}, {"/hook?a=1&", "/hook?a=1&payload="}, {"/?b=%20", "/?b=%20&payload="},
	} {
		e := open(t, newKind(t, "127.0.0.0/8"), http.MethodGet, sink.URL+c.path, `{"X-Extra":"one"}`)
		if r := e.Send(t.Context(), newMessage(payload)); !r.Delivered() {
			t.Fatalf("result is %+v", r)
		}
		raw, ok := strings.CutPrefix(got.RequestURI, c.want)
		if !ok || strings.ContainsAny(raw, "+ &") {
			t.Errorf("asked for %s", got.RequestURI)
		}
		if text, err := url.PathUnescape(raw); err != nil || text != payload {
			t.Errorf("payload is %s, %v", text, err)
		}
		if got.URL.Query().Get("payload") != payload || got.Method != "GET" || got.Header.Get("Content-Type") != "" || len(body) > 0 {
			t.Errorf("got %s %s with %s", got.Method, got.RequestURI, body)
		}
		if got.Header.Get("X-Service-Event") != "metric.created" || got.Header.Get("X-Extra") != "one" {
			t.Errorf("the header is %q", got.Header)
		}
	}
}

// A URL may have 8 KiB, and not a byte more.
func TestGetThatDoesNotFitIsNotSent(t *testing.T) {
	arrived := 0
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived++ }))
	defer sink.Close()
	e := open(t, newKind(t, "127.0.0.0/8"), http.MethodGet, sink.URL+"/", "")
	most := 8192 - len(sink.URL+"/?payload=")
	if r := e.Send(t.Context(), newMessage(strings.Repeat("x", most))); !r.Delivered() || arrived != 1 {
		t.Errorf("a URL of 8 KiB: %+v", r)
	}
	r := e.Send(t.Context(), newMessage(strings.Repeat("x", most+1)))
	if r.Verdict != feedmill.VerdictRejected || !r.NotSent || !strings.Contains(r.Error, "8 KiB") || arrived != 1 {
		t.Errorf("a byte more: %+v", r)
	}
}

func TestURLThatCannotBeUsed(t *testing.T) {
	r := post(t, newKind(t), "http://[::1")
	if r.Verdict != feedmill.VerdictRejected || !r.NotSent || r.Error != "the subscription's URL is not valid" {
		t.Errorf("result is %+v", r)
	}
}

// Every status but 2xx is a failure, redirects included, which are not followed.
func TestEveryStatus(t *testing.T) {
	asked := 0
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		status := 0
		for _, c := range r.URL.Path[1:] {
			status = status*10 + int(c-'0')
		}
		w.Header().Set("Location", "/200")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		if status != 204 && status != 304 {
			io.WriteString(w, strings.Repeat("x", 20_000))
		}
	}))
	defer sink.Close()
	k := newKind(t, "127.0.0.0/8")
	for status := 200; status < 600; status++ {
		asked = 0
		r := post(t, k, sink.URL+"/"+string(rune('0'+status/100))+string(rune('0'+status/10%10))+string(rune('0'+status%10)))
		verdict, class := feedmill.VerdictRetry, string(rune('0'+status/100))+"xx"
		switch {
		case status < 300:
			verdict, class = feedmill.VerdictDelivered, ""
		case status == 410:
			verdict = feedmill.VerdictGone
		}
		if r.Status != status || r.Verdict != verdict || r.Class != class || !r.Responded || asked != 1 {
			t.Errorf("status %d: result is %d, %s, %q, asked %d times", status, r.Status, r.Verdict, r.Class, asked)
		}
		wait := time.Duration(0)
		if status == 429 || status == 503 {
			wait = 7 * time.Second
		}
		if r.RetryAfter != wait {
			t.Errorf("status %d: retry after %s, want %s", status, r.RetryAfter, wait)
		}
		if kept := len(r.Body); status >= 300 && status != 304 && kept != feedmill.MaxKeptAnswer {
			t.Errorf("status %d: kept %d bytes of the answer", status, kept)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "x": 0, "1.5": 0,
		"999999999": feedmill.MaxRetryAfter, "99999999999999999999": feedmill.MaxRetryAfter,
		"Sun, 15 Nov 2026 12:01:00 GMT": time.Minute, "Sun, 15 Nov 2026 11:00:00 GMT": 0,
	} {
		a := &feedmill.HTTPAnswer{Status: 503, Header: [][2]string{{"Retry-After", text}, {"Retry-After", "7"}}}
		if got := retryAfter(a, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", text, got, want)
		}
	}
}

func TestAnswersThatDoNotEnd(t *testing.T) {
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(make([]byte, 50<<20))
		z.Close()
		return b.Bytes()
	}()
	stop := make(chan struct{})
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb)
		case "/hang":
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		case "/trickle":
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		case "/break":
			panic(http.ErrAbortHandler)
		}
	}))
	defer sink.Close()
	defer close(stop)
	k := newKind(t, "127.0.0.0/8")
	for path, want := range map[string]struct {
		ok    bool
		error string
		slow  bool // that time is what ends it
	}{
		"/endless": {ok: true},
		"/bomb":    {ok: true},
		"/hang":    {error: "no complete response within 200ms", slow: true},
		"/trickle": {error: "no complete response within 200ms", slow: true},
		"/break":   {error: "the connection closed before the response was complete"},
	} {
		m := newMessage(`{}`)
		if want.slow {
			m.Timeout = 200 * time.Millisecond
		}
		if r := open(t, k, http.MethodPost, sink.URL+path, "").Send(t.Context(), m); r.Delivered() != want.ok || r.Error != want.error {
			t.Errorf("%s: result is ok %v, %q; want ok %v, %q", path, r.Delivered(), r.Error, want.ok, want.error)
		}
	}
}

// Of a long header a part is kept, and that it is one.
func TestLongHeaders(t *testing.T) {
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines, size := 40, 10
		switch r.URL.Path {
		case "/many":
			lines = 60
		case "/large":
			size = 250
		case "/huge":
			size = 1000
		}
		for i := range lines {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("v", size))
		}
	}))
	defer sink.Close()
	k := newKind(t, "127.0.0.0/8")
	for path, cut := range map[string]bool{"/": false, "/many": true, "/large": true, "/huge": true} {
		r := post(t, k, sink.URL+path)
		size := 0
		for _, h := range r.Header {
			size += len(h[0]) + len(h[1])
		}
		if last := r.Header[len(r.Header)-1]; (last == feedmill.LinesLeftOut) != cut || len(r.Header) > maxKeptHeaders+1 || size > maxKeptHeaderBytes {
			t.Errorf("%s: %d headers of %d bytes are kept, the last is %q", path, len(r.Header), size, last)
		}
	}
}

func TestFailuresWithoutAnAnswer(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	secure, plain := httptest.NewTLSServer(nil), httptest.NewServer(nil)
	defer secure.Close()
	defer plain.Close()
	choosy := httptest.NewUnstartedServer(nil)
	choosy.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, errors.New("not you") }}
	choosy.Config.ErrorLog = log.New(io.Discard, "", 0)
	choosy.StartTLS()
	defer choosy.Close()
	for _, c := range []struct {
		name, url, allow, want string
		final                  bool
	}{
		{"refused", closed.URL, "127.0.0.0/8", "refused or failed", false},
		{"certificate", secure.URL, "127.0.0.0/8", "TLS connection failed: the endpoint's certificate is not signed by a trusted authority", false},
		{"alert", choosy.URL, "127.0.0.0/8", "TLS connection failed: the endpoint reported: internal error", false},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "127.0.0.0/8", "TLS connection failed: the endpoint does not use TLS on this port", false},
		{"forbidden", closed.URL, "192.0.2.0/24", "egress policy", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := post(t, newKind(t, c.allow), c.url)
			if r.Delivered() || r.Responded || r.Status != 0 || !strings.Contains(r.Error, c.want) || (r.Verdict == feedmill.VerdictRejected) != c.final {
				t.Errorf("result is %+v, want %q", r, c.want)
			}
			if strings.Contains(r.Error, "127.0.0.1") {
				t.Errorf("the error names an address: %s", r.Error)
			}
		})
	}
}
