package deliver

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// tallyEvery is how often counts are written. What was counted since then is
	// lost with a process that is killed; the log of deliveries has it all.
	tallyEvery = time.Minute
	// maxTallied bounds the subscriptions that are counted for in memory.
	maxTallied = 50_000
	// tallyStep is how many counts share a transaction while others wait for the
	// store, and lastTallyStep how many at the end.
	tallyStep     = 50
	lastTallyStep = 500
)

// tally counts attempts by subscription, in the present stretch of time.
type tally struct {
	mu     sync.Mutex
	writer string
	from   time.Time
	counts map[feedmill.ID]*tallied
	// changed are those of them that changed since they were written, and past are
	// counts of former stretches that are still to be written.
	changed []*tallied
	past    []feedmill.DeliveryCount
	// full gets a value when counts should be written soon.
	full chan struct{}
}

type tallied struct {
	feedmill.DeliveryCount
	changed bool // since it was written
}

func newTally() *tally {
	return &tally{writer: string(feedmill.NewID("w")), counts: make(map[feedmill.ID]*tallied), full: make(chan struct{}, 1)}
}

// count counts an attempt.
func (t *tally) count(o feedmill.Outcome, r feedmill.Result, attempt int, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if from := now.UTC().Truncate(feedmill.CountStep); from.After(t.from) {
		t.turn()
		t.from = from
	}
	c := t.counts[o.Subscription]
	if c == nil {
		if len(t.counts) >= maxTallied {
			// Others have their turn, and those that come again are counted
			// beside what was written of them.
			t.turn()
			t.writer = string(feedmill.NewID("w"))
			signal(t.full)
		}
		c = &tallied{DeliveryCount: feedmill.DeliveryCount{Subscription: o.Subscription, From: t.from, Writer: t.writer}}
		t.counts[o.Subscription] = c
	}
	t.change(c)
	if r.Responded {
		c.Times.Count(r.Timing.Total)
	}
	switch {
	case o.State == feedmill.DeliveryDelivered:
		c.Delivered++
		if attempt == 1 {
			c.First++
		}
		return
	case o.State == feedmill.DeliveryExhausted:
		c.Exhausted++
	}
	c.Failed++
}

// change notes that a count is to be written.
func (t *tally) change(c *tallied) {
	if !c.changed {
		c.changed = true
		t.changed = append(t.changed, c)
	}
}

// turn sets aside what is not written yet, and begins anew.
func (t *tally) turn() {
	for _, c := range t.changed {
		if len(t.past) < 2*maxTallied {
			t.past = append(t.past, c.DeliveryCount)
		}
	}
	t.changed = nil
	clear(t.counts)
}

// takeCounts takes up to limit counts that are to be written.
func (t *tally) takeCounts(limit int) (all []feedmill.DeliveryCount) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var changed []*tallied
	t.past, all = cutLast(t.past, limit)
	t.changed, changed = cutLast(t.changed, limit-len(all))
	for _, c := range changed {
		all = append(all, c.copy())
		c.changed = false
	}
	return all
}

// cutLast cuts up to n elements off the end of a list.
func cutLast[T any](list []T, n int) (rest, last []T) {
	from := max(len(list)-n, 0)
	last = slices.Clone(list[from:])
	if from == 0 {
		return nil, last // it need not stay as large as it was
	}
	clear(list[from:])
	return list[:from], last
}

// waiting is how many counts are to be written.
func (t *tally) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.past) + len(t.changed)
}

// putBack has counts written later. Those that went on are there anyway.
func (t *tally) putBack(all []feedmill.DeliveryCount) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, was := range all {
		if c := t.counts[was.Subscription]; c != nil && c.From.Equal(was.From) && c.Writer == was.Writer {
			t.change(c)
		} else if len(t.past) < 2*maxTallied {
			t.past = append(t.past, was)
		}
	}
}

func (c *tallied) copy() feedmill.DeliveryCount {
	is := c.DeliveryCount
	is.Times = slices.Clone(is.Times)
	return is
}

// recent is what is in memory of subscriptions, and from when on: nothing of an earlier
// stretch of time is.
func (t *tally) recent(subscriptions map[feedmill.ID]bool) (all []feedmill.DeliveryCount, from time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if from = t.from; from.IsZero() {
		from = time.Now().UTC().Truncate(feedmill.CountStep)
	}
	for _, c := range t.past {
		if subscriptions[c.Subscription] {
			all = append(all, c)
			if c.From.Before(from) {
				from = c.From
			}
		}
	}
	for id := range subscriptions {
		if c := t.counts[id]; c != nil {
			all = append(all, c.copy())
		}
	}
	return all, from
}

// writeTally writes counts now and then, and what is left at the end.
func (d *Dispatcher) writeTally(ctx context.Context) {
	tick := time.NewTicker(tallyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-d.tally.full:
		}
		if err := d.flushTally(ctx, tallyStep); err != nil && ctx.Err() == nil {
			d.Log.Warn("counts of deliveries are written later", "error", err)
		}
	}
}

// flushTally writes the counts that wait, so many at a time. Where they are few at a
// time, it rests after each for as long as it took.
func (d *Dispatcher) flushTally(ctx context.Context, step int) error {
	for left := d.tally.waiting(); left > 0; left -= step {
		all := d.tally.takeCounts(min(step, left))
		began := time.Now()
		if err := d.Store.WriteDeliveryCounts(ctx, all); err != nil {
			d.tally.putBack(all)
			return fmt.Errorf("write counts of deliveries: %w", err)
		}
		if step < lastTallyStep {
			pause(ctx, time.Since(began), nil)
		}
	}
	return nil
}

// Counts are what came of the attempts of a subscription since a time, by
// stretches of time, oldest first. What other replicas counted in the last
// minute may be missing.
func (d *Dispatcher) Counts(ctx context.Context, subscription feedmill.ID, since time.Time) ([]feedmill.DeliveryCount, error) {
	stored, err := d.Store.DeliveryCounts(ctx, subscription, since)
	if err != nil {
		return nil, err
	}
	all, _ := d.tally.recent(map[feedmill.ID]bool{subscription: true})
	for _, s := range stored {
		newer := func(c feedmill.DeliveryCount) bool { return c.Writer == s.Writer && c.From.Equal(s.From) }
		if !slices.ContainsFunc(all, newer) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b feedmill.DeliveryCount) int { return a.From.Compare(b.From) })
	merged := all[:0]
	for _, c := range all {
		switch n := len(merged); {
		case c.From.Before(since.Truncate(feedmill.CountStep)):
		case n > 0 && merged[n-1].From.Equal(c.From):
			merged[n-1].Add(c)
		default:
			merged = append(merged, c)
		}
	}
	return merged, nil
}

// Totals are what came of the deliveries of subscriptions since a time, each in all.
// What other replicas counted in the last minute may be missing.
func (d *Dispatcher) Totals(ctx context.Context, subscriptions []feedmill.ID, since time.Time) (map[feedmill.ID]feedmill.DeliveryCount, error) {
	wanted := make(map[feedmill.ID]bool, len(subscriptions))
	for _, id := range subscriptions {
		wanted[id] = true
	}
	counts, fresh := d.tally.recent(wanted)
	stored, err := d.Store.SumDeliveryCounts(ctx, subscriptions, since, fresh)
	if err != nil {
		return nil, err
	}
	type stretch struct {
		of     feedmill.ID
		from   int64
		writer string
	}
	known, totals := make(map[stretch]bool), make(map[feedmill.ID]feedmill.DeliveryCount, len(subscriptions))
	begin := since.Truncate(feedmill.CountStep)
	for _, c := range append(counts, stored...) {
		// What is in memory comes first: it is newer than what was written of it.
		if key := (stretch{c.Subscription, c.From.UnixNano(), c.Writer}); !known[key] && !c.From.Before(begin) {
			known[key] = true
			total := totals[c.Subscription]
			total.Delivered, total.Exhausted = total.Delivered+c.Delivered, total.Exhausted+c.Exhausted
			totals[c.Subscription] = total
		}
	}
	return totals, nil
}
