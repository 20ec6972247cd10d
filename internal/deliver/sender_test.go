package deliver

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

func newSender(t *testing.T, allow ...string) *Sender {
	t.Helper()
	c, err := egress.New(egress.Options{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	transport := c.Express(100, feedmill.MaxReadAnswer)
	t.Cleanup(transport.CloseIdleConnections)
	return &Sender{Transport: transport, Forbidden: egress.ErrForbidden, UserAgent: "Feedmill/test"}
}

func newTarget(url string) Target {
	return Target{
		Subscription: feedmill.NewID(feedmill.PrefixSubscription), URL: url, Method: http.MethodPost,
		Settings: feedmill.DeliverySettings{Timeout: feedmill.DefaultTimeout, Concurrency: feedmill.DefaultConcurrency},
		Secrets:  feedmill.SigningSecrets{Current: feedmill.NewSigningSecret()},
	}
}

func newMessage(payload string) Message {
	return Message{
		Delivery: feedmill.NewID(feedmill.PrefixDelivery), Event: feedmill.NewID(feedmill.PrefixEvent),
		Type: "metric.created", Payload: []byte(payload), Attempt: 3, At: time.Now(),
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
	target, m := newTarget(sink.URL+"/hook?a=1"), newMessage(`{"id":"evt_1","data":{"ü":1}}`)
	target.Headers = map[string]string{"X-Extra": "one"}
	r := newSender(t, "127.0.0.0/8").Send(t.Context(), target, m)
	if !r.ok() || r.Status != 200 || r.Body != nil {
		t.Errorf("result is %+v", r)
	}
	if string(body) != string(m.Payload) || got.Method != "POST" || got.RequestURI != "/hook?a=1" {
		t.Errorf("got %s %s with %s", got.Method, got.RequestURI, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Feedmill/test", "X-Service-Event": "metric.created",
		"X-Service-Delivery": string(m.Delivery), "X-Service-Attempt": "3", "X-Extra": "one", "Webhook-Id": string(m.Delivery),
		"X-Service-Signature": hexHMAC(target.Secrets.Current, m.Payload),
	} {
		if v := got.Header.Get(name); v != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	if err := verify(target.Secrets.Current, body, got.Header); err != nil {
		t.Errorf("the stock library does not verify: %v", err)
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
		target, m := newTarget(sink.URL+c.path), newMessage(payload)
		target.Method = http.MethodGet
		if r := newSender(t, "127.0.0.0/8").Send(t.Context(), target, m); !r.ok() {
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
		if got.Header.Get("X-Service-Signature") != hexHMAC(target.Secrets.Current, m.Payload) {
			t.Error("the signature is not of the JSON text")
		}
	}
}

// A URL may have 8 KiB, and not a byte more.
func TestGetThatDoesNotFitIsNotSent(t *testing.T) {
	arrived := 0
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived++ }))
	defer sink.Close()
	target, s := newTarget(sink.URL+"/"), newSender(t, "127.0.0.0/8")
	target.Method = http.MethodGet
	most := 8192 - len(sink.URL+"/?payload=")
	if r := s.Send(t.Context(), target, newMessage(strings.Repeat("x", most))); !r.ok() || arrived != 1 {
		t.Errorf("a URL of 8 KiB: %+v", r)
	}
	r := s.Send(t.Context(), target, newMessage(strings.Repeat("x", most+1)))
	if !r.Final || !r.NotSent || !strings.Contains(r.Error, "8 KiB") || arrived != 1 {
		t.Errorf("a byte more: %+v", r)
	}
}

func TestURLThatCannotBeUsed(t *testing.T) {
	r := newSender(t).Send(t.Context(), newTarget("http://[::1"), newMessage(`{}`))
	if !r.Final || !r.NotSent || r.Error != "the subscription's URL cannot be used" {
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
	s := newSender(t, "127.0.0.0/8")
	for status := 200; status < 600; status++ {
		asked = 0
		r := s.Send(t.Context(), newTarget(sink.URL+"/"+string(rune('0'+status/100))+string(rune('0'+status/10%10))+string(rune('0'+status%10))), newMessage(`{}`))
		if r.Status != status || r.ok() != (status < 300) || asked != 1 {
			t.Errorf("status %d: result is %d, ok %v, asked %d times", status, r.Status, r.ok(), asked)
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
	s := newSender(t, "127.0.0.0/8")
	for path, want := range map[string]struct {
		ok    bool
		error string
		slow  bool // that time is what ends it
	}{
		"/endless": {ok: true},
		"/bomb":    {ok: true},
		"/hang":    {error: "no complete answer within 200ms", slow: true},
		"/trickle": {error: "no complete answer within 200ms", slow: true},
		"/break":   {error: "the connection broke before an answer came"},
	} {
		target := newTarget(sink.URL + path)
		if want.slow {
			target.Settings.Timeout = 200 * time.Millisecond
		}
		if r := s.Send(t.Context(), target, newMessage(`{}`)); r.ok() != want.ok || r.Error != want.error {
			t.Errorf("%s: result is ok %v, %q; want ok %v, %q", path, r.ok(), r.Error, want.ok, want.error)
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
	s := newSender(t, "127.0.0.0/8")
	for path, cut := range map[string]bool{"/": false, "/many": true, "/large": true, "/huge": true} {
		r := s.Send(t.Context(), newTarget(sink.URL+path), newMessage(`{}`))
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
		{"refused", closed.URL, "127.0.0.0/8", "refused or could not be made", false},
		{"certificate", secure.URL, "127.0.0.0/8", "TLS connection failed: the endpoint's certificate is signed by nobody who is trusted here", false},
		{"alert", choosy.URL, "127.0.0.0/8", "TLS connection failed: the endpoint says: internal error", false},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "127.0.0.0/8", "TLS connection failed: the endpoint speaks no TLS at this port", false},
		{"forbidden", closed.URL, "192.0.2.0/24", "egress policy", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newSender(t, c.allow).Send(t.Context(), newTarget(c.url), newMessage(`{}`))
			if r.ok() || r.Status != 0 || !strings.Contains(r.Error, c.want) || r.Final != c.final {
				t.Errorf("result is %+v, want %q", r, c.want)
			}
			if strings.Contains(r.Error, "127.0.0.1") {
				t.Errorf("the error names an address: %s", r.Error)
			}
		})
	}
}
