package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// solitary is a source that nobody may fetch twice at the same time. It has
// other data with every fetch, in two pages, below any path.
type solitary struct {
	*httptest.Server
	mu sync.Mutex
	// hold, where it is there, is what second pages wait for.
	hold chan struct{}
	// fetching has the paths of which a fetch is under way, and begun counts
	// the fetches of each.
	fetching map[string]int
	begun    map[string]int
}

func newSolitary(t *testing.T) *solitary {
	t.Helper()
	s := &solitary{fetching: make(map[string]int), begun: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetch, hold := s.enter(t, r)
		if hold != nil {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("at") == "" {
			fmt.Fprintf(w, `{"data":[{"fetch":%d,"row":1}],"next":"2"}`, fetch)
		} else {
			s.leave(r.URL.Path)
			fmt.Fprintf(w, `{"data":[{"fetch":%d,"row":2}],"next":null}`, fetch)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// enter begins a fetch with its first page. A fetch ends with its second.
func (s *solitary) enter(t *testing.T, r *http.Request) (fetch int, hold chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := r.URL.Path
	if r.FormValue("at") != "" {
		return s.begun[path], s.hold
	}
	if s.fetching[path] > 0 {
		t.Errorf("%s is fetched twice at the same time", path)
	}
	s.fetching[path]++
	s.begun[path]++
	return s.begun[path], nil
}

// leave ends the fetch of a path.
func (s *solitary) leave(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetching[path] = 0
}

// fetches is how many fetches of a path have begun.
func (s *solitary) fetches(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[path]
}

// holdBack has second pages wait until the returned function is called.
func (s *solitary) holdBack() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = make(chan struct{})
	return s.release
}

// release ends the wait of second pages.
func (s *solitary) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold != nil {
		close(s.hold)
		s.hold = nil
	}
}

// spec says how to fetch from a path.
func (s *solitary) spec(path string) json.RawMessage {
	return fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"at"}}`, s.URL+path)
}

// awaitRefresh waits for the end of a refresh.
func awaitRefresh(t *testing.T, c *client.Client, feed, id string) (r client.Refresh) {
	t.Helper()
	eventually(t, "refresh "+id+" ends", func() bool {
		var err error
		if r, err = c.Refresh(t.Context(), feed, id); err != nil {
			t.Fatal(err)
		}
		return r.Ended()
	})
	return r
}

// checkTold holds the events of a feed to its versions: one for each.
func checkTold(t *testing.T, c *client.Client, feed client.DataFeed) {
	t.Helper()
	told := make(map[int64]int)
	for e, err := range c.Events(t.Context(), client.EventQuery{Type: "datafeed.source.refreshed"}) {
		if err != nil {
			t.Fatal(err)
		}
		var news struct {
			Version int64
			Outcome string
		}
		if err := json.Unmarshal(e.Data, &news); err != nil {
			t.Fatal(err)
		}
		if e.ResourceID == feed.ID {
			told[news.Version]++
		}
	}
	for version := range feed.Version {
		if told[version+1] != 1 {
			t.Errorf("version %d of %s was told of %d times", version+1, feed.ID, told[version+1])
		}
	}
	if len(told) != int(feed.Version) {
		t.Errorf("%d versions of %s were told of, and there are %d", len(told), feed.ID, feed.Version)
	}
}

// TestReplicasFetchOnce asks two replicas for refreshes of the same feeds all
// the time: no source is ever fetched by both at once, and every fetch is one
// version.
func TestReplicasFetchOnce(t *testing.T) {
	t.Parallel()
	source := newSolitary(t)
	env := append(onPostgres(pgtest.New(t)), onLoopback...)
	replicas := []*process{serve(t, t.TempDir(), env...), serve(t, t.TempDir(), env...)}
	var asking sync.WaitGroup
	const feeds, rounds = 4, 8
	made := make([]client.DataFeed, feeds)
	for i := range made {
		var err error
		path := fmt.Sprintf("/%d", i)
		made[i], err = replicas[i%2].client(sharedFirstKey).CreateRestFeed(t.Context(), client.RestFeed{Spec: source.spec(path), Wait: time.Minute})
		if err != nil || made[i].State != "ready" {
			t.Fatalf("%+v, %v", made[i], err)
		}
		for _, p := range replicas {
			asking.Go(func() {
				c := p.client(sharedFirstKey)
				for range rounds {
					r, err := c.RefreshDataFeed(t.Context(), made[i].ID)
					if err != nil {
						t.Error(err)
						return
					}
					for !r.Ended() {
						time.Sleep(5 * time.Millisecond)
						if r, err = c.Refresh(t.Context(), made[i].ID, r.ID); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
	}
	asking.Wait()
	c := replicas[0].client(sharedFirstKey)
	for i := range made {
		feed, err := c.DataFeed(t.Context(), made[i].ID)
		if err != nil || feed.State != "ready" || feed.RowCount != 2 {
			t.Fatalf("%+v, %v", feed, err)
		}
		if n := source.fetches(fmt.Sprintf("/%d", i)); feed.Version != int64(n) || n <= rounds {
			t.Errorf("feed %d has %d versions of %d fetches", i, feed.Version, n)
		}
		checkTold(t, c, feed)
	}
}

// TestReplicaDiesFetching kills a replica in the middle of a refresh: another one, which
// does not have the files of the feed, leaves it alone and returns 503 for its rows. The
// first one goes on with the refresh when it starts again.
func TestReplicaDiesFetching(t *testing.T) {
	t.Parallel()
	source := newSolitary(t)
	env := append(onPostgres(pgtest.New(t)), onLoopback...)
	folder := t.TempDir()
	victim := serve(t, folder, env...)
	c := victim.client(sharedFirstKey)
	feed, err := c.CreateRestFeed(t.Context(), client.RestFeed{Spec: source.spec("/orders"), Wait: time.Minute})
	if err != nil || feed.Version != 1 {
		t.Fatalf("%+v, %v", feed, err)
	}
	release := source.holdBack()
	asked, err := c.RefreshDataFeed(t.Context(), feed.ID)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refresh is under way", func() bool { return source.fetches("/orders") == 2 })
	survivor := serve(t, t.TempDir(), env...)
	victim.kill()
	release()
	source.leave("/orders")
	db, _ := openStore(t, env, "")
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE sources SET leased_until = leased_until - interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	// The survivor finds both due, and takes its own.
	other, err := survivor.client(sharedFirstKey).CreateRestFeed(t.Context(), client.RestFeed{Spec: source.spec("/own"), Wait: time.Minute})
	if err != nil || other.Version != 1 {
		t.Fatalf("%+v, %v", other, err)
	}
	eventually(t, "the operator page reports the file that the survivor lacks", func() bool {
		o, err := survivor.client(sharedFirstKey).Operate(t.Context())
		return err == nil && slices.ContainsFunc(o.Replicas, func(r client.Replica) bool { return r.MissingFiles == 1 })
	})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		resp := survivor.request(t, method, "/data_feeds/"+feed.ID+"/data")
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "" {
			t.Errorf("%s of rows that are elsewhere: %d, Retry-After %q", method, resp.StatusCode, resp.Header.Get("Retry-After"))
		}
	}

	victim = serve(t, folder, env...)
	c = victim.client(sharedFirstKey)
	r := awaitRefresh(t, c, feed.ID, asked.ID)
	if r.State != "succeeded" || r.Version != 2 {
		t.Errorf("the refresh that was interrupted is %+v", r)
	}
	if feed, err = c.DataFeed(t.Context(), feed.ID); err != nil || feed.State != "ready" || feed.Version != 2 {
		t.Errorf("%+v, %v", feed, err)
	}
	rows, err := c.ReadData(t.Context(), feed.ID, client.RowQuery{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if got, err := io.ReadAll(rows); err != nil || string(got) != "fetch,row\r\n3,1\r\n3,2\r\n" {
		t.Errorf("the replica reads %q, %v", got, err)
	}
	if n := source.fetches("/orders"); n != 3 {
		t.Errorf("there were %d fetches", n)
	}
	checkTold(t, c, feed)
	survivor.mustStop(t)
}

// TestRefreshesOutliveKillsOnPostgres kills a replica while it fetches, and
// starts it again.
func TestRefreshesOutliveKillsOnPostgres(t *testing.T) {
	t.Parallel()
	source := numberedSource(t)
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	env := append(onPostgres(pgtest.New(t)), onLoopback...)
	start := func() *process {
		p, err := launch(folder, env, "--data="+data)
		return p.until(t, err)
	}
	p := start()
	spec := fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"at"}}`, source.URL)
	feed, err := p.client(sharedFirstKey).CreateRestFeed(t.Context(), client.RestFeed{Spec: spec, Wait: time.Minute})
	if err != nil || feed.Version != 1 {
		t.Fatalf("%+v, %v", feed, err)
	}
	for range longOr(2, 30) {
		killRefreshing(t, p, feed.ID)
		p = start()
		c := p.client(sharedFirstKey)
		checkNumbered(t, c, feed.ID)
		eventually(t, "what was cut off is done", func() bool {
			if feed, err = c.DataFeed(t.Context(), feed.ID); err != nil {
				t.Fatal(err)
			}
			return feed.LastRefresh.Ended()
		})
		if feed.State != "ready" {
			t.Fatalf("%+v", feed)
		}
		checkNumbered(t, c, feed.ID)
	}
	checkTold(t, p.client(sharedFirstKey), feed)
	sweptAfterADay(t, env, data, p, start, func() int { return int(feed.Version) })
	t.Logf("%d versions", feed.Version)
}

// TestInterruptedRefreshResumes kills a replica in the middle of a refresh and starts it
// again: it goes on at once, although its lease has not ended. The refresh that another
// replica runs at the same time stays with that one.
func TestInterruptedRefreshResumes(t *testing.T) {
	t.Parallel()
	source := newSolitary(t)
	env := append(onPostgres(pgtest.New(t)), onLoopback...)
	folder := t.TempDir()
	p := serve(t, folder, env...)
	feeds := make([]client.DataFeed, 2)
	asked := make([]client.Refresh, 2)
	begin := func(p *process, i int) {
		t.Helper()
		source.mu.Lock()
		source.hold = nil // pages that wait go on doing so
		source.mu.Unlock()
		var err error
		if feeds[i], err = p.client(sharedFirstKey).CreateRestFeed(t.Context(), client.RestFeed{Spec: source.spec(fmt.Sprint("/", i)), Wait: time.Minute}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(source.holdBack())
		if asked[i], err = p.client(sharedFirstKey).RefreshDataFeed(t.Context(), feeds[i].ID); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the refresh runs", func() bool { return source.fetches(fmt.Sprint("/", i)) == 2 })
	}
	begin(p, 0)
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // so that the other one fetches
		t.Fatal(err)
	}
	other := serve(t, t.TempDir(), env...)
	begin(other, 1)
	p.kill()
	source.leave("/0")
	db, _ := openStore(t, env, "")
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE sources SET leased_until = leased_until + interval '1 hour' WHERE leased_until IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p = serve(t, folder, env...)
	eventually(t, "the refresh runs again", func() bool { return source.fetches("/0") == 3 })
	t.Logf("the refresh runs again after %v", time.Since(began))
	source.release()
	for i, c := range []*client.Client{p.client(sharedFirstKey), other.client(sharedFirstKey)} {
		if r := awaitRefresh(t, c, feeds[i].ID, asked[i].ID); r.State != "succeeded" || r.Version != 2 {
			t.Errorf("refresh %d is %+v", i, r)
		}
	}
	if n := source.fetches("/1"); n != 2 {
		t.Errorf("the other replica's source was fetched %d times", n)
	}
}
