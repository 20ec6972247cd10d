package sqlite

import (
	"cmp"
	"time"

	"github.com/feedmill/feedmill"
)

// deliveryWriter writes new deliveries, many in a statement, and gathers those
// that are due.
type deliveryWriter struct {
	t           *tx
	rows        *rowBuffer
	maxAttempts int
	now         time.Time
	due         []feedmill.DueDelivery
	// numbered is how many of them have got their number.
	numbered int
}

func (t *tx) writeDeliveries(maxAttempts int) *deliveryWriter {
	return &deliveryWriter{t: t, rows: t.insertInto(pendingRows), maxAttempts: maxAttempts, now: time.Now().UTC().Truncate(time.Millisecond)}
}

// add writes the deliveries of the event with the given seq.
func (w *deliveryWriter) add(e *feedmill.Event, seq int64, to []match) error {
	r := w.rows
	for _, m := range to {
		d := newDelivery(e, m, w.maxAttempts)
		d.DueAt = w.now
		if m.disabled {
			if err := w.discard(d, seq, m.ordered, feedmill.DiscardedDisabled); err != nil {
				return err
			}
			continue
		}
		d.ID = feedmill.NewID(feedmill.PrefixDelivery)
		d.CreatedAt = d.ID.Time()
		w.due = append(w.due, feedmill.DueDelivery{Delivery: d, Payload: e.Payload})
		r.text(string(d.ID))
		r.text(string(d.Workspace))
		r.text(string(d.Subscription))
		r.int(seq)
		r.text(d.Type)
		r.text(d.ResourceID)
		r.bool(m.ordered)
		r.int(int64(d.MaxAttempts))
		r.int(w.now.UnixMilli())
		if err := r.endRow(); err != nil {
			return err
		}
		if r.count == 0 {
			w.assignSeqs()
		}
	}
	return nil
}

// newDelivery is a delivery of an event to a subscription, without an id.
func newDelivery(e *feedmill.Event, m match, maxAttempts int) feedmill.Delivery {
	return feedmill.Delivery{
		Workspace: e.Workspace, Subscription: m.subscription, Event: e.ID, Type: e.Type, ResourceID: e.ResourceID,
		State: feedmill.DeliveryPending, MaxAttempts: cmp.Or(m.attempts, maxAttempts),
	}
}

// discard writes a delivery that ends as it begins.
func (w *deliveryWriter) discard(d feedmill.Delivery, seq int64, ordered bool, reason string) error {
	d.State, d.Reason = feedmill.DeliveryDiscarded, reason
	if err := w.flush(); err != nil {
		return err
	}
	return w.t.insertDelivery(&d, seq, ordered)
}

// flush writes what waits.
func (w *deliveryWriter) flush() error {
	if err := w.rows.flush(); err != nil {
		return err
	}
	w.assignSeqs()
	return nil
}

// assignSeqs gives the deliveries that have been written their numbers.
func (w *deliveryWriter) assignSeqs() {
	for ; w.numbered < len(w.due); w.numbered++ {
		w.due[w.numbered].Seq = w.rows.last - int64(len(w.due)-1-w.numbered)
	}
}

// end writes what waits and returns what is due.
func (w *deliveryWriter) end() ([]feedmill.DueDelivery, error) {
	if err := w.flush(); err != nil {
		return nil, err
	}
	return w.due, nil
}
