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
	counts, first := make(map[feedmill.ID]int32), make(map[feedmill.ID]time.Time)
	for i := range outcomes {
		o := &outcomes[i]
		if !o.Failed || o.At.Before(succeeded[o.Subscription]) {
			continue
		}
		if at, ok := first[o.Subscription]; !ok || o.At.Before(at) {
			first[o.Subscription] = o.At
		}
		counts[o.Subscription]++
	}
	if len(counts) == 0 {
		return nothing, nothing
	}
	lock = func(b *pgx.Batch) {
		b.Queue(`SELECT id FROM subscriptions WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`, all)
	}
	write = func(b *pgx.Batch) {
		var ids []string
		var times []time.Time
		var numbers []int32
		for id, n := range counts {
			ids, times, numbers = append(ids, string(id)), append(times, first[id]), append(numbers, n)
		}
		b.Queue(`UPDATE subscriptions s SET failing_since = coalesce(s.failing_since, t.at), failures = least(s.failures + t.n, $4)
			FROM unnest($1::text[], $2::timestamptz[], $3::integer[]) AS t (id, at, n) WHERE s.id = ANY (ARRAY[t.id])`,
			ids, times, numbers, feedmill.FailuresToDisable)
	}
	return lock, write
}
