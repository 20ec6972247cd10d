package record

import (
	"context"
	"slices"
	"time"
)

// TakeTurn counts one message of a subject, of which at most so many are counted in any
// period, by the clock of the database. It returns when the message was counted, or how long
// to wait for that.
func (s Store) TakeTurn(ctx context.Context, subject string, most int, period time.Duration) (at time.Time, wait time.Duration, err error) {
	err = s.changeWindow(ctx, subject, func(sent []int64, now time.Time) ([]int64, time.Time) {
		at, wait = time.Time{}, 0
		sent = slices.DeleteFunc(sent, func(t int64) bool { return t <= now.Add(-period).UnixMilli() })
		if len(sent) >= most {
			wait = max(time.UnixMilli(sent[len(sent)-most]).Add(period).Sub(now), time.Millisecond)
		} else {
			at = now
			sent = append(sent, now.UnixMilli())
		}
		return sent, now.Add(period)
	})
	return at, wait, err
}

// ReturnTurn stops counting a message that was not sent.
func (s Store) ReturnTurn(ctx context.Context, subject string, at time.Time) error {
	return s.changeWindow(ctx, subject, func(sent []int64, now time.Time) ([]int64, time.Time) {
		if i := slices.Index(sent, at.UnixMilli()); i >= 0 {
			sent = slices.Delete(sent, i, i+1)
		}
		return sent, time.Time{}
	})
}

// changeWindow changes the times of a subject while nobody else can. The row ends at the time
// that change returns, or as before if it is zero.
func (s Store) changeWindow(ctx context.Context, subject string, change func(sent []int64, now time.Time) ([]int64, time.Time)) error {
	return s.db.Write(ctx, func(tx Tx) error {
		err := tx.Send(ctx, Statement{`INSERT INTO send_windows (subject, sent, ends_at) VALUES (?1, '[]', ` + s.d.Now + `) ON CONFLICT DO NOTHING`, []any{subject}})
		if err != nil {
			return err
		}
		var sent []int64
		var now, end time.Time
		if err := tx.One(ctx, `SELECT sent, ends_at, `+s.d.Now+` FROM send_windows WHERE subject = ?1`+s.d.ForUpdate, []any{subject}, JSON(&sent), s.d.Time(&end), s.d.Time(&now)); err != nil {
			return err
		}
		sent, ends := change(sent, now.Truncate(time.Millisecond))
		if ends.IsZero() {
			ends = end
		}
		_, err = tx.Run(ctx, `UPDATE send_windows SET sent = ?2, ends_at = ?3 WHERE subject = ?1`, subject, JSON(&sent), s.time(ends))
		return err
	})
}

// ForgetSendWindows removes up to limit windows that ended before a time, and reports how
// many.
func (s Store) ForgetSendWindows(ctx context.Context, now time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM send_windows WHERE subject IN (SELECT subject FROM send_windows WHERE ends_at <= ?1 LIMIT ?2`+s.d.SkipLocked+`)`, s.time(now), limit)
		return err
	})
	return n, err
}
