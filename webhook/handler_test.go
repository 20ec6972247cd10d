package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// ask makes a request to a handler on a real server.
func ask(t *testing.T, h http.Handler, method, query, body string, header http.Header) (*http.Response, string) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/hook?"+query, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(answer)
}

func TestHandlerAnswersForHandle(t *testing.T) {
	secret := errors.New("the password of the database is hunter2")
	for _, c := range []struct {
		name       string
		returns    error
		status     int
		retryAfter string
	}{
		{"nothing wrong", nil, http.StatusNoContent, ""},
		{"an error", secret, http.StatusInternalServerError, ""},
		{"gone", fmt.Errorf("this customer left: %w", ErrGone), http.StatusGone, ""},
		{"later", RetryAfter(time.Minute), http.StatusServiceUnavailable, "60"},
		{"later, wrapped", fmt.Errorf("%w: %w", secret, RetryAfter(90*time.Minute)), http.StatusServiceUnavailable, "5400"},
		{"a moment later", RetryAfter(1), http.StatusServiceUnavailable, "1"},
		{"now", RetryAfter(0), http.StatusServiceUnavailable, "0"},
		{"before", RetryAfter(-time.Hour), http.StatusServiceUnavailable, "0"},
		{"never", RetryAfter(math.MaxInt64), http.StatusServiceUnavailable, "9223372037"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var failed error
			h := &Handler{
				Verifier: mustNew(t, oldSecret),
				Handle:   func(context.Context, Event) error { return c.returns },
				Failed:   func(_ *http.Request, err error) { failed = err },
			}
			resp, body := ask(t, h, "POST", "", testPayload, signed(t, time.Now(), testPayload, oldSecret))
			if resp.StatusCode != c.status || resp.Header.Get("Retry-After") != c.retryAfter {
				t.Errorf("%d with Retry-After %q, want %d with %q", resp.StatusCode, resp.Header.Get("Retry-After"), c.status, c.retryAfter)
			}
			if !errors.Is(failed, c.returns) || (failed == nil) != (c.returns == nil) {
				t.Errorf("Failed was told %v, want %v", failed, c.returns)
			}
			if strings.Contains(body, "hunter2") {
				t.Errorf("the answer is %q", body)
			}
		})
	}
}

func TestHandlerAnswersRequestsThatAreNoDeliveries(t *testing.T) {
	now := time.Now()
	good := func() http.Header { return signed(t, now, testPayload, oldSecret) }
	for _, c := range []struct {
		name        string
		method      string
		query, body string
		header      http.Header
		status      int
		want        error
	}{
		{"not signed", "POST", "", testPayload, http.Header{}, http.StatusUnauthorized, ErrSignature},
		{"signed by somebody else", "POST", "", testPayload, signed(t, now, testPayload, otherSecret), http.StatusUnauthorized, ErrSignature},
		{"another payload", "POST", "", testPayload + " ", good(), http.StatusUnauthorized, ErrSignature},
		{"an old one", "POST", "", testPayload, signed(t, now.Add(-time.Hour), testPayload, oldSecret), http.StatusUnauthorized, ErrTimestamp},
		{"signed nonsense", "POST", "", "nonsense", signed(t, now, "nonsense", oldSecret), http.StatusBadRequest, ErrMalformed},
		{"no payload", "GET", "x=1", "", good(), http.StatusBadRequest, ErrMalformed},
		{"a long query", "GET", strings.Repeat("x", maxQuery+1), "", good(), http.StatusRequestURITooLong, ErrTooLarge},
		{"a large body", "POST", "", strings.Repeat("x", maxBody+1), good(), http.StatusRequestEntityTooLarge, ErrTooLarge},
		{"PUT", "PUT", "", testPayload, good(), http.StatusMethodNotAllowed, ErrMethod},
		{"HEAD", "HEAD", "", "", good(), http.StatusMethodNotAllowed, ErrMethod},
	} {
		t.Run(c.name, func(t *testing.T) {
			var failed error
			h := &Handler{
				Verifier: mustNew(t, oldSecret),
				Handle: func(_ context.Context, e Event) error {
					t.Errorf("it was handled: %+v", e)
					return nil
				},
				Failed: func(_ *http.Request, err error) { failed = err },
			}
			resp, _ := ask(t, h, c.method, c.query, c.body, c.header)
			if resp.StatusCode != c.status || !errors.Is(failed, c.want) {
				t.Errorf("%d, %v, want %d, %v", resp.StatusCode, failed, c.status, c.want)
			}
			if got := resp.Header.Get("Allow"); (got == "GET, POST") != (c.status == http.StatusMethodNotAllowed) {
				t.Errorf("Allow is %q", got)
			}
			if got := resp.Header.Get("WWW-Authenticate"); (got != "") != (c.status == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate is %q", got)
			}
		})
	}
}

func TestHandlerTakesBothMethods(t *testing.T) {
	for _, c := range []struct{ method, query, body string }{
		{"POST", "payload=not+this", testPayload},
		{"GET", "x=1&payload=" + url.QueryEscape(testPayload), ""},
	} {
		t.Run(c.method, func(t *testing.T) {
			var got Event
			h := &Handler{Verifier: mustNew(t, oldSecret), Handle: func(_ context.Context, e Event) error {
				got = e
				return nil
			}}
			resp, _ := ask(t, h, c.method, c.query, c.body, signed(t, time.Now(), testPayload, oldSecret))
			if resp.StatusCode != http.StatusNoContent || got.ID != "evt_1" || string(got.Payload) != testPayload {
				t.Errorf("%d, %+v", resp.StatusCode, got)
			}
		})
	}
}

func TestBodyThatBreaksOffNamesNoAddress(t *testing.T) {
	r := httptest.NewRequest("POST", "/hook", &brokenBody{})
	w := httptest.NewRecorder()
	(&Handler{Verifier: mustNew(t, oldSecret)}).ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), "10.0.0.1") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

type brokenBody struct{}

func (*brokenBody) Read([]byte) (int, error) { return 0, errors.New("read tcp 10.0.0.1:80: timeout") }
