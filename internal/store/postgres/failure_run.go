package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// queueFailures adds failed attempts to the runs of failures of their
// subscriptions; what failed before the last success among the outcomes does not
// count. It locks all subscriptions that the outcomes write to, in the order of
// their ids. It comes after the successes within its transaction's batch, so it
// returns what is to be queued before them and after them.
func queueFailures(outcomes []feedmill.Outcome) (lock, write func(*pgx.Batch)) {
	nothing := func(*pgx.Batch) {}
	var all []string
	succeeded := make(map[feedmill.ID]time.Time)
	for i := range outcomes {
		if o := &outcomes[i]; o.Succeeded || o.Failed {
			all = append(all, string(o.Subscription))
			if o.Succeeded && o.At.After(succeeded[o.Subscription]) {
				succeeded[o.Subscription] = o.At
			}
		}
	}
	counts, first := make(map[failing]int32), make(map[failing]time.Time)
	for i := range outcomes {
		o := &outcomes[i]
		if !o.Failed || o.At.Before(succeeded[o.Subscription]) {
			continue
		}
		f := failing{o.Subscription, o.By}
		if at, ok := first[f]; !ok || o.At.Before(at) {
			first[f] = o.At
		}
		counts[f]++
	}
	if len(counts) == 0 {
		return nothing, nothing
	}
	lock = func(b *pgx.Batch) {
		b.Queue(`SELECT id FROM subscriptions WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`, all)
	}
	write = func(b *pgx.Batch) {
		var ids, replicas []string
		var slots []int16
		var times []time.Time
		var numbers []int32
		for f, n := range counts {
			ids, replicas, slots = append(ids, string(f.subscription)), append(replicas, f.replica), append(slots, int16(feedmill.Slot(f.subscription)))
			times, numbers = append(times, first[f]), append(numbers, n)
		}
		b.Queue(addFailures, ids, times, numbers, slots, replicas, feedmill.FailuresToDisable)
	}
	return lock, write
}

// failing is a subscription and the replica that says that it failed.
type failing struct {
	subscription feedmill.ID
	replica      string
}

// addFailures counts what the replica says that has the slot, and what counts
// whoever says it: of a delivery whose slot it has lost an attempt that failed, or
// was broken off, is not written either, and whoever has it now makes its own.
var addFailures = `UPDATE subscriptions d SET failing_since = coalesce(d.failing_since, o.at), failures = least(d.failures + o.n, $6)
	FROM (SELECT id, slot, min(at) AS at, sum(n)::integer AS n FROM ` +
	arrays("id text", "at timestamptz", "n integer", "slot smallint", "replica text") + ` o
		WHERE o.replica = '' OR EXISTS (SELECT 1 FROM slots s WHERE s.slot = o.slot AND s.owner = o.replica OFFSET 0)
		GROUP BY id, slot) o
	WHERE d.id = ANY (ARRAY[o.id])`
