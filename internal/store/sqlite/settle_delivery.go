package sqlite

import (
	"database/sql"
	"errors"

	"github.com/feedmill/feedmill"
)

// settleExpected writes an outcome of the attempt that comes next, of a delivery
// that is open: the common case, without reading it first.
const settleExpected = `UPDATE deliveries SET state = ?1, reason = ?2, attempts = ?3, at = coalesce(?4, at)
	WHERE seq = ?5 AND id = ?6 AND (state = 2 OR state = 4) AND attempts = ?3 - 1`

// settleDeliveries writes what became of deliveries and adds the attempts to
// those to write.
func (t *tx) settleDeliveries(outcomes []feedmill.Outcome, attempts *[]tried) error {
	v := &t.settling
	v.reset()
	expected := 0
	for i := range outcomes {
		o := &outcomes[i]
		if !isExpected(o) {
			continue
		}
		at := o.At
		if o.State.Open() {
			at = o.DueAt
		}
		v.int(int64(stateNumber(o.State)))
		v.text(o.Reason)
		v.int(int64(o.Attempt.Number))
		v.nullInt(toMillis(at))
		v.int(o.Seq)
		v.text(string(o.Delivery))
		expected++
	}
	changed := make([]bool, expected)
	if err := t.run(settleExpected, v, expected, changed); err != nil {
		return err
	}
	for _, o := range outcomes {
		if isExpected(&o) {
			done := changed[0]
			changed = changed[1:]
			if done {
				*attempts = append(*attempts, tried{o.Seq, int64(o.Attempt.Number), o.Attempt})
				continue
			}
		}
		if err := t.settleDelivery(o, attempts); err != nil {
			return err
		}
	}
	return nil
}

// isExpected reports whether an outcome may be that of the attempt which comes
// next: its delivery is known by its number.
func isExpected(o *feedmill.Outcome) bool { return o.Seq != 0 && o.Attempt != nil }

// settleDelivery writes what became of a delivery, where it is still open, and
// adds the attempt to those to write. An attempt that is written already changes
// nothing.
func (t *tx) settleDelivery(o feedmill.Outcome, attempts *[]tried) error {
	var (
		seq, made, at int64
		state         feedmill.DeliveryState
	)
	err := t.row(`SELECT seq, state, attempts, at FROM deliveries WHERE id = ?`, string(o.Delivery)).
		Scan(&seq, (*storedState)(&state), &made, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return translate(err)
	}
	if o.Attempt != nil {
		var again bool
		if err := t.row(`SELECT EXISTS (SELECT 1 FROM attempts WHERE delivery_seq = ? AND id = ?)`, seq, string(o.Attempt.ID)).Scan(&again); err != nil || again {
			return translate(err)
		}
		made++
		*attempts = append(*attempts, tried{seq, made, o.Attempt})
	}
	if o.State == feedmill.DeliveryDelivered && state == feedmill.DeliveryDiscarded {
		state = feedmill.DeliveryPending // it arrived before its subscription ended
	}
	if !state.Open() {
		_, err := t.exec(`UPDATE deliveries SET attempts = ? WHERE seq = ?`, made, seq)
		return err
	}
	if !o.State.Open() {
		at = o.At.UnixMilli()
	} else if !o.DueAt.IsZero() {
		at = o.DueAt.UnixMilli()
	}
	_, err = t.exec(`UPDATE deliveries SET state = ?, reason = ?, attempts = ?, at = ? WHERE seq = ?`,
		stateNumber(o.State), o.Reason, made, at, seq)
	return err
}
