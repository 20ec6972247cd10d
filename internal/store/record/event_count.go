package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// CountEvents counts the events of a workspace that were accepted from a time to another, by their
// internal types, at most limit of them.
func (s Store) CountEvents(ctx context.Context, workspace feedmill.ID, from, to time.Time, limit int) (map[string]int, error) {
	counts := make(map[string]int)
	err := s.db.Each(ctx, func(row Row) error {
		var name string
		var n int
		err := row.Scan(&name, &n)
		counts[name] = n
		return err
	}, `SELECT type, count(*) FROM (SELECT type FROM events WHERE workspace_id = ?1 AND id >= ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4) e GROUP BY type`,
		workspace, feedmill.FirstID(feedmill.PrefixEvent, from), feedmill.FirstID(feedmill.PrefixEvent, to), limit)
	return counts, err
}

// CountSubscribers counts the subscriptions that receive events of an internal type, at most limit
// of them. Disabled ones are not counted, nor are listeners.
func (s Store) CountSubscribers(ctx context.Context, workspace feedmill.ID, name string, limit int) (n int, err error) {
	err = s.db.One(ctx, `SELECT count(*) FROM (SELECT DISTINCT t.subscription_id FROM subscription_topics t JOIN subscriptions s ON s.id = t.subscription_id
		WHERE t.workspace_id = ?1 AND t.topic IN (?2, ?3, ?4) AND s.state <> 'disabled' AND s.deleted_at IS NULL AND s.listen_until IS NULL LIMIT ?5) e`,
		[]any{workspace, name, feedmill.Family(name) + ".*", feedmill.Everything(name), limit}, &n)
	return n, err
}
