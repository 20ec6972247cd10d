package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// crashes is how often TestCrash kills the program, FEEDMILL_CRASHES where it
// is set: 'FEEDMILL_CRASHES=200 go test -run TestCrash ./cmd/feedmill' is the
// long form.
func crashes(t *testing.T) int {
	text := os.Getenv("FEEDMILL_CRASHES")
	if text == "" {
		return 4
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCrash publishes from several clients, kills the program at random moments
// and starts it again. Every event that was acknowledged must arrive, and no
// more of them twice than can have been under way at the kills.
func TestCrash(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { crash(t, nil, nil) })
	t.Run("postgres", func(t *testing.T) {
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
	kills := crashes(t)
	for i := range kills {
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
	// What a kill finds under way is at most what a lane may have, and what
	// waits to be written behind it.
	if most := kills * subscriptions * 1024; twice > most {
		t.Errorf("of %d acknowledged events %d deliveries came twice, at most %d were under way", n, twice, most)
	}
	t.Logf("%d kills, %d events acknowledged, %d deliveries came twice", kills, n, twice)
}
