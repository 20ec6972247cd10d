package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/vault"
)

const newReader = `{"name":"made once","scopes":["api:read"]}`

// createOnce makes a key under an idempotency key.
func createIdempotent(onceKey, body string) request {
	return request{method: "POST", path: "/keys", body: body, header: [][2]string{{"Idempotency-Key", onceKey}}}
}

// same is an answer without what is of the single request.
func (r reply) same() reply {
	header := r.header.Clone()
	header.Del("Date")
	header.Del("X-Request-Id")
	return reply{r.status, header, r.body}
}

func wantSame(t *testing.T, first, again reply) {
	t.Helper()
	if diff := cmp.Diff(first.same(), again.same(), cmp.AllowUnexported(reply{})); diff != "" {
		t.Errorf("the answer is not the first one again (-first +again):\n%s", diff)
	}
}

func wantProblem(t *testing.T, got reply, status int, kind string) {
	t.Helper()
	if p := got.problem(t); got.status != status || p.Type != "/problems/"+kind {
		t.Errorf("answered %d: %s\nwant %d %s", got.status, got.body, status, kind)
	}
}

// countKeys is how many keys of the name there are.
func countKeys(t *testing.T, s *service) int {
	t.Helper()
	return strings.Count(s.send(t, request{method: "GET", path: "/keys?limit=500"}).body, `"made once"`)
}

func TestIdempotencyGivesTheFirstAnswerAgain(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for name, q := range map[string]request{
		"made":          createIdempotent("made", newReader),
		"invalid":       createIdempotent("invalid", `{"name":7}`),
		"no JSON":       createIdempotent("no JSON", `{`),
		"no workspace":  createIdempotent("nowhere", `{"name":"n","scopes":["admin"],"workspaceId":"ws_1"}`),
		"wrong format":  {method: "POST", path: "/keys", body: "a", header: [][2]string{{"Idempotency-Key", "format"}, {"Content-Type", "text/csv"}}},
		"name taken":    {method: "POST", path: "/workspaces", body: `{"name":"default"}`, header: [][2]string{{"Idempotency-Key", "taken"}}},
		"unknown query": {method: "POST", path: "/keys?x=1", body: newReader, header: [][2]string{{"Idempotency-Key", "query"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, h := range q.header {
				if h[0] == "Idempotency-Key" {
					q.header[i][1] = strings.ReplaceAll(h[1], " ", "-")
				}
			}
			first := s.send(t, q)
			wantSame(t, first, s.send(t, q))
			q.chunked = true // the same bytes, sent in another way
			wantSame(t, first, s.send(t, q))
		})
	}
	if n := countKeys(t, s); n != 1 {
		t.Errorf("%d keys were made, want 1", n)
	}
}

func TestIdempotencyIsForOneRequest(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	first := s.send(t, createIdempotent("k", newReader))
	header := func(more ...[2]string) [][2]string { return append(more, [2]string{"Idempotency-Key", "k"}) }
	for name, q := range map[string]request{
		"body":         {method: "POST", path: "/keys", body: newReader + " ", header: header()},
		"no body":      {method: "POST", path: "/keys", header: header()},
		"content type": {method: "POST", path: "/keys", body: newReader, header: header([2]string{"Content-Type", "application/json; charset=utf-8"})},
		"query":        {method: "POST", path: "/keys?x=1", body: newReader, header: header()},
		"path":         {method: "POST", path: "/workspaces", body: newReader, header: header()},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.send(t, q)
			wantProblem(t, got, 409, "idempotency-mismatch")
			if places := got.problem(t).places(); !slices.Equal(places, []string{"header Idempotency-Key"}) {
				t.Errorf("the faults are at %q", places)
			}
		})
	}
	wantSame(t, first, s.send(t, createIdempotent("k", newReader)))

	// Another workspace's key of the same text is another key.
	other := s.newKey(t, s.newWorkspace(t, "other").ID, "admin")
	q := createIdempotent("k", newReader)
	q.key = other.Key
	if got := s.send(t, q); got.status != 201 || got.body == first.body {
		t.Errorf("another workspace is answered %d: %s", got.status, got.body)
	}
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for name, keys := range map[string][]string{
		"long": {strings.Repeat("k", 256)}, "empty": {""}, "a space inside": {"a b"}, "not ASCII": {"ä"}, "two": {"a", "b"}, "the same twice": {"a", "a"},
	} {
		q := request{method: "POST", path: "/keys", body: newReader}
		for _, k := range keys {
			q.header = append(q.header, [2]string{"Idempotency-Key", k})
		}
		got := s.send(t, q)
		if p := got.problem(t); got.status != 400 || !slices.Equal(p.places(), []string{"header Idempotency-Key"}) {
			t.Errorf("%s: answered %d: %s", name, got.status, got.body)
		}
	}
	if n := countKeys(t, s); n != 0 {
		t.Errorf("%d keys were made", n)
	}
	if got := s.send(t, createIdempotent(strings.Repeat("!~", 127)+"k", newReader)); got.status != 201 {
		t.Errorf("the longest key is answered %d: %s", got.status, got.body)
	}
	k := s.newKey(t, "", "admin")
	response := [][2]string{{"Idempotency-Key", "not for these"}, {"Idempotency-Key", ""}}
	if got := s.send(t, request{method: "DELETE", path: "/keys/" + k.ID, header: response}); got.status != 204 {
		t.Errorf("DELETE is answered %d: %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "GET", path: "/keys", header: response}); got.status != 200 {
		t.Errorf("GET is answered %d: %s", got.status, got.body)
	}
}

// What is refused before anything was tried, and what failed through no fault
// of the client, may be tried again under the same key.
func TestIdempotencyKeepsNoFailure(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{}
	s := start(t, setup{adapt: func(inner store) store { broken.store = inner; return broken }})
	lacking := s.newKey(t, "", "api:read")
	for name, fail := range map[string]func(t *testing.T, key string){
		"store away": func(t *testing.T, key string) {
			broken.fails.Store(true)
			defer broken.fails.Store(false)
			for range 2 {
				wantProblem(t, s.send(t, createIdempotent(key, newReader)), 503, "unavailable")
			}
			wantProblem(t, s.send(t, createIdempotent(key, `{}`)), 503, "unavailable") // a refusal that cannot be kept
		},
		"no room": func(t *testing.T, key string) {
			broken.full.Store(true)
			defer broken.full.Store(false)
			wantProblem(t, s.send(t, createIdempotent(key, newReader)), 429, "too-many-requests")
		},
		"too large": func(t *testing.T, key string) {
			wantProblem(t, s.send(t, createIdempotent(key, newReader+strings.Repeat(" ", 1<<20))), 413, "too-large")
		},
		"no scope": func(t *testing.T, key string) {
			q := createIdempotent(key, newReader)
			q.key = lacking.Key
			wantProblem(t, s.send(t, q), 403, "missing-scope")
		},
		"no credential": func(t *testing.T, key string) {
			q := createIdempotent(key, newReader)
			q.key = "-"
			wantProblem(t, s.send(t, q), 401, "unauthenticated")
		},
		"broken off": func(t *testing.T, key string) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST /keys HTTP/1.1\r\nHost: f\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n%s", adminKey, key, newReader)
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			wantProblem(t, reply{answer.StatusCode, answer.Header, string(text)}, 400, "incomplete-body")
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := countKeys(t, s)
			key := strings.ReplaceAll(name, " ", "-")
			fail(t, key)
			if n := countKeys(t, s); n != before {
				t.Errorf("the failure made %d keys", n-before)
			}
			first := s.send(t, createIdempotent(key, newReader))
			if first.status != 201 {
				t.Fatalf("after it, answered %d: %s", first.status, first.body)
			}
			wantSame(t, first, s.send(t, createIdempotent(key, newReader)))
		})
	}
}

// heldStore lets the first making of a key wait until it is released.
type heldStore struct {
	store
	passing atomic.Bool
	entered chan struct{}
	release chan error // what becomes of the first
}

func (h *heldStore) CreateKey(ctx context.Context, k feedmill.Key, response *feedmill.IdempotentResponse) error {
	if h.passing.Swap(true) {
		return h.store.CreateKey(ctx, k, response)
	}
	h.entered <- struct{}{}
	if err := <-h.release; err != nil {
		return err
	}
	return h.store.CreateKey(ctx, k, response)
}

func TestIdempotencyInProgress(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]error{"succeeds": nil, "fails": errors.New("a fault of the test")} {
		t.Run(name, func(t *testing.T) {
			held := &heldStore{entered: make(chan struct{}), release: make(chan error)}
			s := start(t, setup{adapt: func(inner store) store { held.store = inner; return held }})
			var wg sync.WaitGroup
			var first reply
			wg.Go(func() { first, _ = s.try(createIdempotent("k", newReader)) })
			<-held.entered
			wantProblem(t, s.send(t, createIdempotent("k", newReader)), 409, "idempotency-in-progress")
			wantProblem(t, s.send(t, createIdempotent("k", `{}`)), 409, "idempotency-in-progress")
			held.release <- outcome
			wg.Wait()
			if outcome != nil {
				wantProblem(t, first, 500, "internal")
				first = s.send(t, createIdempotent("k", newReader))
			}
			if first.status != 201 {
				t.Fatalf("answered %d: %s", first.status, first.body)
			}
			wantSame(t, first, s.send(t, createIdempotent("k", newReader)))
			if n := countKeys(t, s); n != 1 {
				t.Errorf("%d keys were made, want 1", n)
			}
		})
	}
}

// twin runs a second server on the same store.
func twin(t *testing.T, s *service) *service {
	t.Helper()
	second := *s.app
	key, err := vault.LoadKey(second.config.VaultKey, filepath.Join(second.config.Data, "vault.key"))
	if err != nil {
		t.Fatal(err)
	}
	if second.vault, err = vault.Open(t.Context(), key, second.store); err != nil {
		t.Fatal(err)
	}
	return serveApp(t, &second, new(writtenText))
}

// Of requests that come at once under one key, to one server or to several,
// exactly one has an effect; the others get its answer or hear that it is in
// progress.
func TestIdempotencyInACrowd(t *testing.T) {
	t.Parallel()
	one := start(t, setup{})
	servers := []*service{one, twin(t, one)}
	for round := range 5 {
		key := fmt.Sprint("round-", round)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var answers []reply
		for i := range 16 {
			wg.Go(func() {
				got, err := servers[i%2].try(createIdempotent(key, newReader))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, got)
			})
		}
		wg.Wait()
		first := one.send(t, createIdempotent(key, newReader))
		if first.status != 201 {
			t.Fatalf("answered %d: %s", first.status, first.body)
		}
		succeeded := 0
		for _, got := range answers {
			if got.status == 201 {
				succeeded++
				wantSame(t, first, got)
			} else {
				wantProblem(t, got, 409, "idempotency-in-progress")
			}
		}
		if succeeded == 0 {
			t.Error("nobody succeeded")
		}
		if n := countKeys(t, one); n != round+1 {
			t.Errorf("%d keys were made in %d rounds", n, round+1)
		}
	}
}

func TestIdempotencyIsSharedByServers(t *testing.T) {
	t.Parallel()
	one := start(t, setup{})
	two := twin(t, one)
	first := one.send(t, createIdempotent("k", newReader))
	wantSame(t, first, two.send(t, createIdempotent("k", newReader)))
	wantProblem(t, two.send(t, createIdempotent("k", newReader+" ")), 409, "idempotency-mismatch")
	if err := one.app.RotateVault(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := one.send(t, createIdempotent("after", newReader))
	wantSame(t, second, two.send(t, createIdempotent("after", newReader)))
	wantSame(t, first, two.send(t, createIdempotent("k", newReader)))
}

// laterStore is a store on which it is later than it is.
type laterStore struct {
	store
	by atomic.Int64 // a time.Duration
}

func (l *laterStore) KeptResponse(ctx context.Context, workspace feedmill.ID, owner, key string, now time.Time) (feedmill.IdempotentResponse, error) {
	return l.store.KeptResponse(ctx, workspace, owner, key, now.Add(time.Duration(l.by.Load())))
}

func (l *laterStore) CreateKey(ctx context.Context, k feedmill.Key, response *feedmill.IdempotentResponse) error {
	if response != nil {
		response.ExpiresAt = response.ExpiresAt.Add(time.Duration(l.by.Load()))
	}
	return l.store.CreateKey(ctx, k, response)
}

func TestIdempotencyLastsADay(t *testing.T) {
	t.Parallel()
	later := new(laterStore)
	s := start(t, setup{adapt: func(inner store) store { later.store = inner; return later }})
	first := s.send(t, createIdempotent("k", newReader))
	later.by.Store(int64(feedmill.IdempotencyLifetime - time.Minute))
	wantSame(t, first, s.send(t, createIdempotent("k", newReader)))
	later.by.Store(int64(feedmill.IdempotencyLifetime))
	second := s.send(t, createIdempotent("k", newReader))
	if second.status != 201 || second.body == first.body {
		t.Errorf("a day later, answered %d: %s", second.status, second.body)
	}
	wantSame(t, second, s.send(t, createIdempotent("k", newReader)))
	if n := countKeys(t, s); n != 2 {
		t.Errorf("%d keys were made, want 2", n)
	}
}

// overtakenStore lets something happen right before the first version is switched.
type overtakenStore struct {
	store
	before  func()
	passing atomic.Bool
}

func (o *overtakenStore) SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh,
	change func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error),
) (feedmill.Feed, error) {
	if !o.passing.Swap(true) {
		o.before()
	}
	return o.store.SwitchVersion(ctx, workspace, v, r, change)
}

// TestOvertakenUpload holds that an upload that was overtaken by another is refused
// where it replaces, and the refusal is not kept under its key; where it adds, its rows
// are added to those of the other.
func TestOvertakenUpload(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"replace": `"rowCount":1`, "append": `"rowCount":3`, "merge&key=a": `"rowCount":3`} {
		t.Run(mode, func(t *testing.T) {
			overtaken := &overtakenStore{}
			s := start(t, setup{adapt: func(inner store) store { overtaken.store = inner; return overtaken }})
			f := s.upload(t, "", "text/csv", "a\n1\n")
			other := s.upload(t, "", "text/csv", "a\n1\n")
			path := "/data_feeds/" + f.ID + "/data"
			overtaken.before = func() {
				if got := s.sendData(t, "PUT", path, "text/csv", "a\n2\n3\n"); got.status != 200 {
					t.Error(got)
				}
			}
			put := func() reply {
				return s.sendData(t, "PUT", path+"?mode="+mode, "text/csv", "a\n7\n", [2]string{"Idempotency-Key", "k"})
			}
			if mode == "replace" {
				wantProblem(t, put(), 409, "concurrent-upload")
			}
			first := put()
			if first.status != 200 || !strings.Contains(first.body, want) {
				t.Errorf("%d: %s", first.status, first.body)
			}
			wantSame(t, first, put())
			if n := len(s.files(t)); mode == "replace" && n != 8 {
				t.Errorf("%d files are left", n)
			}
			if got := s.read(t, other.ID, ""); got != "{\"a\":1}\n" {
				t.Error(got)
			}
		})
	}
}

// TestIdempotencyKeepsNoQuotaRefusal holds that a request that a quota refused
// succeeds under the same key once there is room.
func TestIdempotencyKeepsNoQuotaRefusal(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_MAX_SUBSCRIPTIONS=1", "FEEDMILL_MAX_STORED_BYTES=20KB"}})
	subscribe := func(key string) reply {
		return s.send(t, request{
			method: "POST", path: "/events/subscriptions", body: `{"url":"https://example.com/a","events":["metric.*"]}`,
			header: [][2]string{{"Idempotency-Key", key}},
		})
	}
	var first made
	subscribe("first").data(t, &first)
	wantProblem(t, subscribe("second"), 409, "quota-reached")
	if got := s.send(t, request{method: "DELETE", path: "/events/subscriptions/" + first.ID}); got.status != 204 {
		t.Fatal(got)
	}
	if got := subscribe("second"); got.status != 201 {
		t.Errorf("with room again: %d %s", got.status, got.body)
	}
}
