package postgres

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func TestDaysAreMadeWhenNeeded(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	for _, days := range []int{-40, 40} {
		e := newEvent(sub)
		e.ID = feedmill.FirstID(feedmill.PrefixEvent, time.Now().AddDate(0, 0, days))
		if _, _, err := db.Accept(t.Context(), []feedmill.Event{e}, 10, nil); err != nil {
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

func TestADayThatAnotherReplicaDroppedIsMadeAgain(t *testing.T) {
	url := pgtest.New(t)
	one, other := open(t, url), open(t, url)
	sub := subscribed(t, one)
	d := published(t, one, sub)
	if _, err := one.Settle(t.Context(), []feedmill.Outcome{ended(d, feedmill.DeliveryDelivered)}, 10); err != nil {
		t.Fatal(err)
	}
	pruneAll(t, other)
	if _, err := one.Delivery(t.Context(), sub.Workspace, d.ID); !errors.Is(err, feedmill.ErrNotFound) {
		t.Fatalf("error is %v, want that the day was dropped", err)
	}
	d = published(t, one, sub)
	pruneAll(t, other) // the day is held by what is open
	if _, err := one.Settle(t.Context(), []feedmill.Outcome{ended(d, feedmill.DeliveryExhausted)}, 10); err != nil {
		t.Error(err)
	}
}
