package postgres

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// BenchmarkBatches is the life of events that are published five hundred a call,
// or one a call to a thousand subscriptions, and settled five hundred a call. What
// the server takes is told apart from what the client takes: on a busy machine it
// moves least.
func BenchmarkBatches(b *testing.B) {
	for _, subs := range []int{1, 1000} {
		b.Run(fmt.Sprint(subs), func(b *testing.B) {
			db, sub := benchStore(b)
			var more []feedmill.Subscription
			for range subs - 1 {
				s := sub
				s.ID = feedmill.NewID(feedmill.PrefixSubscription)
				more = append(more, s)
			}
			if err := db.CreateSubscriptions(b.Context(), more, 0, nil); err != nil {
				b.Fatal(err)
			}
			var accepting, settling time.Duration
			done, wal := 0, written(b, db)
			for b.Loop() {
				events := make([]feedmill.Event, max(500/subs, 1))
				for i := range events {
					events[i] = benchEvent(sub)
					events[i].PublisherID, events[i].DedupeKey = "", ""
				}
				start := serverTime(b, db)
				_, due, err := db.Accept(b.Context(), events, nil)
				if err != nil {
					b.Fatal(err)
				}
				accepted := serverTime(b, db)
				accepting += accepted - start
				outcomes := make([]feedmill.Outcome, len(due))
				for i, d := range due {
					outcomes[i] = feedmill.Outcome{
						Workspace: d.Workspace, Subscription: d.Subscription, Delivery: d.ID, Seq: d.Seq, State: feedmill.DeliveryDelivered, At: d.DueAt,
						Attempt: &feedmill.Attempt{ID: feedmill.NewID(feedmill.PrefixAttempt), Delivery: d.ID, Number: 1, At: d.DueAt, Status: 204},
					}
				}
				for part := range slices.Chunk(outcomes, 500) {
					if _, err := db.Settle(b.Context(), part); err != nil {
						b.Fatal(err)
					}
				}
				settling += serverTime(b, db) - accepted
				done += len(due)
			}
			b.ReportMetric(float64(accepting.Nanoseconds())/1e3/float64(done), "server-µs-accept/delivery")
			b.ReportMetric(float64(settling.Nanoseconds())/1e3/float64(done), "server-µs-settle/delivery")
			b.ReportMetric(float64(written(b, db)-wal)/float64(done), "WAL-bytes/delivery")
		})
	}
}

// written is how many bytes the server has logged.
func written(b *testing.B, db *DB) (bytes int64) {
	b.Helper()
	if err := db.pool.QueryRow(b.Context(), `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint`).Scan(&bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}

// serverTime is what the server's processes for this store have used of the
// processors.
func serverTime(b *testing.B, db *DB) (sum time.Duration) {
	b.Helper()
	var pid int
	if err := db.pool.QueryRow(b.Context(), `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		b.Fatal(err)
	}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%s/task/*/children", parent(b, pid)))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range children {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, child := range bytes.Fields(text) {
			used, err := os.ReadFile("/proc/" + string(child) + "/schedstat")
			if err != nil {
				continue // it has ended
			}
			nanoseconds, _, _ := strings.Cut(string(used), " ")
			n, err := strconv.ParseInt(nanoseconds, 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += time.Duration(n)
		}
	}
	return sum
}

// parent is the process that started another.
func parent(b *testing.B, pid int) string {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "PPid:")
	return strings.Fields(rest)[0]
}
