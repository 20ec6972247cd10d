package record

import (
	"cmp"
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Audited are the statements that write that records of a workspace are changed,
// where the context says that this is to be known, and what becomes of their handles.
// They belong into the transaction of the change.
func Audited(ctx context.Context, k Kinds, workspace feedmill.ID, records ...feedmill.ID) (all []Statement) {
	entry := feedmill.AuditOf(ctx)
	if entry == nil {
		return nil
	}
	for _, id := range records {
		all = append(all, handled(ctx, k, entry.Action, workspace, cmp.Or(id, entry.Resource))...)
		for _, e := range entry.EntriesFor(workspace, id) {
			all = append(all, insert("audit", AuditColumns, AuditEntry(&e, k)...))
		}
	}
	return all
}

// AuditedAtHome is Audited for a record of the workspace of who changes it.
func AuditedAtHome(ctx context.Context, k Kinds, id feedmill.ID) []Statement {
	if entry := feedmill.AuditOf(ctx); entry != nil {
		return Audited(ctx, k, entry.Workspace, id)
	}
	return nil
}

// Audit lists the audit log of a workspace, newest first.
func (s Store) Audit(ctx context.Context, workspace feedmill.ID, q feedmill.AuditQuery) ([]feedmill.AuditEntry, error) {
	return list(ctx, s.db, s, AuditEntry, `SELECT `+AuditColumns+` FROM audit
		WHERE workspace_id = ?1 AND id < ?2 AND id >= ?3 AND (?4 = '' OR actor_key = ?4 OR actor_subject = ?4)
		AND (?5 = '' OR action = ?5) AND (?6 = '' OR resource = ?6) ORDER BY id DESC LIMIT ?7`,
		workspace, before(q.Page, feedmill.PrefixAudit), feedmill.FirstID(feedmill.PrefixAudit, q.Since), q.Actor, q.Action, q.Resource, q.Limit)
}

// ForgetAudit removes up to limit entries from before a time, and reports how
// many.
func (s Store) ForgetAudit(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM audit WHERE (workspace_id, id) IN
			(SELECT workspace_id, id FROM audit WHERE id < ?1 ORDER BY id LIMIT ?2`+s.d.SkipLocked+`)`,
			feedmill.FirstID(feedmill.PrefixAudit, before), limit)
		return err
	})
	return n, err
}
