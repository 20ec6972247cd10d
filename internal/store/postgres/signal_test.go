package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func TestWhatReplicasTellEachOther(t *testing.T) {
	url := pgtest.New(t)
	a, b := open(t, url), open(t, url)
	type told struct {
		signal feedmill.Signal
		ids    []feedmill.ID
	}
	heard := make(chan told, 100)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.Hear(ctx, func(s feedmill.Signal, ids []feedmill.ID) { heard <- told{s, ids} }) }()
	// It is heard from some moment on.
	for listening := false; !listening; {
		if err := a.Tell(t.Context(), feedmill.SignalSlots, nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-heard:
			listening = true
		default:
		}
	}
	var many []feedmill.ID
	for i := range 1000 {
		many = append(many, feedmill.ID(fmt.Sprintf("sub_%026d", i)))
	}
	for _, c := range []struct{ tell, want told }{
		{told{feedmill.SignalDue, many[:200]}, told{feedmill.SignalDue, many[:200]}},
		{told{feedmill.SignalChanged, many[:1]}, told{feedmill.SignalChanged, many[:1]}},
		{told{feedmill.SignalDue, many}, told{feedmill.SignalDue, nil}},
	} {
		if err := a.Tell(t.Context(), c.tell.signal, c.tell.ids); err != nil {
			t.Fatal(err)
		}
		got := <-heard
		for got.signal == feedmill.SignalSlots {
			got = <-heard
		}
		if got.signal != c.want.signal || !slices.Equal(got.ids, c.want.ids) {
			t.Errorf("%d of %q are heard of, want %d of %q", len(got.ids), got.signal, len(c.want.ids), c.want.signal)
		}
	}
	// Whoever hears nothing more is told so.
	if _, err := a.pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a connection that is gone is taken to be silent")
	}
	stop()
}
