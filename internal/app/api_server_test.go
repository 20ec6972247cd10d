package app

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/config"
)

// adminKey is the bootstrap key of the servers that tests start.
const adminKey = "bootstrap-key-of-the-tests-0123456789"

// service is a running server of its own for a test.
type service struct {
	app *App
	url string
	log *writtenText
	// greeting is what the operator saw at the start.
	greeting *writtenText
	client   *http.Client
	// stop ends the server and waits until it has; the log is complete then.
	stop func()
}

// setup is how a test wants its server.
type setup struct {
	env   []string          // settings as the environment has them
	adapt func(store) store // stands between the server and its store
}

// start runs a whole server on SQLite until the test ends.
func start(t *testing.T, s setup) *service {
	t.Helper()
	env := append([]string{
		"FEEDMILL_LISTEN=127.0.0.1:0", "FEEDMILL_DATA=" + t.TempDir(), "FEEDMILL_BOOTSTRAP_KEY=" + adminKey,
		"FEEDMILL_LOG_LEVEL=debug",
		// Whatever a test subscribes, nothing leaves the machine: everything
		// goes to a proxy that is not there.
		"FEEDMILL_EGRESS_PROXY=http://127.0.0.1:1",
	}, s.env...)
	c, err := config.Load("", env, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := new(writtenText)
	a, err := Open(t.Context(), c, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	opened := a.store
	if s.adapt != nil {
		a.store = s.adapt(opened)
	}
	return serveApp(t, a, log)
}

// serveApp runs the service of an app that is open.
func serveApp(t *testing.T, a *App, log *writtenText) *service {
	t.Helper()
	a.notice = 0 // hundreds of tests would wait for it
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	greeting, out := io.Pipe()
	var running sync.WaitGroup
	running.Go(func() {
		err := a.Serve(ctx, "test", out)
		if err != nil {
			t.Error(err)
		}
		out.CloseWithError(err)
	})
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	stop := sync.OnceFunc(func() {
		transport.CloseIdleConnections()
		cancel()
		running.Wait()
	})
	t.Cleanup(stop)
	greeted := new(writtenText)
	lines := bufio.NewReader(io.TeeReader(greeting, greeted))
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	running.Go(func() { io.Copy(io.Discard, lines) }) // ends when Serve does
	_, rest, _ := strings.Cut(line, "listening on ")
	url, _, _ := strings.Cut(rest, " ")
	return &service{app: a, url: url, log: log, greeting: greeted, stop: stop, client: &http.Client{
		Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// request is what a test sends.
type request struct {
	method, path string // the path with its query
	key          string // adminKey where empty, no credential where "-"
	body         string
	header       [][2]string
	chunked      bool // send the body without its length
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

// send makes a request and reads its answer.
func (s *service) send(t rapid.TB, q request) reply {
	t.Helper()
	answer, err := s.try(q)
	if err != nil {
		t.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	return answer
}

func (s *service) try(q request) (reply, error) {
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	if q.chunked {
		body = io.MultiReader(body)
	}
	r, err := http.NewRequest(q.method, s.url+q.path, body)
	if err != nil {
		return reply{}, err
	}
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key := cmp.Or(q.key, adminKey); key != "-" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for _, h := range q.header {
		r.Header.Add(h[0], h[1])
		if h[0] == "Content-Type" || h[0] == "Authorization" {
			r.Header.Set(h[0], h[1])
		}
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer answer.Body.Close()
	if strings.HasSuffix(r.URL.Path, "/stream") && r.Method != http.MethodHead && answer.StatusCode == http.StatusOK {
		line, err := bufio.NewReader(answer.Body).ReadString('\n') // it has no end
		return reply{answer.StatusCode, answer.Header, line}, err
	}
	text, err := io.ReadAll(answer.Body)
	return reply{answer.StatusCode, answer.Header, string(text)}, err
}

// problem is the body of an error as a client reads it.
type problem struct {
	Type, Title, Detail, Instance, RequestID string
	CreationURL                              string
	Status                                   int
	Errors                                   []fault
	Source, Trace, Handle                    json.RawMessage // of a preview that failed
}

type fault struct {
	Pointer   *string
	Parameter string
	Header    string
	Detail    string
}

// place says where a fault is, in one text.
func (f fault) place() string {
	switch {
	case f.Pointer != nil:
		return "pointer " + *f.Pointer
	case f.Parameter != "":
		return "parameter " + f.Parameter
	}
	return "header " + f.Header
}

func (p problem) places() []string {
	places := []string{}
	for _, f := range p.Errors {
		places = append(places, f.place())
	}
	return places
}

// problem reads an error and checks what holds for every one.
func (r reply) problem(t rapid.TB) (p problem) {
	t.Helper()
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%d: the content type is %q, want a problem document", r.status, got)
	}
	d := json.NewDecoder(strings.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		t.Fatalf("%d: %v in %s", r.status, err, r.body)
	}
	if p.Status != r.status || !strings.HasPrefix(p.Type, "/problems/") || p.Title == "" || p.Detail == "" || !strings.HasPrefix(p.Instance, "/") {
		t.Errorf("%d: the problem is %s", r.status, r.body)
	}
	if (p.RequestID != "") != (r.status >= 500) {
		t.Errorf("%d: a 5xx, and no other, names the request: %s", r.status, r.body)
	}
	for _, f := range p.Errors {
		places := 0
		for _, there := range []bool{f.Pointer != nil, f.Parameter != "", f.Header != ""} {
			if there {
				places++
			}
		}
		if places != 1 || f.Detail == "" {
			t.Errorf("%d: a fault has one place and a detail: %s", r.status, r.body)
		}
	}
	return p
}

// data reads the envelope of a resource into v.
func (r reply) data(t rapid.TB, v any) {
	t.Helper()
	envelope := struct{ Data any }{v}
	if err := json.Unmarshal([]byte(r.body), &envelope); err != nil || r.status >= 300 {
		t.Fatalf("%d, %v: %s", r.status, err, r.body)
	}
}

// made is what tests need of a resource that they made.
type made struct{ ID, Key, WorkspaceID string }

// newWorkspace makes a workspace.
func (s *service) newWorkspace(t rapid.TB, name string) (w made) {
	t.Helper()
	s.send(t, request{method: "POST", path: "/workspaces", body: toJSON(map[string]any{"name": name})}).data(t, &w)
	return w
}

// newKey makes a key of a workspace, of the default one where it is "".
func (s *service) newKey(t rapid.TB, workspace string, scopes ...string) (k made) {
	t.Helper()
	body := map[string]any{"name": "key for a test", "scopes": scopes}
	if workspace != "" {
		body["workspaceId"] = workspace
	}
	s.send(t, request{method: "POST", path: "/keys", body: toJSON(body)}).data(t, &k)
	return k
}

var everyScope = []string{"api:read", "api:write", "events:publish", "admin"}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// writtenText is a writer that several goroutines may write to and a test may read.
type writtenText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *writtenText) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *writtenText) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
