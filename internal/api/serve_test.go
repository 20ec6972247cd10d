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
	id := string(feedmill.NewID(feedmill.PrefixKey))
	for path, want := range map[string]string{
		"/keys/" + feedmill.NewKeySecret():         "/keys/***",
		"/keys/a-key-that-the-operator-has-chosen": "/keys/***",
		"/keys/chosen_01h455vb4pex5vsknk084sn02q":  "/keys/***",
		"/nothing/of/ours":                         "/***/***/***",
		"/keys/%ff":                                "/keys/***",
		"/keys/" + id:                              "/keys/" + id,
		"/events/subscriptions/" + id + "/test":    "/events/subscriptions/" + id + "/test",
		"/docs/how-to/" + id:                       "/docs/***/" + id,
		"/":                                        "/",
		"//keys":                                   "//keys",
	} {
		var log strings.Builder
		ask(newTestServer(&log), "BREW", path, "")
		if line := lastLine(t, &log); line["path"] != want {
			t.Errorf("%s: the log says %s", path, log.String())
		}
	}
}

func TestProblemsHoldAnyText(t *testing.T) {
	const text = "\xff\x00\u2028\""
	refusal := &feedmill.Error{Kind: feedmill.ErrInvalid, Type: text, Detail: text, Faults: []feedmill.Fault{
		{Pointer: text, Detail: text}, {Parameter: text, Detail: text}, {Header: text, Detail: text},
	}}
	s := newTestServer(new(strings.Builder), route{method: "GET", path: "/fails/{id}", handle: func(*call) (answer, error) { return answer{}, refusal }})
	w := ask(s, "GET", "/fails/%ff", "")
	if p := readProblem(t, w); w.Code != 400 || len(p.Errors) != 3 || p.Errors[1].Parameter != valid(text) || p.Instance != "/fails/\ufffd" {
		t.Errorf("%d: %s", w.Code, w.Body)
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
