package main

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// TestScalingOut starts a second replica while events are published, and stops the
// first. No ordered delivery is ever under way on both, none comes twice, and
// nobody is kept waiting for the change of hands.
func TestScalingOut(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	stop := f.publish(t)
	eventually(t, "all subscriptions are delivered to", func() bool {
		for _, n := range f.sink.progress() {
			if n == 0 {
				return false
			}
		}
		return true
	})
	second := f.newReplica(t)
	db, err := pgx.Connect(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	eventually(t, "both replicas have half of the slots", func() bool {
		var least, owners int
		err := db.QueryRow(t.Context(), `SELECT coalesce(min(n), 0), count(*) FROM (SELECT count(*) AS n FROM slots WHERE owner IS NOT NULL GROUP BY owner) owners`).
			Scan(&least, &owners)
		return err == nil && owners == 2 && least == feedmill.Slots/2
	})
	f.sink.mu.Lock()
	pause := f.sink.pause
	f.sink.mu.Unlock()
	if most := longOr(patience, time.Second); pause > most {
		t.Errorf("a subscription waited for %v", pause)
	}
	published := stop()
	f.replicas[0].process.Load().mustStop(t)
	eventually(t, "all that was accepted has arrived", func() bool { return f.sink.complete(published) })
	f.sink.check(t)
	if n := f.sink.repeats(); n > 0 {
		t.Errorf("%d deliveries came twice", n)
	}
	t.Logf("%d events; the longest pause of a subscription was %v", published, pause)
	second.process.Load().mustStop(t)
}
