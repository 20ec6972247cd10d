package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/mattn/go-sqlite3" // to change the file of a stopped server

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestClockSetBackAcrossARestart starts the server on what one has left behind
// whose clock was an hour ahead: nothing of it may wait for that hour.
func TestClockSetBackAcrossARestart(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := filepath.Join(t.TempDir(), "data")
		clockSetBack(t, data, onLoopback, func() error {
			return changeFile(t.Context(), data,
				`UPDATE deliveries SET at = at + 3600000 WHERE state = 2 OR state = 4`, `UPDATE attempts SET at = at + 3600000`)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		clockSetBack(t, filepath.Join(t.TempDir(), "data"), append(onPostgres(url), onLoopback...), func() error {
			return changeDatabase(t.Context(), url,
				`UPDATE open_deliveries SET due_at = due_at + interval '1 hour'`, `UPDATE attempts SET at = at + interval '1 hour'`)
		})
	})
}

// clockSetBack leaves deliveries that were never tried and some that failed,
// lets them age by an hour less than nothing, and starts the server again.
func clockSetBack(t *testing.T, data string, env []string, hourAhead func() error) {
	var works atomic.Bool
	var arrived, failed atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			failed.Add(1)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		arrived.Add(1)
	}))
	defer sink.Close()
	// A wait that is long enough to stop the server within it.
	env = append(env, "FEEDMILL_RETRY_SCHEDULE=2s,2s,2s,2s,2s,2s,2s,2s,2s")
	p := serve(t, data, env...)
	for _, delivery := range []string{`{}`, `{"ordered":true}`} {
		p.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.created"],"delivery":%s}`, sink.URL, delivery))
		id := p.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.created"],"delivery":%s}`, sink.URL, delivery))
		p.setState(t, id, "paused")
	}
	const events = 3
	for i := range events {
		body := fmt.Sprintf(`{"type":"metric.created","resourceId":"m_%d"}`, i)
		if resp, answer, err := send(http.MethodPost, p.url+"/events", body); err != nil || resp.StatusCode != http.StatusAccepted {
			t.Fatalf("publishing: %v %s, %v", resp, answer, err)
		}
	}
	eventually(t, "the first attempts fail", func() bool { return failed.Load() >= 2*events })
	p.mustStop(t)
	if err := hourAhead(); err != nil {
		t.Fatal(err)
	}

	works.Store(true)
	p = serve(t, data, env...)
	for _, id := range p.subscriptionIDs(t) {
		p.setState(t, id, "active")
	}
	eventually(t, "all deliveries arrive long before the hour is over", func() bool { return arrived.Load() >= 4*events })
	p.mustStop(t)
}

// changeFile runs statements on the file of a server that is stopped.
func changeFile(ctx context.Context, data string, statements ...string) error {
	db, err := sql.Open("sqlite3", filepath.Join(data, "feedmill.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// changeDatabase runs statements on a database.
func changeDatabase(ctx context.Context, url string, statements ...string) error {
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	for _, s := range statements {
		if _, err := db.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
