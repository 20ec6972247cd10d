package main

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestDatabaseOutage takes the database away while events are published and
// delivered, as a crash of its machine does, and brings it back. Meanwhile
// publishers are refused; afterwards all goes on without a restart, and what
// was acknowledged arrives.
func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t, pgtest.Options{Durable: true})
	book := newLedger()
	sink := book.sink(t)
	p := serve(t, t.TempDir(), append(onPostgres(database.NewDatabase(t)), onLoopback...)...)
	book.subscribe(t, p, sink)
	stop := book.publish(t, "1")
	defer func() { stop() }()
	book.awaitAcknowledged(t, 200)

	database.Stop(t, pgtest.Immediate)
	_, refused := book.counts()
	for over := time.Now().Add(longOr(3*time.Second, time.Minute)); time.Now().Before(over); time.Sleep(100 * time.Millisecond) {
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/events": 503} {
			if got := p.status(path); got != want {
				t.Errorf("without its database GET %s answers %d, want %d", path, got, want)
			}
		}
	}
	if _, now := book.counts(); now == refused {
		t.Error("no event was refused")
	}
	acknowledged, _ := book.counts()
	database.Start(t)
	began := time.Now()

	eventually(t, "GET /readyz answers 200", func() bool { return p.status("/readyz") == 200 })
	eventually(t, "an event is acknowledged and delivered", func() bool {
		now, _ := book.counts()
		lost, _ := book.state()
		return now > acknowledged+100 && len(lost) < now-acknowledged
	})
	took := time.Since(began)
	if most := longOr(patience, 30*time.Second); took > most {
		t.Errorf("it took %v to send again, want at most %v", took, most)
	}
	stop()
	stop = func() {}
	n, twice := book.awaitAll(t)
	t.Logf("%d events acknowledged; %v after the database was back it sent again; %d deliveries came twice", n, took, twice)
	p.mustStop(t)
}
