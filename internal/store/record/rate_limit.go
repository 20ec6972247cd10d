package record

import (
	"context"
	"time"
)

// TakeTokens takes up to most tokens from the bucket of a subject, which gets so many a second by
// the clock of the database and holds up to burst. It returns how many it took and how many are
// left.
func (s Store) TakeTokens(ctx context.Context, subject string, most int, perSecond float64, burst int) (taken int, left float64, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		err := tx.Send(ctx, Statement{`INSERT INTO rate_limits (subject, full_at) VALUES (?1, ` + s.d.Now + `) ON CONFLICT DO NOTHING`, []any{subject}})
		if err != nil {
			return err
		}
		var fullAt, now time.Time
		if err := tx.One(ctx, `SELECT full_at, `+s.d.Now+` FROM rate_limits WHERE subject = ?1`+s.d.ForUpdate, []any{subject}, s.d.Time(&fullAt), s.d.Time(&now)); err != nil {
			return err
		}
		if fullAt.Before(now) {
			fullAt = now
		}
		left = float64(burst) - fullAt.Sub(now).Seconds()*perSecond
		taken = min(most, max(int(left), 0))
		left -= float64(taken)
		if taken == 0 {
			return nil
		}
		fullAt = fullAt.Add(time.Duration(float64(taken) / perSecond * float64(time.Second)))
		_, err = tx.Run(ctx, `UPDATE rate_limits SET full_at = ?2 WHERE subject = ?1`, subject, s.time(fullAt))
		return err
	})
	return taken, left, err
}

// ForgetRateLimits removes up to limit buckets that are full, and reports how many.
func (s Store) ForgetRateLimits(ctx context.Context, now time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM rate_limits WHERE subject IN (SELECT subject FROM rate_limits WHERE full_at <= ?1 LIMIT ?2`+s.d.SkipLocked+`)`, s.time(now), limit)
		return err
	})
	return n, err
}
