package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const heldColumns = `id, workspace_id, owner, content_type, disposition, file, bytes, expires_at`

func heldBody(b *feedmill.HeldBody, k Kinds) []any {
	return []any{&b.ID, &b.Workspace, &b.Owner, &b.ContentType, &b.Disposition, &b.File, &b.Bytes, k.Time(&b.ExpiresAt)}
}

// HoldBody records a body whose file is stored. drop chooses which of all bodies, oldest first, are
// removed for it. Those are returned: their files are to be deleted.
func (s Store) HoldBody(ctx context.Context, b feedmill.HeldBody, drop func([]feedmill.HeldBody) []feedmill.HeldBody) (dropped []feedmill.HeldBody, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		if err := s.lock(ctx, tx, `store_identity`); err != nil { // one by one, so that all are counted
			return err
		}
		err := tx.Send(ctx, append(s.useObjects(b.Workspace, b.File), insert("previews", heldColumns, heldBody(&b, s.d)...))...)
		if err != nil {
			return err
		}
		all, err := list(ctx, tx, s, heldBody, `SELECT `+heldColumns+` FROM previews ORDER BY id`)
		if err != nil {
			return err
		}
		dropped = drop(all)
		for _, b := range dropped {
			if _, err := tx.Run(ctx, `DELETE FROM previews WHERE id = ?1`, b.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return dropped, err
}

// HeldBody finds a body that an owner holds at a time.
func (s Store) HeldBody(ctx context.Context, workspace feedmill.ID, owner string, id feedmill.ID, now time.Time) (feedmill.HeldBody, error) {
	return one(ctx, s.db, s, heldBody, `SELECT `+heldColumns+` FROM previews WHERE id = ?1 AND workspace_id = ?2 AND owner = ?3 AND expires_at > ?4`, id, workspace, owner, s.time(now))
}

// ForgetBody removes the record of a body. It reports whether there was one: its file is then to
// be deleted.
func (s Store) ForgetBody(ctx context.Context, id feedmill.ID) (forgotten bool, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `DELETE FROM previews WHERE id = ?1`, id)
		forgotten = n == 1
		return err
	})
	return forgotten, err
}

// ExpiredBodies lists up to limit bodies that are past their time.
func (s Store) ExpiredBodies(ctx context.Context, now time.Time, limit int) ([]feedmill.HeldBody, error) {
	return list(ctx, s.db, s, heldBody, `SELECT `+heldColumns+` FROM previews WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2`, s.time(now), limit)
}

// HeldBodies counts the bodies that are held, and their bytes.
func (s Store) HeldBodies(ctx context.Context) (n, bytes int64, err error) {
	err = s.db.One(ctx, `SELECT count(*), CAST(COALESCE(sum(bytes), 0) AS bigint) FROM previews`, nil, &n, &bytes)
	return n, bytes, err
}
