package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestPanicIsAFaultOfOurOwn(t *testing.T) {
	const inside = "the vault's cellar is flooded"
	var log strings.Builder
	s := newTestServer(&log, route{method: "GET", path: "/panic", handle: func(*call) (answer, error) { panic(inside) }})
	w := ask(s, "GET", "/panic", "", "X-Request-Id", "my-request")
	p := readProblem(t, w)
	if w.Code != 500 || p.Type != "/problems/internal" || p.RequestID != "my-request" || w.Header().Get("X-Request-Id") != "my-request" {
		t.Errorf("%d, %v: %s", w.Code, w.Header(), w.Body)
	}
	if body := w.Body.String(); strings.Contains(body, inside) || strings.Contains(body, ".go") {
		t.Errorf("the answer shows what is inside: %s", body)
	}
	line := lastLine(t, &log)
	if line["level"] != "ERROR" || line["requestId"] != "my-request" || line["status"] != 500.0 {
		t.Errorf("the log says %v", line)
	}
	if text, _ := line["error"].(string); !strings.Contains(text, inside) || !strings.Contains(text, "serve_test.go") {
		t.Errorf("the log does not say what and where: %v", line["error"])
	}
	if after := ask(s, "GET", "/healthz", ""); after.Code != 200 {
		t.Errorf("the next request is answered %d", after.Code)
	}
}

func TestFaultsOfOurOwnShowNothing(t *testing.T) {
	cause := errors.New("dial tcp 10.1.2.3:5432: password of feedmill is wrong")
	for _, c := range []struct {
		err        error
		status     int
		retryAfter string
	}{
		{cause, 500, ""},
		{errors.Join(feedmill.ErrUnavailable, cause), 503, "1"},
	} {
		var log strings.Builder
		s := newTestServer(&log, route{method: "GET", path: "/fails", handle: func(*call) (answer, error) { return answer{}, c.err }})
		w := ask(s, "GET", "/fails", "")
		p := readProblem(t, w)
		if w.Code != c.status || w.Header().Get("Retry-After") != c.retryAfter || p.RequestID == "" || p.RequestID != w.Header().Get("X-Request-Id") {
			t.Errorf("%v: %d, %v: %s", c.err, w.Code, w.Header(), w.Body)
		}
		if strings.Contains(w.Body.String(), "password") {
			t.Errorf("the answer shows the cause: %s", w.Body)
		}
		if line := lastLine(t, &log); line["requestId"] != p.RequestID || !strings.Contains(line["error"].(string), cause.Error()) {
			t.Errorf("the log says %v", line)
		}
	}
}

func TestRequestID(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		kept       bool
	}{
		{"none", "", false},
		{"one's own", "trace:4/5", true},
		{"longest", strings.Repeat("x", 128), true},
		{"too long", strings.Repeat("x", 129), false},
		{"a space", "a b", false},
		{"not ASCII", "ä", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			w := ask(newTestServer(&log), "GET", "/healthz", "", "X-Request-Id", c.sent)
			got := w.Header().Get("X-Request-Id")
			if (got == c.sent) != c.kept || got == "" {
				t.Errorf("sent %q, got %q", c.sent, got)
			}
			if line := lastLine(t, &log); line["requestId"] != got || line["method"] != http.MethodGet || line["path"] != "/healthz" || line["status"] != 200.0 {
				t.Errorf("the log says %v", line)
			}
		})
	}
}

// A client that takes its key for the key's id must not find it in the log.
func TestLogHidesAKeyInThePath(t *testing.T) {
	secret := feedmill.NewKeySecret()
	for _, path := range []string{"/keys/" + secret, "/nothing/" + secret} {
		var log strings.Builder
		ask(newTestServer(&log), "DELETE", path, "")
		if line := lastLine(t, &log); strings.Contains(log.String(), secret) || line["path"] != strings.ReplaceAll(path, secret, "fm_***") {
			t.Errorf("the log says %s", log.String())
		}
	}
}

func lastLine(t *testing.T, log *strings.Builder) (line map[string]any) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatalf("%v in %q", err, log.String())
	}
	return line
}
