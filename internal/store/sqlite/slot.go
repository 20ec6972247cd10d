package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// LeaseSlots returns all slots: the file has one process at a time, and so has
// its work.
func (db *DB) LeaseSlots(context.Context, string, time.Duration) (held []int, share int, err error) {
	held = make([]int, feedmill.Slots)
	for i := range held {
		held[i] = i
	}
	return held, len(held), nil
}

// LeaveReplicas does nothing: there are no others.
func (db *DB) LeaveReplicas(context.Context, string) error { return nil }

// ReleaseSlots does nothing: there is nobody to give slots to.
func (db *DB) ReleaseSlots(context.Context, string, []int) error { return nil }
