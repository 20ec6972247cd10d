package app

import (
	"regexp"
	"strconv"
	"testing"
)

func TestRateLimit(t *testing.T) {
	s := start(t, setup{env: []string{"FEEDMILL_RATE_LIMIT=0.001", "FEEDMILL_RATE_BURST=5"}})
	d := readDocument(t)
	other := s.newKey(t, "", "admin") // the first of the admin's five
	header := regexp.MustCompile(`^"default";r=(\d+);t=\d+$`)
	for left := 3; left >= 0; left-- {
		got := s.send(t, request{method: "GET", path: "/keys"})
		m := header.FindStringSubmatch(got.header.Get("RateLimit"))
		if got.status != 200 || m == nil || m[1] != strconv.Itoa(left) || got.header.Get("RateLimit-Policy") != `"default";q=5;w=5000` {
			t.Fatalf("with %d left: %d %v", left, got.status, got.header)
		}
	}
	for _, q := range []request{{method: "GET", path: "/keys"}, createIdempotent("k", newReader)} {
		got := s.send(t, q)
		wantProblem(t, got, 429, "too-many-requests")
		if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 900 || wait > 1000 {
			t.Errorf("Retry-After is %q, want up to 1000 seconds", got.header.Get("Retry-After"))
		}
		if m := header.FindStringSubmatch(got.header.Get("RateLimit")); m == nil || m[1] != "0" {
			t.Errorf("RateLimit is %q", got.header.Get("RateLimit"))
		}
		for _, op := range d.operations {
			if op.method == q.method && op.path == q.path {
				for _, f := range d.faultsOfAnswer(op, got) {
					t.Error(f)
				}
			}
		}
	}
	// The limit is of a credential: others are not held up, nor is what needs none.
	if got := s.send(t, request{method: "GET", path: "/keys", key: other.Key}); got.status != 200 {
		t.Errorf("another key is answered %d: %s", got.status, got.body)
	}
	for _, path := range []string{"/healthz", "/metrics", "/openapi.json"} {
		if got := s.send(t, request{method: "GET", path: path}); got.status != 200 || got.header.Get("RateLimit") != "" {
			t.Errorf("%s is answered %d %v", path, got.status, got.header)
		}
	}
}

func TestNoRateLimitByDefault(t *testing.T) {
	s := start(t, setup{})
	if got := s.send(t, request{method: "GET", path: "/keys"}); got.header.Get("RateLimit") != "" || got.header.Get("RateLimit-Policy") != "" {
		t.Errorf("the headers are %v", got.header)
	}
}

func TestCORS(t *testing.T) {
	const allowed, denied = "https://app.example.com", "https://evil.example.com"
	preflight := func(origin string) request {
		return request{method: "OPTIONS", path: "/keys", key: "-", header: [][2]string{
			{"Origin", origin}, {"Access-Control-Request-Method", "DELETE"}, {"Access-Control-Request-Headers", "authorization,idempotency-key"},
		}}
	}
	from := func(origin, key string) request {
		return request{method: "GET", path: "/keys", key: key, header: [][2]string{{"Origin", origin}}}
	}
	t.Run("off by default", func(t *testing.T) {
		s := start(t, setup{})
		for _, q := range []request{preflight(allowed), from(allowed, ""), from(allowed, "-")} {
			got := s.send(t, q)
			for name := range got.header {
				if len(name) > 15 && name[:15] == "Access-Control-" {
					t.Errorf("%s %s has %s", q.method, q.path, name)
				}
			}
		}
		if got := s.send(t, preflight(allowed)); got.status != 405 {
			t.Errorf("a preflight is answered %d", got.status)
		}
	})
	t.Run("on for an origin", func(t *testing.T) {
		s := start(t, setup{env: []string{"FEEDMILL_CORS_ORIGINS=" + allowed}})
		got := s.send(t, preflight(allowed))
		if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != allowed ||
			got.header.Get("Access-Control-Allow-Methods") == "" || got.header.Get("Access-Control-Allow-Headers") == "" {
			t.Errorf("a preflight is answered %d %v", got.status, got.header)
		}
		event := preflight(allowed)
		event.header[2][1] = "authorization,ce-datacontenttype,ce-dataschema,ce-id,ce-source,ce-specversion,ce-subject,ce-time,ce-type,content-type"
		if got := s.send(t, event); got.status != 204 {
			t.Errorf("the preflight of a CloudEvent is answered %d %v", got.status, got.header)
		}
		for key, status := range map[string]int{"": 200, "-": 401} {
			got := s.send(t, from(allowed, key))
			if got.status != status || got.header.Get("Access-Control-Allow-Origin") != allowed || got.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("answered %d %v", got.status, got.header)
			}
			if !regexp.MustCompile(`(?i)\blink\b.*\bx-request-id\b|\bx-request-id\b.*\blink\b`).MatchString(got.header.Get("Access-Control-Expose-Headers")) {
				t.Errorf("pages may read %q", got.header.Get("Access-Control-Expose-Headers"))
			}
		}
		for _, q := range []request{preflight(denied), from(denied, "")} {
			if got := s.send(t, q); got.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from elsewhere is answered %v", q.method, got.header)
			}
		}
	})
}
