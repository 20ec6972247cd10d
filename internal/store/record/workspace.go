package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	deletionColumns  = `deleting_since, deleted_rows, total_rows`
	selectWorkspaces = `SELECT ` + WorkspaceColumns + `, ` + deletionColumns + ` FROM workspaces `
)

// CreateWorkspace adds a workspace. A name or an external id that is taken is
// feedmill.ErrConflict.
func (s Store) CreateWorkspace(ctx context.Context, w feedmill.Workspace, response *feedmill.IdempotentResponse) error {
	return s.create(ctx, response, insert("workspaces", WorkspaceColumns, Workspace(&w, s.d)...), Audited(ctx, s.d, w.ID, w.ID))
}

// create runs a statement, keeps a response to it, and writes who made it.
func (s Store) create(ctx context.Context, response *feedmill.IdempotentResponse, statement Statement, audited []Statement) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		return tx.Send(ctx, append([]Statement{statement}, audited...)...)
	})
}

// workspaces reads the workspaces that a query finds.
func (s Store) workspaces(ctx context.Context, r Reader, query string, args ...any) (all []feedmill.Workspace, err error) {
	err = r.Each(ctx, func(row Row) error {
		var w feedmill.Workspace
		var d feedmill.Deletion
		if err := row.Scan(append(Workspace(&w, s.d), s.d.Time(&d.Since), &d.Done, &d.Total)...); err != nil {
			return err
		}
		if !d.Since.IsZero() {
			w.Deleting = &d
		}
		all = append(all, w)
		return nil
	}, selectWorkspaces+query, args...)
	return all, err
}

func (s Store) workspace(ctx context.Context, r Reader, query string, args ...any) (feedmill.Workspace, error) {
	all, err := s.workspaces(ctx, r, query, args...)
	if err != nil {
		return feedmill.Workspace{}, err
	}
	if len(all) == 0 {
		return feedmill.Workspace{}, feedmill.ErrNotFound
	}
	return all[0], nil
}

// WorkspaceByID finds a workspace by its id.
func (s Store) WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error) {
	return s.workspace(ctx, s.db, `WHERE id = ?1`, id)
}

// WorkspaceByName finds a workspace by its name.
func (s Store) WorkspaceByName(ctx context.Context, name string) (feedmill.Workspace, error) {
	return s.workspace(ctx, s.db, `WHERE name = ?1`, name)
}

// Workspaces lists workspaces, newest first.
func (s Store) Workspaces(ctx context.Context, p feedmill.Page) ([]feedmill.Workspace, error) {
	return s.workspaces(ctx, s.db, `WHERE id < ?1 ORDER BY id DESC LIMIT ?2`, before(p, feedmill.PrefixWorkspace), p.Limit)
}

// ChangeWorkspace changes the name, the external id, the metadata and the quotas of a
// workspace, alone with it. A name or an external id that is taken is feedmill.ErrConflict.
func (s Store) ChangeWorkspace(ctx context.Context, id feedmill.ID, change func(*feedmill.Workspace) error) (w feedmill.Workspace, err error) {
	var refusal error
	err = s.db.Write(ctx, func(tx Tx) error {
		if err := s.lock(ctx, tx, `workspaces WHERE id = ?1`, id); err != nil {
			return err
		}
		if w, err = s.workspace(ctx, tx, `WHERE id = ?1`, id); err != nil {
			return err
		}
		if refusal = change(&w); refusal != nil {
			return errRefused
		}
		return tx.Send(ctx, append([]Statement{{
			`UPDATE workspaces SET name = ?2, external_id = ?3, metadata = ?4, quotas = ?5 WHERE id = ?1`, []any{id, w.Name, w.ExternalID, w.Metadata, JSON(&w.Quotas)},
		}}, Audited(ctx, s.d, id, id)...)...)
	})
	if refusal != nil {
		err = refusal
	}
	if err != nil {
		return feedmill.Workspace{}, err
	}
	return w, nil
}

// WorkspaceUsage adds up what workspaces use. Events count from a time on. Originals that an
// earlier release stored, and that were not measured since, do not count.
func (s Store) WorkspaceUsage(ctx context.Context, ids []feedmill.ID, since time.Time) (map[feedmill.ID]feedmill.Usage, error) {
	all := make(map[feedmill.ID]feedmill.Usage, len(ids))
	if len(ids) == 0 {
		return all, nil
	}
	in := ` IN (SELECT name FROM ` + s.d.Names + ` n)`
	add := func(set func(*feedmill.Usage, int64), query string, args ...any) error {
		return s.db.Each(ctx, func(row Row) error {
			var id feedmill.ID
			var n int64
			err := row.Scan(&id, &n)
			u := all[id]
			set(&u, n)
			all[id] = u
			return err
		}, query, append([]any{JSON(&ids)}, args...)...)
	}
	err := add(func(u *feedmill.Usage, n int64) { u.Feeds = n }, `SELECT workspace_id, CAST(sum(feeds) AS bigint) FROM feed_counts WHERE workspace_id`+in+` GROUP BY workspace_id`)
	if err == nil {
		err = add(func(u *feedmill.Usage, n int64) { u.Subscriptions = n }, `SELECT workspace_id, count(*) FROM subscriptions WHERE workspace_id`+in+` AND `+live+` GROUP BY workspace_id`)
	}
	if err == nil {
		err = add(func(u *feedmill.Usage, n int64) { u.StoredBytes = n }, `SELECT workspace_id, CAST(sum(bytes) AS bigint) FROM (
				SELECT DISTINCT workspace_id, file, bytes FROM version_files WHERE workspace_id`+in+`
				UNION ALL SELECT workspace_id, original, max(original_bytes) FROM feed_versions WHERE workspace_id`+in+` AND original <> '' AND original_bytes > 0 GROUP BY workspace_id, original) f
			GROUP BY workspace_id`)
	}
	if err == nil {
		err = add(func(u *feedmill.Usage, n int64) { u.Events = n }, `SELECT workspace_id, count(*) FROM events WHERE workspace_id`+in+` AND id >= ?2 GROUP BY workspace_id`,
			feedmill.FirstID(feedmill.PrefixEvent, since))
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}
