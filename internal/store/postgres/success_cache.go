package postgres

import (
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const (
	// successStep is how far the last success of a subscription may trail: to
	// write it each time would make all its deliveries wait for one row.
	successStep = time.Minute
	// maxNoted bounds how many subscriptions are remembered.
	maxNoted = 100_000
)

// successes remembers the last successes that this process has written, so that
// it need not ask the database for each delivery whether to write again. What it
// has forgotten is asked for.
type successes struct {
	mu    sync.Mutex
	noted map[feedmill.ID]time.Time
}

// queue moves the last success of subscriptions, where it has fallen behind, and
// takes back warnings. What it returns is to be noted once that is durable.
//
// Subscriptions are locked in the order of their ids, and before deliveries.
func (s *successes) queue(b *pgx.Batch, outcomes []feedmill.Outcome) (moved map[feedmill.ID]time.Time) {
	last := make(map[feedmill.ID]time.Time)
	for i := range outcomes {
		if o := &outcomes[i]; o.Succeeded && !o.At.Before(last[o.Subscription]) {
			last[o.Subscription] = o.At
		}
	}
	if len(last) == 0 {
		return nil
	}
	ids, times := make([]string, 0, len(last)), make([]time.Time, 0, len(last))
	which := `(s.warned_at IS NOT NULL OR s.failing_since IS NOT NULL)`
	s.mu.Lock()
	for id, at := range last {
		ids, times = append(ids, string(id)), append(times, at)
		if s.noted[id].Before(at.Add(-successStep)) {
			which = `(s.warned_at IS NOT NULL OR s.failing_since IS NOT NULL OR s.last_success_at IS NULL OR s.last_success_at < t.at - interval '1 minute')`
		}
	}
	s.mu.Unlock()
	moved = make(map[feedmill.ID]time.Time)
	each(b.Queue(`WITH succeeded AS (
			SELECT s.id, t.at FROM unnest($1::text[], $2::timestamptz[]) AS t (id, at) JOIN subscriptions s ON s.id = ANY (ARRAY[t.id])
			WHERE `+which+` ORDER BY t.id FOR UPDATE OF s)
		UPDATE subscriptions s SET last_success_at = greatest(s.last_success_at, t.at), warned_at = NULL, failing_since = NULL, failures = 0
		FROM succeeded t WHERE s.id = ANY (ARRAY[t.id]) RETURNING s.id, s.last_success_at`, ids, times),
		func(row record.Row) error {
			var id feedmill.ID
			var at time.Time
			if err := row.Scan(&id, &at); err != nil {
				return err
			}
			moved[id] = at
			return nil
		})
	return moved
}

// note remembers what was written.
func (s *successes) note(moved map[feedmill.ID]time.Time) {
	if len(moved) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noted == nil || len(s.noted)+len(moved) > maxNoted {
		s.noted = make(map[feedmill.ID]time.Time)
	}
	maps.Copy(s.noted, moved)
}
