package storetest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Confirmations are requests to recipients to confirm subscriptions.
type Confirmations interface {
	// ClaimConfirmations returns subscriptions whose recipients are to be asked, and makes them
	// due again at a later time.
	ClaimConfirmations(ctx context.Context, now, again time.Time, limit int) ([]feedmill.ID, error)
	// SettleConfirmation ends a claim, unless the subscription was changed meanwhile.
	SettleConfirmation(ctx context.Context, id feedmill.ID, claimed, next time.Time) error
}

// SendWindows count messages by the clock of the database.
type SendWindows interface {
	// TakeTurn counts one message of a subject, or returns how long to wait for that.
	TakeTurn(ctx context.Context, subject string, most int, period time.Duration) (at time.Time, wait time.Duration, err error)
	// ReturnTurn stops counting a message that was not sent.
	ReturnTurn(ctx context.Context, subject string, at time.Time) error
	// ForgetSendWindows removes windows that ended before a time.
	ForgetSendWindows(ctx context.Context, now time.Time, limit int) (int64, error)
}

var consentCases = []testCase{
	{name: "a recipient is asked by one replica, and again if that fails", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		at := now()
		var asked []feedmill.ID
		for i := range 3 {
			sub := newSubscription(newWorkspace(t, s).ID, "metric.*")
			sub.Destination = feedmill.Destination{Kind: feedmill.DestinationMail, URL: "mailto:ada@example.com"}
			if i < 2 {
				sub.AskConsent(at.Add(time.Duration(i) * time.Second))
				asked = append(asked, sub.ID)
			}
			sub.AlertID = feedmill.NewID(feedmill.PrefixAlert)
			must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{sub}, 0, nil))
			got, err := s.Subscription(ctx, sub.Workspace, sub.ID)
			must(t, err)
			equal(t, "the subscription", sub, got)
		}
		claim := func(now, again time.Time, limit int, want ...feedmill.ID) {
			t.Helper()
			ids, err := s.ClaimConfirmations(ctx, now, again, limit)
			must(t, err)
			if !slices.Equal(ids, want) {
				t.Errorf("%v are due, want %v", ids, want)
			}
		}
		later := at.Add(time.Minute)
		claim(at.Add(-time.Second), later, 9)
		claim(at, later, 9, asked[0])
		claim(at.Add(time.Second), later, 9, asked[1])
		claim(at.Add(time.Second), later, 9)
		must(t, s.SettleConfirmation(ctx, asked[0], later, time.Time{}))
		must(t, s.SettleConfirmation(ctx, asked[1], later.Add(time.Second), time.Time{})) // another claim
		claim(later, later.Add(time.Minute), 1, asked[1])
		must(t, s.SettleConfirmation(ctx, asked[1], later.Add(time.Minute), later.Add(time.Hour)))
		claim(later.Add(time.Minute), later.Add(2*time.Hour), 9)
		claim(later.Add(time.Hour), later.Add(2*time.Hour), 9, asked[1])
	}},
	{name: "so many messages are counted in a period", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		var all sync.WaitGroup
		var taken atomic.Int64
		for range 12 {
			all.Go(func() {
				at, wait, err := s.TakeTurn(ctx, "a", 5, time.Hour)
				if err != nil || at.IsZero() != (wait > 0) || wait > time.Hour {
					t.Errorf("%v, %v, %v", at, wait, err)
				}
				if wait == 0 {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		equal(t, "taken", 5, taken.Load())
		at, wait, err := s.TakeTurn(ctx, "b", 1, time.Hour) // another subject
		if must(t, err); wait != 0 {
			t.Errorf("wait %v", wait)
		}
		must(t, s.ReturnTurn(ctx, "b", at.Add(time.Second)))
		if _, wait, err = s.TakeTurn(ctx, "b", 1, time.Hour); err != nil || wait < 50*time.Minute {
			t.Errorf("wait %v, %v", wait, err)
		}
		must(t, s.ReturnTurn(ctx, "b", at))
		if _, wait, err = s.TakeTurn(ctx, "b", 1, time.Hour); err != nil || wait != 0 {
			t.Errorf("wait %v, %v", wait, err)
		}
		_, _, err = s.TakeTurn(ctx, "c", 1, time.Millisecond)
		must(t, err)
		for range 3 {
			nextMillisecond()
		}
		if _, wait, err = s.TakeTurn(ctx, "c", 1, time.Millisecond); err != nil || wait != 0 {
			t.Errorf("wait %v, %v", wait, err)
		}
		n, err := s.ForgetSendWindows(ctx, now().Add(time.Minute), 9)
		must(t, err)
		equal(t, "ended", 1, n)
	}},
}
