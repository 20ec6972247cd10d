package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// bringUpToDate reads a lane's subscription where it may have changed, and its
// due deliveries where the store may hold more.
func (d *Dispatcher) bringUpToDate(ctx context.Context, l *lane) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	now := time.Now()
	d.mu.Lock()
	stale := d.stale(l, now)
	old, changes := l.target, l.changes
	d.mu.Unlock()

	target, err := old, error(nil)
	if stale {
		target, err = d.readTarget(ctx, l.id)
	}
	if err == nil && (target.ended() || target.held() && !target.listening) {
		err = d.holdOrDiscard(ctx, l.id, target)
	}

	d.mu.Lock()
	if err == nil && stale && l.changes == changes {
		l.setTarget(target, now)
	}
	fetch := err == nil && !target.held() && !target.ended() && (l.more && d.wantsMore(l) || target.Settings.Ordered)
	if fetch && target.Settings.Ordered {
		d.dropQueue(l)
	}
	query := d.dueQuery(l, now, err == nil && target.Settings.Ordered)
	if fetch {
		d.awaited += query.Limit
		l.more, l.recheck, l.checkedAt, l.from = false, false, now, beyondIDs
		if !now.Before(l.retryAt) {
			l.retryAt = time.Time{}
		}
	}
	d.mu.Unlock()

	var due []feedmill.DueDelivery
	if fetch && query.Heads {
		err = d.orderOpen(ctx, l.id)
	}
	if fetch && err == nil {
		due, err = d.Store.Due(ctx, query)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	l.busy = false
	if fetch {
		d.awaited -= query.Limit
	}
	switch {
	case d.disowned(l):
		return
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			d.Log.Error("reading due deliveries", "subscription", l.id, "error", err)
		}
		l.more, l.from, l.late = true, "", ""
		d.waitFor(l, retryRead)
		return
	case target.held(), target.ended():
		d.dropQueue(l)
		l.held = target.held() && l.target != nil // it may have changed meanwhile
		l.usedAt = now                            // to know that it is held saves reading it again
		l.more = l.target == nil
	case fetch:
		l.takeOver(d, due, query)
	}
	d.makeReady(l)
	d.hire()
}

// beyondIDs is behind every id: while a lane is read, what it is to be read from
// next time is as far as nobody says otherwise meanwhile.
const beyondIDs feedmill.ID = "~"

// takeOver queues what a query has read, as far as it fits.
func (l *lane) takeOver(d *Dispatcher, due []feedmill.DueDelivery, q feedmill.DueQuery) {
	from, cut := q.From, len(due) == q.Limit
	for _, item := range due {
		_, known := l.known[item.ID]
		_, settled := l.settled[item.ID]
		if !known && !settled {
			if !d.fits(l) {
				cut = true
				break
			}
			d.push(l, item)
		}
		l.readTo = max(l.readTo, item.Seq)
		if item.State == feedmill.DeliveryPending {
			from = item.ID
		}
	}
	l.from = min(l.from, from)
	if !cut && l.late != "" {
		l.from, l.late, cut = min(l.from, l.late), "", true
	}
	if cut {
		l.more = true
	}
}

// orderOpen orders what was accepted before its subscription became ordered.
func (d *Dispatcher) orderOpen(ctx context.Context, id feedmill.ID) error {
	for {
		more, err := d.Store.OrderOpen(ctx, id, feedmill.DiscardStep)
		if err != nil || !more {
			return err
		}
	}
}

// holdOrDiscard makes what is open of a paused subscription pending, and ends what
// is open of one that is disabled or deleted.
func (d *Dispatcher) holdOrDiscard(ctx context.Context, id feedmill.ID, t *Target) error {
	for {
		var n int
		var err error
		if t.held() {
			n, err = d.Store.HoldOpen(ctx, id, feedmill.DiscardStep)
		} else {
			n, err = d.Store.DiscardOpen(ctx, id, t.endedReason(), time.Now(), feedmill.DiscardStep)
		}
		if err != nil || n < feedmill.DiscardStep {
			return err
		}
	}
}
