package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill/internal/decode"
)

// newTestServer makes a server without a store, whose every caller holds every
// scope, with further routes that a test brings. What it logs goes to log.
func newTestServer(log *strings.Builder, more ...route) *Server {
	s := New(Options{
		Auth: everybody{"ws_test"}, Metrics: prometheus.NewRegistry(), Formats: decode.Formats(), CheckReading: decode.CheckReading,
		Docs: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<!doctype html>")) }),
		Log:  slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	for _, r := range more {
		s.handle(r)
	}
	return s
}

func ask(s *Server, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func readProblem(t *testing.T, w *httptest.ResponseRecorder) (p problem) {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type is %q, want a problem document", got)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	if p.Status != w.Code {
		t.Errorf("the problem says %d, the answer %d", p.Status, w.Code)
	}
	return p
}

// ok is an operation that has nothing to do.
func ok(*call) (answer, error) { return answer{status: http.StatusNoContent}, nil }
