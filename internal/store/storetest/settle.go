package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Settled is what became of attempts.
type Settled interface {
	// Settle writes outcomes, each with its attempt, and what they mean for their
	// subscriptions, all or none. A delivery that is not open any more keeps its state, but
	// its attempt is written; of one that is not there nothing is. One that was discarded
	// while it arrived is delivered. Attempts get the next number of their delivery,
	// whatever Number says: two senders may have thought theirs to be the same. A Notice is
	// accepted like any event; the deliveries it makes are returned. Disable has effect, and
	// its Notice is written, only where the subscription is not disabled or deleted already
	// and was not changed since At, and for the reason DisabledFailing only where it is
	// active, has FailuresToDisable failures, and its FailingSince is as long ago as its
	// settings say; it discards open deliveries as ChangeSubscription does. Warn has effect,
	// with its Notice, only where WarnedAt is zero. Succeeded clears WarnedAt, FailingSince
	// and Failures; Failed sets FailingSince where it is zero, and counts.
	Settle(ctx context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error)
}

var settleCases = []testCase{
	{name: "an outcome moves its delivery and is kept with its attempt", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvents(4, w.ID, "metric.created", "m_1")...)
		var outcomes []feedmill.Outcome
		for i, state := range []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryRetrying, feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded} {
			o := newOutcome(due[i], state)
			wanted := due[i].Delivery
			wanted.State, wanted.Reason, wanted.Attempts = state, o.Reason, 1
			switch state {
			case feedmill.DeliveryRetrying:
				wanted.DueAt = o.DueAt
			case feedmill.DeliveryDiscarded:
				o.Attempt, wanted.Attempts = nil, 0
				fallthrough
			default:
				wanted.EndedAt = o.At
			}
			outcomes, due[i].Delivery = append(outcomes, o), wanted
		}
		a := outcomes[2].Attempt
		a.Error, a.Body = "the endpoint answered 500", []byte("no\x00\xff")
		a.Header = [][2]string{{"Content-Type", "text/plain"}, {"Set-Cookie", "a: b, c"}, {"Set-Cookie", ""}, {"X-Latin", "caf\xe9"}, feedmill.LinesLeftOut}
		a.Timing = feedmill.Timing{DNS: 1 * time.Microsecond, Connect: 2 * time.Millisecond, TLS: 3 * time.Second, FirstByte: 4 * time.Microsecond, Total: time.Minute}
		fresh, err := s.Settle(ctx, outcomes)
		must(t, err)
		equal(t, "due", nil, fresh)
		for i, d := range due {
			got, err := s.Delivery(ctx, w.ID, d.ID)
			must(t, err)
			equal(t, string(d.State), d.Delivery, got)
			attempts, err := s.DeliveryAttempts(ctx, d.ID)
			must(t, err)
			var wanted []feedmill.Attempt
			if outcomes[i].Attempt != nil {
				wanted = append(wanted, *outcomes[i].Attempt)
			}
			equal(t, string(d.State)+": attempts", wanted, attempts)
			last, err := s.LastAttempts(ctx, []feedmill.Delivery{d.Delivery})
			must(t, err)
			if len(last) != len(wanted) || len(wanted) > 0 && (last[d.ID].Status != wanted[0].Status || last[d.ID].Error != wanted[0].Error || !last[d.ID].At.Equal(wanted[0].At)) {
				t.Errorf("%s: the last attempt is %+v, want %+v", d.State, last, wanted)
			}
		}
	}},
	{name: "attempts add up over retries, first to last", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		var wanted []feedmill.Attempt
		for i, state := range []feedmill.DeliveryState{feedmill.DeliveryRetrying, feedmill.DeliveryRetrying, feedmill.DeliveryDelivered} {
			o := newOutcome(due[0], state)
			o.Attempt.Number = i + 1
			_, err := s.Settle(ctx, []feedmill.Outcome{o})
			must(t, err)
			wanted = append(wanted, *o.Attempt)
		}
		got, err := s.DeliveryAttempts(ctx, due[0].ID)
		must(t, err)
		equal(t, "attempts", wanted, got)
		untried, _ := accept(t, s, newEvent(w.ID, "metric.created", ""))
		if len(untried) != 1 {
			t.Fatalf("accepted are %v", untried)
		}
		all := deliveries(t, s, sub)
		last, err := s.LastAttempts(ctx, all)
		must(t, err)
		final := wanted[2]
		final.Header, final.Body, final.Timing = nil, nil, feedmill.Timing{Total: final.Timing.Total}
		equal(t, "last attempts", map[feedmill.ID]feedmill.Attempt{due[0].ID: final}, last)
		if d := all[0]; d.Attempts != 3 || d.State != feedmill.DeliveryDelivered || d.Reason != "" {
			t.Errorf("delivery is %+v", d)
		}
	}},
	{name: "what arrived while its subscription ended is delivered", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""), newEvent(w.ID, "metric.created", ""))
		must(t, s.DeleteSubscription(ctx, w.ID, sub.ID, now()))
		settle(t, s, due[0], feedmill.DeliveryDelivered)
		settle(t, s, due[1], feedmill.DeliveryRetrying)
		for i, state := range []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryDiscarded} {
			d, err := s.Delivery(ctx, w.ID, due[i].ID)
			must(t, err)
			if d.State != state || d.Attempts != 1 || (d.Reason == "") != (state == feedmill.DeliveryDelivered) {
				t.Errorf("delivery %d is %+v, want it %s", i, d, state)
			}
		}
	}},
	{name: "a subscription is disabled for failing only while it fails", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		const days, enough = 24 * time.Hour, feedmill.FailuresToDisable - 1 // and one more with the outcome
		for _, c := range []struct {
			name         string
			since        time.Duration
			failures     int
			disableAfter time.Duration
			state        feedmill.SubscriptionState
			want         bool
		}{
			{"first failure", 0, 0, 0, feedmill.SubscriptionActive, false},
			{"not for long enough", 5*days - time.Second, enough, 0, feedmill.SubscriptionActive, false},
			{"not often enough", 9 * days, enough - 1, 0, feedmill.SubscriptionActive, false},
			{"paused", 9 * days, enough, 0, feedmill.SubscriptionPaused, false},
			{"long and often enough", 5 * days, enough, 0, feedmill.SubscriptionActive, true},
			{"its own time has not passed", 9 * days, enough, 10 * days, feedmill.SubscriptionActive, false},
			{"its own time has passed", 25 * time.Hour, enough, 24 * time.Hour, feedmill.SubscriptionActive, true},
			{"never", 90 * days, enough, feedmill.NeverDisable, feedmill.SubscriptionActive, false},
		} {
			sub := newSubscription(w.ID, "metric.*")
			sub.CreatedAt, sub.State, sub.Failures, sub.Delivery.DisableAfter = now().Add(-90*days), c.state, c.failures, c.disableAfter
			if c.since > 0 {
				sub.FailingSince = now().Add(-c.since)
			}
			must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{sub}, 0, nil))
			_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
			o := newOutcome(due[len(due)-1], feedmill.DeliveryRetrying)
			o.Failed, o.Disable = true, feedmill.DisabledFailing
			_, err := s.Settle(ctx, []feedmill.Outcome{o})
			must(t, err)
			got, err := s.Subscription(ctx, w.ID, sub.ID)
			must(t, err)
			if disabled := got.State == feedmill.SubscriptionDisabled; disabled != c.want || disabled && got.DisabledReason != feedmill.DisabledFailing {
				t.Errorf("%s: the subscription is %s", c.name, got.State)
			}
			must(t, s.DeleteSubscription(ctx, w.ID, sub.ID, now()))
		}
	}},
	{name: "a run of failures begins with the first, counts as far as matters and ends with a success", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, other := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "metric.*")
		at := now()
		settleAll := func(state feedmill.DeliveryState, times ...time.Duration) feedmill.Subscription {
			_, due := accept(t, s, newEvents(len(times), w.ID, "metric.created", "")...)
			var outcomes []feedmill.Outcome
			for _, d := range due {
				if d.Subscription != sub.ID {
					continue
				}
				o := newOutcome(d, state)
				o.At = at.Add(times[len(outcomes)])
				o.Succeeded, o.Failed = state == feedmill.DeliveryDelivered, state != feedmill.DeliveryDelivered
				outcomes = append(outcomes, o)
			}
			_, err := s.Settle(ctx, outcomes)
			must(t, err)
			got, err := s.Subscription(ctx, w.ID, sub.ID)
			must(t, err)
			return got
		}
		if got := settleAll(feedmill.DeliveryRetrying, time.Second, 2*time.Second); !got.FailingSince.Equal(at.Add(time.Second)) || got.Failures != 2 {
			t.Errorf("failing since %v, %d times", got.FailingSince, got.Failures)
		}
		many := make([]time.Duration, feedmill.FailuresToDisable)
		if got := settleAll(feedmill.DeliveryRetrying, many...); !got.FailingSince.Equal(at.Add(time.Second)) || got.Failures != feedmill.FailuresToDisable {
			t.Errorf("failing since %v, %d times", got.FailingSince, got.Failures)
		}
		if got := settleAll(feedmill.DeliveryDelivered, 3*time.Second); !got.FailingSince.IsZero() || got.Failures != 0 {
			t.Errorf("after a success failing since %v, %d times", got.FailingSince, got.Failures)
		}
		got, err := s.Subscription(ctx, w.ID, other.ID)
		must(t, err)
		equal(t, "one that nothing was said of", other, got)
	}},
	{name: "an outcome of what is not there is dropped, the others are written", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		gone := due[0]
		gone.ID = feedmill.NewID(feedmill.PrefixDelivery)
		_, err := s.Settle(ctx, []feedmill.Outcome{newOutcome(gone, feedmill.DeliveryDelivered), newOutcome(due[0], feedmill.DeliveryDelivered)})
		must(t, err)
		if n := countStates(t, s, sub); n[feedmill.DeliveryDelivered] != 1 {
			t.Errorf("states are %v", n)
		}
		attempts, err := s.DeliveryAttempts(ctx, gone.ID)
		must(t, err)
		equal(t, "attempts of what is not there", nil, attempts)
	}},
	{name: "all outcomes of a call or none", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		event := newEvent(w.ID, "metric.created", "")
		_, due := accept(t, s, event, newEvent(w.ID, "metric.created", ""))
		one, two := newOutcome(due[0], feedmill.DeliveryDelivered), newOutcome(due[1], feedmill.DeliveryDelivered)
		two.Notice = &event // its id is taken
		_, err := s.Settle(ctx, []feedmill.Outcome{one, two})
		want(t, err, feedmill.ErrConflict)
		if n := countStates(t, s, sub); n[feedmill.DeliveryPending] != 2 {
			t.Errorf("states are %v, want both pending", n)
		}
		got, err := s.SubscriptionForDelivery(ctx, sub.ID)
		must(t, err)
		equal(t, "subscription", sub, got)
	}},
	{name: "a success moves the last success, at most a minute behind, and takes the warning back", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		at := now()
		succeed := func(after time.Duration) feedmill.Subscription {
			_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
			o := newOutcome(due[0], feedmill.DeliveryDelivered)
			o.At = at.Add(after)
			_, err := s.Settle(ctx, []feedmill.Outcome{o})
			must(t, err)
			got, err := s.Subscription(ctx, w.ID, sub.ID)
			must(t, err)
			return got
		}
		for _, after := range []time.Duration{0, 30 * time.Second, 2 * time.Minute, 4 * time.Minute} {
			if behind := at.Add(after).Sub(succeed(after).LastSuccessAt); behind < 0 || behind > time.Minute {
				t.Errorf("last success is %v behind", behind)
			}
		}
		if got := succeed(-time.Hour).LastSuccessAt; got.Before(at.Add(3 * time.Minute)) {
			t.Errorf("last success went back to %v", got)
		}
		_, err := s.ChangeSubscription(ctx, w.ID, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			sub.WarnedAt = at
			return nil, nil
		})
		must(t, err)
		if got := succeed(4*time.Minute + time.Second); !got.WarnedAt.IsZero() {
			t.Errorf("warned at %v in spite of a success", got.WarnedAt)
		}
	}},
	{name: "a warning is given once, with its notice", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, listener := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "subscription.*")
		_, due := accept(t, s, newEvents(3, w.ID, "metric.created", "")...)
		var outcomes []feedmill.Outcome
		for _, d := range due {
			o := newOutcome(d, feedmill.DeliveryRetrying)
			notice := newEvent(w.ID, "subscription.disabling_soon", string(sub.ID))
			o.Warn, o.Notice = true, &notice
			outcomes = append(outcomes, o)
		}
		outcomes[1].At = outcomes[0].At.Add(time.Second)
		fresh, err := s.Settle(ctx, outcomes[:2])
		must(t, err)
		if len(fresh) != 1 || fresh[0].Event != outcomes[0].Notice.ID || fresh[0].Subscription != listener.ID || fresh[0].MaxAttempts != maxAttempts {
			t.Fatalf("due are %+v, want the first notice alone", fresh)
		}
		equal(t, "stored", deliveries(t, s, listener)[0], fresh[0].Delivery)
		equal(t, "payload", outcomes[0].Notice.Payload, fresh[0].Payload)
		fresh, err = s.Settle(ctx, outcomes[2:])
		must(t, err)
		equal(t, "due after the first warning", nil, fresh)
		got, err := s.Subscription(ctx, w.ID, sub.ID)
		must(t, err)
		if !got.WarnedAt.Equal(outcomes[0].At) || got.State != feedmill.SubscriptionActive {
			t.Errorf("subscription is %+v", got)
		}
		for i, o := range outcomes {
			_, err := s.Event(ctx, w.ID, o.Notice.ID)
			if i == 0 {
				must(t, err)
			} else {
				want(t, err, feedmill.ErrNotFound)
			}
		}
		if n := countStates(t, s, sub); n[feedmill.DeliveryRetrying] != 3 {
			t.Errorf("states are %v", n)
		}
	}},
	{name: "what was seen before a change does not disable a subscription after it", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		gone := newOutcome(due[0], feedmill.DeliveryExhausted)
		notice := newEvent(w.ID, "subscription.disabled", string(sub.ID))
		gone.Disable, gone.Notice = feedmill.DisabledGone, &notice
		for _, want := range []feedmill.SubscriptionState{feedmill.SubscriptionDisabled, feedmill.SubscriptionActive} {
			// The second time as one settles who never heard that the first was written.
			_, err := s.Settle(ctx, []feedmill.Outcome{gone})
			must(t, err)
			got, err := s.Subscription(ctx, w.ID, sub.ID)
			must(t, err)
			equal(t, "state", want, got.State)
			_, err = s.ChangeSubscription(ctx, w.ID, sub.ID, func(sub *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
				sub.State, sub.UpdatedAt = feedmill.SubscriptionActive, gone.At.Add(time.Second)
				return nil, nil
			})
			must(t, err)
		}
	}},
	{name: "a subscription is disabled once, with its notice", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub, listener := subscribe(t, s, w.ID, "metric.*"), subscribe(t, s, w.ID, "subscription.disabled")
		deleted := subscribe(t, s, w.ID, "tag.*")
		_, due := accept(t, s, append(newEvents(3, w.ID, "metric.created", ""), newEvent(w.ID, "tag.created", ""))...)
		must(t, s.DeleteSubscription(ctx, w.ID, deleted.ID, now()))
		disable := func(d feedmill.DueDelivery, reason string) []feedmill.DueDelivery {
			o := newOutcome(d, feedmill.DeliveryExhausted)
			notice := newEvent(w.ID, "subscription.disabled", string(d.Subscription))
			o.Disable, o.Notice = reason, &notice
			fresh, err := s.Settle(ctx, []feedmill.Outcome{o})
			must(t, err)
			return fresh
		}
		if fresh := disable(due[0], feedmill.DisabledGone); len(fresh) != 1 || fresh[0].Subscription != listener.ID {
			t.Errorf("due are %+v, want the notice", fresh)
		}
		for _, d := range []feedmill.DueDelivery{due[1], due[3]} {
			equal(t, "due after the end", nil, disable(d, feedmill.DisabledFailing))
		}
		got, err := s.Subscription(ctx, w.ID, sub.ID)
		must(t, err)
		if got.State != feedmill.SubscriptionDisabled || got.DisabledReason != feedmill.DisabledGone {
			t.Errorf("subscription is %+v", got)
		}
		got, err = s.SubscriptionForDelivery(ctx, deleted.ID)
		must(t, err)
		if got.State != feedmill.SubscriptionActive || got.DeletedAt.IsZero() {
			t.Errorf("deleted subscription is %+v", got)
		}
		// The first delivery had its own end, the second's had come by then.
		n := countStates(t, s, sub)
		if n[feedmill.DeliveryExhausted] != 1 || n[feedmill.DeliveryDiscarded] != 2 {
			t.Errorf("states are %v", n)
		}
		if n := len(deliveries(t, s, listener)); n != 1 {
			t.Errorf("%d notices were sent, want 1", n)
		}
		_, due = accept(t, s, newEvent(w.ID, "metric.created", ""))
		equal(t, "due of a disabled subscription", nil, due)
		if n := countStates(t, s, sub); n[feedmill.DeliveryDiscarded] != 3 {
			t.Errorf("states are %v, want the new one discarded", n)
		}
	}},
	{name: "a notice by itself is accepted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		notice := newEvent(w.ID, "metric.updated", "")
		o := newOutcome(due[0], feedmill.DeliveryDelivered)
		o.Notice = &notice
		fresh, err := s.Settle(ctx, []feedmill.Outcome{o})
		must(t, err)
		if len(fresh) != 1 || fresh[0].Event != notice.ID {
			t.Errorf("due are %+v, want the notice", fresh)
		}
	}},
}
