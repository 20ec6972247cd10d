package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestCrash publishes from several clients, kills the program at random moments
// and starts it again. Every event that was acknowledged must arrive, and where
// they are ordered at most one of a resource again after each kill: the next is
// sent when the one before has its outcome on disk.
func TestCrash(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		crash(t, nil, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t, pgtest.Options{Durable: true})
		crash(t, onPostgres(server.URL()), func() {
			server.Stop(t, pgtest.Immediate)
			server.Start(t)
		})
	})
}

func crash(t *testing.T, env []string, breakStore func()) {
	book := newLedger()
	sink := book.sink(t)
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, append(env, onLoopback...), "--data="+filepath.Join(folder, "data"))
		if err != nil {
			t.Fatal(err)
		}
		book.to.Store(&p.url)
		return p
	}
	p := begin()
	book.subscribe(t, p, sink)

	stop := book.publish(t, "1")
	kills := longOr(4, 200)
	for i := range kills {
		book.awaitAcknowledged(t, 1) // else a slow machine is killed before it has done anything
		time.Sleep(time.Duration(rand.IntN(int(400 * time.Millisecond))))
		p.kill()
		if breakStore != nil && i%2 == 1 {
			breakStore()
		}
		p = begin()
	}
	stop()
	defer p.kill()

	n, twice := book.awaitAll(t)
	for resource, repeats := range book.repeatsByResource(orderedPath) {
		if repeats > kills {
			t.Errorf("%d ordered deliveries of %s came twice, want at most one for each of %d kills", repeats, resource, kills)
		}
	}
	t.Logf("%d kills, %d events acknowledged, %d deliveries came twice", kills, n, twice)
}

// TestCrashRepeatsWhatWasUnderWay kills the program while its subscribers hold
// requests without an answer, and all others have their outcome on disk. Those
// that were held come again, and nothing else does.
func TestCrashRepeatsWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		repeatWhatWasUnderWay(t, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		repeatWhatWasUnderWay(t, onPostgres(pgtest.New(t)))
	})
}

func repeatWhatWasUnderWay(t *testing.T, env []string) {
	book := newLedger()
	gate := &gate{open: make(chan struct{})}
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		gate.pass(book.note(t, r))
	}))
	t.Cleanup(sink.Close)
	t.Cleanup(gate.release)
	folder := t.TempDir()
	begin := func() *process {
		p, err := launch(folder, append(env, onLoopback...), "--data="+filepath.Join(folder, "data"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := begin()
	book.to.Store(&p.url)
	const atOnce = 2 // so that it is known when no more can be under way
	for i := range subscriptions {
		p.subscribe(t, fmt.Sprintf(`{"url":"%s/%d","events":["metric.*"],"delivery":{"ordered":%v,"concurrency":%d,"timeout":"60s"}}`, sink.URL, i, i == 0, atOnce))
	}
	stop := book.publish(t, "1")
	book.awaitAcknowledged(t, 200)
	gate.close()
	book.awaitAcknowledged(t, 100)
	stop()
	eventually(t, "only requests that are held have no outcome", func() bool {
		_, metrics, err := send(http.MethodGet, p.url+"/metrics", "")
		const all = atOnce * subscriptions
		return err == nil && len(gate.names()) == all && number(t, metrics, `(?m)^feedmill_delivery_in_flight (\S+)$`) == all
	})
	p.kill()
	underWay := gate.names()
	gate.release()
	p = begin()
	defer p.kill()

	book.awaitAll(t)
	eventually(t, "what was under way comes again", func() bool { return len(book.repeated()) >= len(underWay) })
	if again := book.repeated(); !slices.Equal(again, underWay) {
		t.Errorf("%d deliveries came again: %q\n%d were under way: %q", len(again), again, len(underWay), underWay)
	}
}

// gate is where requests are held while it is closed.
type gate struct {
	mu   sync.Mutex
	shut bool
	open chan struct{} // closed when those that are held may go
	held []string
}

// pass lets a request pass, or holds it.
func (g *gate) pass(request string) {
	g.mu.Lock()
	shut := g.shut
	if shut {
		g.held = append(g.held, request)
	}
	g.mu.Unlock()
	if shut {
		<-g.open
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

// release lets all go that are held, and whoever comes.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		g.shut = false
		close(g.open)
	}
}

// names are the requests that were held, sorted.
func (g *gate) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(slices.Values(g.held))
}
