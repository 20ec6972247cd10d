package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// dueSources finds sources that are due, behind one of them and but for those of
// some places. A place is where sources take turns: a workspace and a host.
const dueSources = `SELECT ` + record.DueSourceColumns + ` FROM sources INDEXED BY sources_due
	WHERE due_at IS NOT NULL AND due_at <= ?1 AND (due_at, id) > (?2, ?3)
	AND workspace_id || ' ' || host NOT IN (SELECT value FROM json_each(?4))
	AND (leased_until IS NULL OR leased_until <= ?1) ORDER BY due_at, id LIMIT ?5`

// DueSources are sources that are due and that no run has. They are read in their
// order, some at a time: those of a place that has its share are passed over from
// then on.
func (db *DB) DueSources(ctx context.Context, now time.Time, each, limit int) (due []feedmill.DueSource, err error) {
	last := feedmill.DueSource{}
	taken, full := make(map[string]int), []string{}
	for len(due) < limit {
		rows, err := db.rows(ctx, dueSources, toMillis(now), last.DueAt.UnixMilli(), last.ID, record.JSON(&full), limit)
		some, err := all(rows, err, scanDueSource)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			place := string(s.Workspace) + " " + s.Host
			if taken[place] == each || len(due) == limit {
				continue
			}
			due = append(due, s)
			if taken[place]++; taken[place] == each {
				full = append(full, place)
			}
		}
		if len(some) < limit {
			break
		}
		last = some[limit-1]
	}
	return due, nil
}

var scanDueSource = scanner(record.DueSource)
