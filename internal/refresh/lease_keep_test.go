package refresh

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// renewals is a store of which only the renewing of leases is asked for.
type renewals struct {
	Store
	err       error
	meanwhile func()
	deadline  time.Time
	progress  [][]feedmill.Refresh
}

func (s *renewals) RenewSource(ctx context.Context, _, _ feedmill.ID, _ int64, _ time.Time, progress []feedmill.Refresh) error {
	s.deadline, _ = ctx.Deadline()
	s.progress = append(s.progress, progress)
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return s.err
}

// leased is a lease that ends after a while and was renewed so long ago that it is
// time to do so again.
func leased(s *renewals, left time.Duration) *lease {
	now := moment()
	return &lease{
		engine: &Engine{Options: Options{Store: s, Log: slog.New(slog.DiscardHandler)}}, run: context.Background(),
		progress: newProgress(), until: now.Add(left), renewed: now.Add(left - leaseTime),
	}
}

func TestALeaseThatHasEndedIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(renewals)
		if leased(s, 0).keep() || len(s.progress) > 0 {
			t.Errorf("the store was asked %d times", len(s.progress))
		}
	})
}

func TestRenewingTakesNoLongerThanTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for left, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, 20 * time.Second: 10 * time.Second} {
			s := new(renewals)
			l := leased(s, left)
			if !l.keep() || !l.until.Equal(moment().Add(leaseTime)) {
				t.Errorf("the lease of %v is lost", left)
			}
			if got := s.deadline.Sub(moment()); got != want {
				t.Errorf("with %v left the store may take %v, want %v", left, got, want)
			}
		}
	})
}

func TestProgressThatIsNotWrittenIsWrittenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &renewals{err: errors.New("not now")}
		l := leased(s, leaseTime)
		l.progress.report(feedmill.Refresh{ID: "rfr_1", RowsIn: 1})
		l.progress.report(feedmill.Refresh{ID: "rfr_2", RowsIn: 1})
		s.meanwhile = func() { l.progress.report(feedmill.Refresh{ID: "rfr_2", RowsIn: 2}) }
		if !l.keep() {
			t.Fatal("the lease is lost")
		}
		s.err = nil
		if !l.keep() || len(s.progress) != 2 {
			t.Fatalf("%d tries", len(s.progress))
		}
		rows := make(map[feedmill.ID]int64)
		for _, r := range s.progress[1] {
			rows[r.ID] = r.RowsIn
		}
		if len(rows) != 2 || rows["rfr_1"] != 1 || rows["rfr_2"] != 2 {
			t.Errorf("written is %v", rows)
		}
		l.progress.report(feedmill.Refresh{ID: "rfr_1", RowsIn: 1})
		if !l.keep() || len(s.progress) != 2 {
			t.Error("what has not changed is written again")
		}
	})
}

// A run that has no number yet is cancelled by the latest that is known of it.
func TestTheLatestCancellationCounts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	u := &underWay{cancel: cancel}
	e := &Engine{under: map[feedmill.ID]*underWay{"ds_1": u}}
	e.Cancel("ds_1", 3)
	e.Cancel("ds_1", 2)
	u.number = 2
	u.check()
	if context.Cause(ctx) != errCancelled {
		t.Errorf("the run goes on: %v", context.Cause(ctx))
	}
}
