package app

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	reader := s.newKey(t, "", "api:read").Key
	revoked := s.newKey(t, "", everyScope...)
	s.send(t, request{method: "DELETE", path: "/keys/" + revoked.ID})
	const body = `{"name":"n","scopes":["api:read"]}`
	const badToken = `Bearer realm="feedmill", error="invalid_token"`
	header := func(name, value string) [][2]string { return [][2]string{{name, value}} }
	for _, c := range []struct {
		name    string
		request request
		status  int
		kind    string
		header  [2]string
		detail  string
	}{
		{"no credential", request{method: "GET", path: "/keys", key: "-"}, 401, "unauthenticated", [2]string{"Www-Authenticate", `Bearer realm="feedmill"`}, "Bearer"},
		{"no credential to write", request{method: "POST", path: "/keys", key: "-", body: "{"}, 401, "unauthenticated", [2]string{"Www-Authenticate", `Bearer realm="feedmill"`}, "Bearer"},
		{"unknown key", request{method: "GET", path: "/keys", key: "fm_" + strings.Repeat("x", 43)}, 401, "unauthenticated", [2]string{"Www-Authenticate", badToken}, "unknown"},
		{"revoked key", request{method: "GET", path: "/keys", key: revoked.Key}, 401, "unauthenticated", [2]string{"Www-Authenticate", badToken}, "revoked"},
		{"another scheme", request{method: "GET", path: "/keys", header: header("Authorization", "Basic YTpi")}, 401, "unauthenticated", [2]string{"Www-Authenticate", `Bearer realm="feedmill"`}, "Bearer"},
		{"the scheme in small letters", request{method: "GET", path: "/keys?limit=0", header: header("Authorization", "bearer "+adminKey)}, 400, "invalid-request", [2]string{}, ""},
		{"lacking scope", request{method: "POST", path: "/keys", key: reader, body: body}, 403, "missing-scope", [2]string{"Www-Authenticate", `Bearer realm="feedmill", error="insufficient_scope", scope="admin"`}, `"admin"`},
		{"Bearer and nothing", request{method: "GET", path: "/keys", header: header("Authorization", "Bearer ")}, 401, "unauthenticated", [2]string{"Www-Authenticate", `Bearer realm="feedmill"`}, "no credential"},
		{"unknown path with a query", request{method: "GET", path: "/nothing?a=%ff&a"}, 404, "not-found", [2]string{}, "/openapi.json"},
		{"wrong method with a query", request{method: "PATCH", path: "/keys?a=%zz"}, 405, "method-not-allowed", [2]string{"Allow", "GET, HEAD, POST"}, "GET, HEAD, POST"},
		{"unknown path", request{method: "GET", path: "/nothing"}, 404, "not-found", [2]string{}, "/openapi.json"},
		{"unknown path, no credential", request{method: "GET", path: "/nothing", key: "-"}, 404, "not-found", [2]string{}, "/openapi.json"},
		{"unknown id", request{method: "DELETE", path: "/keys/key_01h455vb4pex5vsknk084sn02q"}, 404, "not-found", [2]string{}, "ID"},
		{"no id", request{method: "DELETE", path: "/keys/1"}, 404, "not-found", [2]string{}, "ID"},
		{"id of another kind", request{method: "DELETE", path: "/keys/ws_01h455vb4pex5vsknk084sn02q"}, 404, "not-found", [2]string{}, "ID"},
		{"wrong method", request{method: "PATCH", path: "/keys"}, 405, "method-not-allowed", [2]string{"Allow", "GET, HEAD, POST"}, "GET, HEAD, POST"},
		{"too large", request{method: "POST", path: "/keys", body: body + strings.Repeat(" ", 1<<20)}, 413, "too-large", [2]string{}, "1048576 bytes"},
		{"too large in pieces", request{method: "POST", path: "/keys", body: body + strings.Repeat(" ", 1<<20), chunked: true}, 413, "too-large", [2]string{}, "1048576 bytes"},
		{"wrong format", request{method: "POST", path: "/keys", body: "a,b", header: header("Content-Type", "text/csv")}, 415, "unsupported-format", [2]string{"Accept-Post", "application/json"}, "application/json"},
		{"unreadable format", request{method: "POST", path: "/keys", body: "a,b", header: header("Content-Type", "///")}, 415, "unsupported-format", [2]string{"Accept-Post", "application/json"}, "application/json"},
		{"compressed", request{method: "POST", path: "/keys", body: body, header: header("Content-Encoding", "gzip")}, 415, "unsupported-format", [2]string{"Accept-Post", "application/json"}, "Content-Encoding"},
		{"wrong charset", request{method: "POST", path: "/keys", body: body, header: header("Content-Type", "application/json; charset=latin1")}, 415, "unsupported-format", [2]string{"Accept-Post", "application/json"}, "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := s.send(t, c.request)
			p := answer.problem(t)
			path, _, _ := strings.Cut(c.request.path, "?")
			if answer.status != c.status || p.Type != "/problems/"+c.kind || p.Instance != path || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("answered %d: %s", answer.status, answer.body)
			}
			if name := c.header[0]; name != "" && answer.header.Get(name) != c.header[1] {
				t.Errorf("%s is %q, want %q", name, answer.header.Get(name), c.header[1])
			}
			if answer.header.Get("X-Request-Id") == "" || answer.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers are %v", answer.header)
			}
		})
	}
}

func TestTwoCredentials(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	r, err := http.NewRequest("GET", s.url+"/keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Authorization"] = []string{"Bearer " + adminKey, "Bearer " + adminKey}
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 401 {
		t.Errorf("answered %d", answer.StatusCode)
	}
}

// A body of exactly the limit is read; one byte more is not.
func TestBodyLimitIsExact(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	const body = `{"name":"n","scopes":["api:read"]}`
	for size, status := range map[int]int{1 << 20: 201, 1<<20 + 1: 413} {
		got := s.send(t, request{method: "POST", path: "/keys", body: body + strings.Repeat(" ", size-len(body))})
		if got.status != status {
			t.Errorf("%d bytes are answered %d, want %d", size, got.status, status)
		}
	}
}

func TestMissingContentTypeIsJSON(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	r, err := http.NewRequest("POST", s.url+"/keys", strings.NewReader(`{"name":"n","scopes":["api:read"]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 201 {
		text, _ := io.ReadAll(answer.Body)
		t.Errorf("answered %d: %s", answer.StatusCode, text)
	}
}

// HEAD is GET without the body, wherever there is a GET.
func TestHead(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, op := range readDocument(t).operations {
		if op.method != "GET" || len(op.with("path")) > 0 {
			continue
		}
		get, head := s.send(t, request{method: "GET", path: op.path}), s.send(t, request{method: "HEAD", path: op.path})
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("%s: HEAD is answered %d %v %q, GET %d %v", op.path, head.status, head.header, head.body, get.status, get.header)
		}
		// It measures while it answers, so that two answers may differ by a digit.
		for tries := 0; op.path == "/operate" && tries < 20 && head.header.Get("Content-Length") != get.header.Get("Content-Length"); tries++ {
			get, head = s.send(t, request{method: "GET", path: op.path}), s.send(t, request{method: "HEAD", path: op.path})
		}
		if op.path != "/metrics" && head.header.Get("Content-Length") != get.header.Get("Content-Length") {
			t.Errorf("%s: HEAD says %s bytes, GET %s", op.path, head.header.Get("Content-Length"), get.header.Get("Content-Length"))
		}
	}
	if got := s.send(t, request{method: "HEAD", path: "/keys", key: "-"}); got.status != 401 || got.body != "" {
		t.Errorf("HEAD without a credential is answered %d", got.status)
	}
}

// The id of a request is the client's own where it sends one; answers and the
// log have it.
func TestRequestIDIsInTheLog(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	key := s.newKey(t, "", "admin")
	own := s.send(t, request{method: "GET", path: "/keys?limit=1", key: key.Key, header: [][2]string{{"X-Request-Id", "mine-1"}}})
	given := s.send(t, request{method: "GET", path: "/keys?limit=1"}).header.Get("X-Request-Id")
	other := s.send(t, request{method: "GET", path: "/keys?limit=1"}).header.Get("X-Request-Id")
	if own.header.Get("X-Request-Id") != "mine-1" || given == "" || given == other {
		t.Errorf("the ids are %q, %q and %q", own.header.Get("X-Request-Id"), given, other)
	}
	s.stop()
	lines := make(map[string]map[string]any)
	for text := range strings.Lines(s.log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if id, ok := line["requestId"].(string); ok {
			lines[id] = line
		}
	}
	line := lines["mine-1"]
	if line["method"] != "GET" || line["path"] != "/keys" || line["status"] != 200.0 || line["credential"] != key.ID || line["workspace"] != key.WorkspaceID {
		t.Errorf("the log has %v", line)
	}
	if lines[given] == nil || lines[other] == nil {
		t.Errorf("the log does not have %q and %q", given, other)
	}
}
