package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// ClaimConfirmations returns up to limit subscriptions, of any workspace, whose recipients are
// to be asked to confirm, and makes them due again at a later time.
func (s Store) ClaimConfirmations(ctx context.Context, now, again time.Time, limit int) (ids []feedmill.ID, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		ids = nil
		scan := func(row Row) error {
			var id feedmill.ID
			if err := row.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
			return nil
		}
		if err := tx.Each(ctx, scan, `SELECT id FROM subscriptions WHERE confirm_due_at <= ?1 ORDER BY confirm_due_at LIMIT ?2`+s.d.SkipLocked, s.time(now), limit); err != nil {
			return err
		}
		var claims []Statement
		for _, id := range ids {
			claims = append(claims, Statement{`UPDATE subscriptions SET confirm_due_at = ?1 WHERE id = ?2`, []any{s.time(again), id}})
		}
		return tx.Send(ctx, claims...)
	})
	return ids, err
}

// SettleConfirmation ends a claim: the recipient is asked again at a time, or not if it is
// zero. Nothing happens if the subscription is due at another time than the claim says.
func (s Store) SettleConfirmation(ctx context.Context, id feedmill.ID, claimed, next time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `UPDATE subscriptions SET confirm_due_at = ?1 WHERE id = ?2 AND confirm_due_at = ?3`, s.time(next), id, s.time(claimed))
		return err
	})
}
