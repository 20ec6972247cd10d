package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Settle writes outcomes, each with its attempt, and what they mean for their
// subscriptions. To settle the same attempt again changes nothing of its delivery.
func (db *DB) Settle(ctx context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error) {
	var due []feedmill.DueDelivery
	err := db.writeRepeatable(ctx, func(tx *tx) error {
		due = nil
		attempts := make([]tried, 0, len(outcomes))
		if err := tx.settleDeliveries(outcomes, &attempts); err != nil {
			return err
		}
		succeeded := make(map[feedmill.ID]time.Time)
		for _, o := range outcomes {
			fresh, err := tx.settleSubscription(o, succeeded)
			if err != nil {
				return err
			}
			due = append(due, fresh...)
		}
		return tx.insertAttempts(attempts)
	})
	if err != nil {
		return nil, err
	}
	return due, nil
}
