package main

import (
	"context"
	"crypto/rand"
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
	t *testing.T
	// URL is where the server is, and PID its process.
	URL, Key string
	PID      int
	Feed     string // of many rows of long texts
	// Others are workspaces that attack at the same time.
	Others []*hostile
	folder string // for files of databases
	// stopped ends when the attack should.
	stopped context.Context
}

// several makes requests at the same time, and holds each to the statuses that it may
// be answered with. Too many at once, 429, is one of them.
func (a *attacker) several(ctx context.Context, n int, method, path string, header map[string]string, body string, statuses ...int) {
	a.t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			status, answer, err := request(ctx, a.Key, method, a.URL+path, header, strings.NewReader(body))
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
	// prepare makes what the attack needs, where it needs anything.
	prepare func(a *attacker)
	run     func(ctx context.Context, a *attacker)
	// lasts is how long it goes on in the long form, attackFor where it is zero.
	lasts time.Duration
	// accepted says that it starts work that goes on without its clients, such as refreshes.
	accepted bool
}

// allAttacks are what [TestAttacks] does, in this order.
var allAttacks = slices.Concat(requestAttacks, dataAttacks, databaseAttacks, []attack{shapes, mixed})

const (
	// attackFor is how long an attack goes on in the long form.
	attackFor = 8 * time.Second
	// leftWithin is how soon after the attackers have left nothing of theirs may be there any more,
	// and slowedBy how many times longer the requests of a neighbor may take.
	leftWithin, slowedBy = 2 * time.Second, 5
)

// enoughRequests is how many requests of the neighbour have to be made for one of a hundred to mean something.
var enoughRequests = longOr[int64](0, 300)

// TestAttacks attacks a server that has 512 MB for itself and its workers, beside a workspace that
// goes about its business: nothing of that one fails, 99 of 100 of its requests take at most five
// times as long as without the attack, and what the attackers started ends with them. The long form kills
// them in the middle of what they do.
func TestAttacks(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { runAttacks(t, allAttacks) })
	t.Run("postgres", func(t *testing.T) {
		if longOr(true, false) {
			t.Skip("the store has little part in it; the long form tries both")
		}
		runAttacks(t, allAttacks, onPostgres(pgtest.New(t))...)
	})
}

func runAttacks(t *testing.T, attacks []attack, env ...string) {
	group := newMemoryGroup(t)
	folder := t.TempDir()
	p := serveLimited(t, group, slices.Concat(onLoopback, env, []string{"FEEDMILL_QUERY_TIMEOUT=1m", "FEEDMILL_DATABASE_DIRS=" + folder})...)
	n := newNeighbour(t, p)
	o := &attackProcess{attacker: newAttacker(t, p, folder)}
	t.Cleanup(o.kill)
	n.alone(t) // so that everything that is made once is there
	n.slowest()
	http.DefaultClient.CloseIdleConnections()
	before := p.holding(t)
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			o.attacker.t = t
			if attack.prepare != nil {
				attack.prepare(o.attacker)
				o.kill() // so that it has what was made
			}
			o.measure(t, attack, p, n, before)
			if group != "" && group.killed(t) > 0 {
				t.Fatal("a process was killed for want of memory")
			}
		})
	}
	if group == "" {
		most := int64(attackMemory)
		if raced() {
			most *= 2 // requests take several times as long, so more of them hold memory at the same time
		}
		p.boundMemory(t, most)
	}
	p.mustStop(t)
}

// measure holds the server to what it promises beside an attack.
func (o *attackProcess) measure(t *testing.T, attack attack, p *process, n *neighbour, before holding) {
	t.Helper()
	n.alone(t)
	alone, _ := n.slowest()
	stop := n.start(t)
	o.begin(t, attack.name)
	length := longOr(0, max(attack.lasts, attackFor))
	halves := p.during(length, n)
	o.end(t, !attack.accepted && longOr(false, true))
	left := time.Now()
	stop()
	beside, requests := n.slowest()
	gone := p.awaitRest(t, before, left)
	n.awaitDelivered(t)
	// The machine can have become slower for other reasons.
	n.alone(t)
	afterwards, _ := n.slowest()
	alone = max(alone, afterwards)
	t.Logf("99 of 100 of %d requests of the neighbour took %v alone and %v beside it, %.1f times; gone after %v; at most %d MiB, then %d MiB", requests, alone, beside, float64(beside)/float64(alone), gone.Round(time.Millisecond), halves[0]>>20, halves[1]>>20)
	if beside > slowedBy*alone && longOr(false, true) && !raced() {
		t.Errorf("99 of 100 requests of the neighbour took %v, and %v alone", beside, alone)
	}
	if length >= time.Minute && halves[1] > halves[0]+halves[0]/4 {
		t.Errorf("memory grows from %d MiB to %d MiB", halves[0]>>20, halves[1]>>20)
	}
}

// newAttacker makes a workspace with an ordinary key and a feed of long texts. Files of databases
// are in the folder.
func newAttacker(t *testing.T, p *process, folder string) *attacker {
	t.Helper()
	a := &attacker{t: t, URL: p.url, PID: p.cmd.Process.Pid, Key: newOrdinaryKey(t, p.url), folder: folder}
	a.Feed = a.upload(t.Context(), "application/x-ndjson", strings.NewReader(longTexts(longOr(200, 500))))
	return a
}

// newOrdinaryKey makes a workspace and a key that reads and writes in it.
func newOrdinaryKey(t *testing.T, url string) string {
	t.Helper()
	workspace := must(t, http.StatusCreated, sharedFirstKey, url+"/workspaces", fmt.Sprintf(`{"name":%q}`, rand.Text()))
	return must(t, http.StatusCreated, sharedFirstKey, url+"/keys", fmt.Sprintf(`{"name":"k","scopes":["api:read","api:write"],"workspaceId":%q}`, workspace["id"]))["key"].(string)
}

// upload makes a feed and returns its id.
func (a *attacker) upload(ctx context.Context, contentType string, body io.Reader) string {
	a.t.Helper()
	status, answer, err := request(ctx, a.Key, http.MethodPost, a.URL+"/data_feeds?type=dataUpload", map[string]string{"Content-Type": contentType}, body)
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
