package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// removal is a table from which the deletion of a workspace removes rows.
type removal struct {
	table string
	// key identifies rows, and where holds for those of the workspace ?1.
	key, where string
	// file is the column with a file that goes with the row; empty for none.
	file string
	// late rows go last: others are found by them, or requests that began before the deletion
	// still write them.
	late bool
}

const (
	ofWorkspace = `workspace_id = ?1`
	itsKeys     = ` IN (SELECT id FROM keys WHERE workspace_id = ?1)`
)

// removals are all tables with rows of workspaces, in an order that foreign keys allow.
// Deliveries and their attempts are removed by the engines, and files by name.
var removals = []removal{
	{table: "subscription_topics", key: "workspace_id, topic, resource_id, subscription_id", where: ofWorkspace},
	{table: "former_topics", key: "workspace_id, topic, resource_id, subscription_id", where: ofWorkspace},
	{table: "fanouts", key: "workspace_id, event_id", where: ofWorkspace},
	{table: "replays", key: "workspace_id, id", where: ofWorkspace},
	{table: "filtered_events", key: "workspace_id, event_id", where: ofWorkspace},
	{table: "events", key: "workspace_id, id", where: ofWorkspace},
	{table: "publisher_ids", key: "workspace_id, dedupe_key", where: ofWorkspace},
	{table: "stage_parts", key: "source_id, number", where: ofWorkspace, file: "file"},
	{table: "previews", key: "id", where: ofWorkspace, file: "file"},
	{table: "table_files", key: "file", where: ofWorkspace, file: "file"},
	{table: "feed_tables", key: "workspace_id, feed_id", where: ofWorkspace},
	{table: "version_files", key: "file, workspace_id, feed_id, number", where: ofWorkspace, file: "file"},
	{table: "feed_versions", key: "workspace_id, feed_id, number", where: ofWorkspace, file: "original"},
	{table: "refresh_traces", key: "workspace_id, feed_id, refresh_id", where: ofWorkspace},
	{table: "refreshes", key: "workspace_id, feed_id, id", where: ofWorkspace, file: "rejects"},
	{table: "links", key: "workspace_id, feed_id, id", where: ofWorkspace},
	{table: "feed_parents", key: "workspace_id, child_id, parent_id", where: ofWorkspace},
	{table: "unlinked_feeds", key: "workspace_id, feed_id", where: ofWorkspace},
	{table: "feeds", key: "workspace_id, id", where: ofWorkspace},
	{table: "sources", key: "workspace_id, id", where: ofWorkspace},
	{table: "unreferenced_files", key: "file", where: ofWorkspace, file: "file"},
	{table: "sql_views", key: "workspace_id, id", where: ofWorkspace},
	{table: "unmasked_connections", key: "workspace_id, id", where: ofWorkspace},
	{table: "connections", key: "workspace_id, id", where: ofWorkspace},
	{table: "sign_ins", key: "link", where: ofWorkspace},
	{table: "handles", key: "workspace_id, object_id", where: ofWorkspace},
	{table: "applies", key: "workspace_id", where: ofWorkspace},
	{table: "once", key: "workspace_id, owner, key", where: ofWorkspace},
	{table: "sessions", key: "id", where: `workspace_id = ?1 OR home_id = ?1 OR key_id` + itsKeys},
	{table: "sign_in_links", key: "hash", where: `key_id` + itsKeys},
	{table: "portal_links", key: "workspace_id, id", where: ofWorkspace},
	{table: "rate_limits", key: "subject", where: `subject` + itsKeys},
	{table: "delivery_counts", key: "subscription_id, from_at, writer", where: `subscription_id IN (SELECT id FROM subscriptions WHERE workspace_id = ?1)`},
	{table: "subscriptions", key: "id", where: ofWorkspace, late: true},
	{table: "keys", key: "id", where: ofWorkspace, late: true},
	{table: "audit", key: "workspace_id, id", where: ofWorkspace, late: true},
	{table: "feed_counts", key: "workspace_id, state", where: ofWorkspace, late: true},
}

// BeginDeletion marks a workspace as being deleted, from a time on. Sessions of other workspaces
// that work in it return to their own.
func (s Store) BeginDeletion(ctx context.Context, id feedmill.ID, at time.Time) (w feedmill.Workspace, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		if err := s.lock(ctx, tx, `workspaces WHERE id = ?1`, id); err != nil {
			return err
		}
		if w, err = s.workspace(ctx, tx, `WHERE id = ?1`, id); err != nil || w.Deleting != nil {
			return err
		}
		err := tx.Send(ctx, append([]Statement{
			{`UPDATE workspaces SET deleting_since = ?2 WHERE id = ?1`, []any{id, s.time(at)}},
			{`UPDATE sessions SET workspace_id = COALESCE((SELECT k.workspace_id FROM keys k WHERE k.id = sessions.key_id), NULLIF(home_id, ''), workspace_id) WHERE workspace_id = ?1`, []any{id}},
		}, Audited(ctx, s.d, id, id)...)...)
		if err != nil {
			return err
		}
		w, err = s.workspace(ctx, tx, `WHERE id = ?1`, id)
		return err
	})
	return w, err
}

// ClaimDeletions claims the workspaces that are being deleted and that no other replica works
// on, for the time of a lease. [Store.CountDeleted] extends it.
func (s Store) ClaimDeletions(ctx context.Context, holder string, lease time.Duration) (claimed []feedmill.Workspace, err error) {
	var some bool
	if err := s.db.One(ctx, `SELECT EXISTS (SELECT 1 FROM workspaces WHERE deleting_since IS NOT NULL)`, nil, &some); err != nil || !some {
		return nil, err // the common case takes no turn of the writers
	}
	err = s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `UPDATE workspaces SET deleter = ?1, deleter_until = `+s.d.Plus(s.d.Now, lease)+`
			WHERE deleting_since IS NOT NULL AND (deleter = ?1 OR deleter_until IS NULL OR deleter_until <= `+s.d.Now+`)`, holder)
		if err != nil {
			return err
		}
		claimed, err = s.workspaces(ctx, tx, `WHERE deleting_since IS NOT NULL AND deleter = ?1 ORDER BY id`, holder)
		return err
	})
	return claimed, err
}

// CountDeleted adds to the number of records and files that a deletion has removed, and
// extends the lease. It is feedmill.ErrConflict if another replica has the deletion.
func (s Store) CountDeleted(ctx context.Context, id feedmill.ID, holder string, n int64, lease time.Duration) error {
	return s.db.Write(ctx, func(tx Tx) error { return s.countDeleted(ctx, tx, id, holder, n, lease) })
}

func (s Store) countDeleted(ctx context.Context, tx Tx, id feedmill.ID, holder string, n int64, lease time.Duration) error {
	changed, err := tx.Run(ctx, `UPDATE workspaces SET deleted_rows = deleted_rows + ?3, deleter_until = `+s.d.Plus(s.d.Now, lease)+`
		WHERE id = ?1 AND deleter = ?2 AND deleting_since IS NOT NULL`, id, holder, n)
	return orNone(changed, err, feedmill.ErrConflict)
}

// MeasureDeletion counts the records and files of a workspace, once.
func (s Store) MeasureDeletion(ctx context.Context, id feedmill.ID) error {
	total := int64(1) // the workspace itself
	for _, r := range append(removals, removal{table: "objects", where: ofWorkspace + ` AND state <> 'deleted'`}) {
		var n int64
		if err := s.db.One(ctx, `SELECT count(*) FROM `+r.table+` WHERE `+r.where, []any{id}, &n); err != nil {
			return err
		}
		total += n
	}
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `UPDATE workspaces SET total_rows = ?2 WHERE id = ?1 AND total_rows = 0`, id, total)
		return err
	})
}

// RemoveRows removes up to limit rows of a workspace that is being deleted, from one table, and
// reports how many; zero means that none is left. Late rows are removed only if late is set.
// The files of the rows are left to [Store.RemovingFiles].
func (s Store) RemoveRows(ctx context.Context, id feedmill.ID, holder string, late bool, limit int, lease time.Duration) (n int64, err error) {
	for _, r := range removals {
		if r.late && !late {
			continue
		}
		var some bool
		if err := s.db.One(ctx, `SELECT EXISTS (SELECT 1 FROM `+r.table+` WHERE `+r.where+`)`, []any{id}, &some); err != nil {
			return 0, err
		}
		if some {
			return s.removeRows(ctx, r, id, holder, limit, lease)
		}
	}
	return 0, nil
}

func (s Store) removeRows(ctx context.Context, r removal, id feedmill.ID, holder string, limit int, lease time.Duration) (n int64, err error) {
	find := `DELETE FROM ` + r.table + ` WHERE (` + r.key + `) IN (SELECT ` + r.key + ` FROM ` + r.table + ` WHERE ` + r.where + ` LIMIT ?2 + 0)`
	err = s.db.Write(ctx, func(tx Tx) error {
		if r.file == "" {
			if n, err = tx.Run(ctx, find, id, limit); err != nil {
				return err
			}
			return s.countDeleted(ctx, tx, id, holder, n, lease)
		}
		var names []string
		n = 0
		if err := tx.Each(ctx, func(row Row) error {
			var name string
			err := row.Scan(&name)
			if n++; name != "" {
				names = append(names, name)
			}
			return err
		}, find+` RETURNING `+r.file, id, limit); err != nil {
			return err
		}
		if err := s.disown(ctx, tx, id, names); err != nil {
			return err
		}
		return s.countDeleted(ctx, tx, id, holder, n, lease)
	})
	return n, err
}

// disown records that a workspace which is being deleted had files.
func (s Store) disown(ctx context.Context, tx Tx, id feedmill.ID, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return tx.Send(ctx, Statement{
		`INSERT INTO objects (file, workspace_id, bytes, state, holder, since) SELECT DISTINCT name, CAST(?2 AS text), -1, 'unreferenced', '', ` + s.d.Now + ` FROM ` + s.d.Names + ` n WHERE true
			ON CONFLICT (file) DO UPDATE SET workspace_id = excluded.workspace_id`,
		[]any{JSON(&names), id},
	})
}

// RemoveDeliveries removes the deliveries of a workspace with their attempts, of those behind a
// place. It returns the place to continue from, which is empty at the end.
func (s Store) RemoveDeliveries(ctx context.Context, workspace feedmill.ID, after string, limit int) (next string, n int64, err error) {
	return s.db.RemoveDeliveries(ctx, workspace, after, limit)
}

// RemovingFiles chooses up to limit files of a workspace whose records are removed, and returns
// their names: the caller deletes them and calls [Store.RemovedFiles]. Files that a running
// backup has pinned wait for its end; left reports whether there are such files.
func (s Store) RemovingFiles(ctx context.Context, id feedmill.ID, limit int) (names []string, left bool, err error) {
	const some = ` WHERE file IN (SELECT file FROM objects WHERE workspace_id = ?1 AND state = `
	err = s.db.Write(ctx, func(tx Tx) error {
		names = nil
		args := []any{id, limit}
		if err := tx.Send(ctx,
			Statement{`UPDATE objects SET state = 'unreferenced', since = ` + s.d.Now + some + `'live' LIMIT ?2 + 0)`, args},
			Statement{`UPDATE objects SET state = 'deleting', since = ` + s.d.Now + some + `'unreferenced' LIMIT ?2 + 0) AND NOT ` + s.pinned(), args},
			Statement{`DELETE FROM objects` + some + `'deleted' LIMIT ?2 + 0)`, args},
		); err != nil {
			return err
		}
		if err := tx.Each(ctx, scanNames(&names), `SELECT file FROM objects WHERE workspace_id = ?1 AND state = 'deleting' ORDER BY file LIMIT ?2`, id, limit); err != nil {
			return err
		}
		return tx.One(ctx, `SELECT EXISTS (SELECT 1 FROM objects WHERE workspace_id = ?1)`, []any{id}, &left)
	})
	return names, left, err
}

// RemovedFiles removes what is known of files that were deleted.
func (s Store) RemovedFiles(ctx context.Context, id feedmill.ID, holder string, names []string, lease time.Duration) error {
	return s.db.Write(ctx, func(tx Tx) error {
		in := ` WHERE file IN (SELECT name FROM ` + s.d.Names + ` n)`
		if err := tx.Send(ctx, Statement{`DELETE FROM objects` + in, []any{JSON(&names)}}, Statement{`DELETE FROM file_sums` + in, []any{JSON(&names)}}); err != nil {
			return err
		}
		return s.countDeleted(ctx, tx, id, holder, int64(len(names)), lease)
	})
}

// SubscriptionsToRemove lists subscriptions and listeners of a workspace that are not deleted.
func (s Store) SubscriptionsToRemove(ctx context.Context, id feedmill.ID, limit int) ([]feedmill.Subscription, error) {
	return list(ctx, s.db, s, Subscription, s.subscriptions(`workspace_id = ?1 AND deleted_at IS NULL LIMIT ?2`), id, limit)
}

// EndDeletion removes a workspace that has nothing left. A workspace that has is an error.
func (s Store) EndDeletion(ctx context.Context, id feedmill.ID, holder string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `DELETE FROM workspaces WHERE id = ?1 AND deleter = ?2 AND deleting_since IS NOT NULL`, id, holder)
		return orNone(n, err, feedmill.ErrConflict)
	})
}
