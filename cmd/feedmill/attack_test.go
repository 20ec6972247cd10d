package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// attacker is somebody with one ordinary key.
type attacker struct {
	t        *testing.T
	process  *process
	url, key string
	feed     string // of many rows of long texts
	folder   string // for files of databases
	// made are what attacks need, which the first of them makes.
	made map[string]bool
}

// several makes requests at the same time, and holds each to the statuses that it may
// be answered with. Too many at once, 429, is one of them.
func (a *attacker) several(ctx context.Context, n int, method, path string, header map[string]string, body string, statuses ...int) {
	a.t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			status, answer, err := request(ctx, a.key, method, a.url+path, header, strings.NewReader(body))
			if err != nil || !slices.Contains(append(statuses, http.StatusTooManyRequests), status) {
				a.t.Errorf("%s %s: %d %.300s, %v", method, path, status, answer, err)
			}
		})
	}
	all.Wait()
}

// attack is one of the things that an attacker does.
type attack struct {
	name string
	run  func(ctx context.Context, a *attacker)
}

// attackFor is how long each attack goes on, and restWithin how soon after the attackers have left
// nothing of theirs may be there any more. The promise is two seconds.
var attackFor, restWithin = longOr(0, 8*time.Second), longOr(20*time.Second, 2*time.Second)

// TestAttacks attacks a server that has 512 MB for itself and its workers, beside a workspace that
// goes about its business: nothing of that one fails, 99 of 100 of its requests take at most five
// times as long as without the attack, and what the attackers started ends with them.
func TestAttacks(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { runAttacks(t) })
	t.Run("postgres", func(t *testing.T) {
		if longOr(true, false) {
			t.Skip("the store has little part in it; the long form tries both")
		}
		runAttacks(t, onPostgres(pgtest.New(t))...)
	})
}

func runAttacks(t *testing.T, env ...string) {
	group := newMemoryGroup(t)
	folder := t.TempDir()
	p := serveLimited(t, group, slices.Concat(onLoopback, env, []string{"FEEDMILL_QUERY_TIMEOUT=1m", "FEEDMILL_DATABASE_DIRS=" + folder})...)
	n := newNeighbour(t, p)
	a := newAttacker(t, p, folder)
	n.alone(t) // so that everything that is made once is there
	n.slowest()
	http.DefaultClient.CloseIdleConnections()
	before := p.holding(t)
	for _, attack := range slices.Concat(requestAttacks, dataAttacks, databaseAttacks) {
		t.Run(attack.name, func(t *testing.T) {
			a.t = t
			n.alone(t)
			alone := n.slowest()
			end := time.Now().Add(attackFor)
			n.beside(t, func(ctx context.Context) {
				for attack.run(ctx, a); time.Now().Before(end); {
					attack.run(ctx, a)
				}
			})
			left := time.Now()
			beside := n.slowest()
			p.awaitRest(t, before)
			took := time.Since(left)
			// The machine can have become slower for other reasons.
			n.alone(t)
			alone = max(alone, n.slowest())
			t.Logf("99 of 100 requests of the neighbour took %v alone and %v beside it, %.1f times; gone after %v; %d MiB", alone, beside, float64(beside)/float64(alone), took.Round(time.Millisecond), p.resident()>>20)
			if beside > 5*alone && longOr(false, true) {
				t.Errorf("99 of 100 requests of the neighbour took %v, and %v alone", beside, alone)
			}
			if group != "" && group.killed(t) > 0 {
				t.Fatal("a process was killed for want of memory")
			}
		})
	}
	t.Run("all sorts of things from eight workspaces", func(t *testing.T) { mixedAttack(t, p, n, group) })
	if group == "" {
		p.boundMemory(t, attackMemory)
	}
	p.mustStop(t)
}

// newAttacker makes a workspace with an ordinary key and a feed of long texts. Files of databases
// are in the folder.
func newAttacker(t *testing.T, p *process, folder string) *attacker {
	t.Helper()
	workspace := must(t, http.StatusCreated, sharedFirstKey, p.url+"/workspaces", `{"name":"attacker"}`)
	key := must(t, http.StatusCreated, sharedFirstKey, p.url+"/keys", fmt.Sprintf(`{"name":"k","scopes":["api:read","api:write"],"workspaceId":%q}`, workspace["id"]))
	a := &attacker{t: t, process: p, url: p.url, key: key["key"].(string), folder: folder}
	a.feed = a.upload(t.Context(), "application/x-ndjson", strings.NewReader(longTexts(longOr(200, 500))))
	return a
}

// upload makes a feed and returns its id.
func (a *attacker) upload(ctx context.Context, contentType string, body io.Reader) string {
	a.t.Helper()
	status, answer, err := request(ctx, a.key, http.MethodPost, a.url+"/data_feeds?type=dataUpload", map[string]string{"Content-Type": contentType}, body)
	if err != nil || status != http.StatusCreated {
		a.t.Fatalf("%d %.300s, %v", status, answer, err)
	}
	_, after, _ := strings.Cut(answer, `"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// upload makes a feed and returns its id.
func upload(url, contentType, body string) (int, string, error) {
	status, answer, err := request(context.Background(), sharedFirstKey, http.MethodPost, url+"/data_feeds?type=dataUpload", map[string]string{"Content-Type": contentType}, strings.NewReader(body))
	_, after, _ := strings.Cut(answer, `"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	return status, id, err
}

// TestDiskAndQuota holds uploads to the free disk and to what a workspace may store.
func TestDiskAndQuota(t *testing.T) {
	full := serve(t, t.TempDir(), slices.Concat(onLoopback, []string{"FEEDMILL_MIN_FREE_DISK=1000000TB"})...)
	n := "/data_feeds?type=dataUpload"
	for _, path := range []string{n, "/data_feeds/preview?type=dataUpload"} {
		if status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, full.url+path, nil, strings.NewReader(`[{"a":1}]`)); status != http.StatusInsufficientStorage || err != nil {
			t.Errorf("%s on a full disk: %d %s, %v", path, status, answer, err)
		}
	}
	must(t, http.StatusCreated, sharedFirstKey, full.url+"/events/subscriptions", `{"url":"http://127.0.0.1:1/","events":["metric.*"]}`)
	if status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, full.url+"/events", nil, strings.NewReader(`{"type":"metric.created"}`)); status != http.StatusAccepted || err != nil {
		t.Errorf("an event on a full disk: %d %s, %v", status, answer, err)
	}
	full.mustStop(t)

	p := serve(t, t.TempDir(), slices.Concat(onLoopback, []string{"FEEDMILL_MAX_STORED_BYTES=20KB"})...)
	other := p.otherWorkspace(t)
	rows := strings.Repeat("1,2\n", 3000)
	if status, _, err := upload(p.url, "text/csv", "a,b\n"+rows); status != http.StatusCreated || err != nil {
		t.Fatalf("within the quota: %d, %v", status, err)
	}
	for _, body := range []string{"a,b\n" + rows, "a,b\n" + rows + rows + rows} {
		if status, _, err := upload(p.url, "text/csv", body); status != http.StatusConflict || err != nil {
			t.Errorf("past the quota: %d, %v", status, err)
		}
	}
	if status, answer, err := request(t.Context(), other, http.MethodPost, p.url+n, nil, strings.NewReader(`[{"a":1}]`)); status != http.StatusCreated || err != nil {
		t.Errorf("another workspace: %d %s, %v", status, answer, err)
	}
	if _, metrics, err := send(http.MethodGet, p.url+"/metrics", ""); err != nil || !strings.Contains(string(metrics), "feedmill_stored_bytes{workspace=") {
		t.Errorf("what is stored is not counted: %v", err)
	}
	p.mustStop(t)
}
