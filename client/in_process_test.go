package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

func TestInProcess(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
		w.Header().Set("X-No-Deadline", map[bool]string{true: "yes"}[errors.Is(err, http.ErrNotSupported)])
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			w.WriteHeader(http.StatusTeapot) // the first one counts
		}
		io.Copy(w, r.Body)
	})
	send := func(sender *http.ResponseController, r *http.Request) (*http.Response, string) {
		t.Helper()
		resp, err := client.InProcess{Handler: handler, Sender: sender}.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.ContentLength != int64(len(body)) {
			t.Fatalf("%d bytes of %d: %v", len(body), resp.ContentLength, err)
		}
		return resp, string(body)
	}
	get, err := http.NewRequest(http.MethodGet, "http://feedmill/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, body := send(nil, get); resp.StatusCode != 200 || body != "" || resp.Header.Get("X-No-Deadline") != "yes" || get.Body != nil {
		t.Errorf("a request without a body: %d %q %q", resp.StatusCode, body, resp.Header)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RequestURI = ""
		resp, body := send(http.NewResponseController(w), r)
		if resp.StatusCode != 201 || body != "sent" || resp.Header.Get("X-No-Deadline") != "" {
			t.Errorf("a body that is still received: %d %q %q", resp.StatusCode, body, resp.Header)
		}
	}))
	defer server.Close()
	post, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader("sent"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(post)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func TestInProcessKeepsAPart(t *testing.T) {
	var written []error
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, err := io.WriteString(w, "1234")
			written = append(written, err)
		}
	})
	for most, want := range map[int]string{0: "123412341234", 12: "123412341234", 11: "12341234123", 4: "1234"} {
		written = nil
		resp, err := client.InProcess{Handler: handler, MaxBytes: most}.RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		whole := most == 0 || most >= 12
		if string(body) != want || errors.Is(err, client.ErrLongResponse) == whole || whole != (resp.ContentLength == 12) || whole != (written[2] == nil) {
			t.Errorf("%d: %q, %v, length %d, written %v", most, body, err, resp.ContentLength, written)
		}
	}
}
