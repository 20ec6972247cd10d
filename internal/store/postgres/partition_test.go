package postgres

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func TestDaysAreMadeWhenNeeded(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	for _, days := range []int{-40, 40} {
		e := newEvent(sub)
		e.ID = feedmill.FirstID(feedmill.PrefixEvent, time.Now().AddDate(0, 0, days))
		if _, _, err := db.Accept(t.Context(), []feedmill.Event{e}, nil); err != nil {
			t.Errorf("an event %d days from now: %v", days, err)
		}
		if _, err := db.Event(t.Context(), sub.Workspace, e.ID); err != nil {
			t.Error(err)
		}
	}
}

func TestReplicasMakeTheSameDaysAtOnce(t *testing.T) {
	url := pgtest.New(t)
	var wg sync.WaitGroup
	for range 6 {
		db := open(t, url)
		wg.Go(func() {
			if err := db.preparePartitions(t.Context(), time.Now().AddDate(0, 1, 0), time.Time{}, daysAhead); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A process that stood still within a transaction finds that the server has ended it.
func TestATransactionThatWaitedForThisProcessIsDoneAgain(t *testing.T) {
	db := open(t, pgtest.New(t))
	for _, still := range []int{1, 2} { // how often it stands still
		tries := 0
		err := db.withPartitions(t.Context(), nil, func() error {
			tries++
			var backend int
			return db.pipeline(t.Context(), func(b *pgx.Batch) error {
				b.Queue(`SET LOCAL idle_in_transaction_session_timeout = 1`)
				b.Queue(`CREATE TABLE kept_` + strconv.Itoa(still) + ` (number integer)`)
				b.Queue(`SELECT pg_backend_pid()`).QueryRow(func(row pgx.Row) error { return row.Scan(&backend) })
				if tries > still {
					b.Queue(`SET LOCAL idle_in_transaction_session_timeout = 0`)
				}
				return nil
			}, func(b *pgx.Batch) error {
				for there := tries <= still; there; {
					if err := db.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = $1)`, backend).Scan(&there); err != nil {
						t.Fatal(err)
					}
				}
				b.Queue(`SELECT 1`)
				return nil
			})
		})
		if tries != 2 || errors.Is(err, feedmill.ErrUnavailable) != (still == 2) || err != nil != (still == 2) {
			t.Errorf("stood still %d times: tried %d times, error is %v", still, tries, err)
		}
	}
}

func TestADayThatAnotherReplicaDroppedIsMadeAgain(t *testing.T) {
	url := pgtest.New(t)
	one, other := open(t, url), open(t, url)
	sub := subscribed(t, one)
	d := published(t, one, sub)
	if _, err := one.Settle(t.Context(), []feedmill.Outcome{ended(d, feedmill.DeliveryDelivered)}); err != nil {
		t.Fatal(err)
	}
	pruneAll(t, other)
	if _, err := one.Delivery(t.Context(), sub.Workspace, d.ID); !errors.Is(err, feedmill.ErrNotFound) {
		t.Fatalf("error is %v, want that the day was dropped", err)
	}
	d = published(t, one, sub)
	pruneAll(t, other) // the day is held by what is open
	if _, err := one.Settle(t.Context(), []feedmill.Outcome{ended(d, feedmill.DeliveryExhausted)}); err != nil {
		t.Error(err)
	}
}
