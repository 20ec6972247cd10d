package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const linkColumns = `workspace_id, feed_id, id, hash, name, format, fields, filters, created_at, expires_at, last_used_at, uses`

// link lists the fields of a link.
func link(l *feedmill.Link, k Kinds) []any {
	return []any{
		&l.Workspace, &l.Feed, &l.ID,
		keyHash{&l.Hash},
		&l.Name, &l.Format, JSON(&l.Fields), JSON(&l.Filters), k.Time(&l.CreatedAt), k.Time(&l.ExpiresAt), k.Time(&l.LastUsedAt), &l.Uses,
	}
}

// CreateLink adds a link to a feed. One that is not there is feedmill.ErrNotFound.
func (s Store) CreateLink(ctx context.Context, l feedmill.Link, response *feedmill.IdempotentResponse) error {
	return s.db.Write(ctx, func(tx Tx) error {
		var source feedmill.ID
		if err := tx.One(ctx, feedSource+s.d.ForUpdate, []any{l.Workspace, l.Feed}, &source); err != nil {
			return err
		}
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		return tx.Send(ctx, append([]Statement{insert("links", linkColumns, link(&l, s.d)...)}, Audited(ctx, s.d, l.Workspace, l.ID)...)...)
	})
}

// LinkByID finds a link of a feed, expired or not.
func (s Store) LinkByID(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Link, error) {
	return one(ctx, s.db, s, link, `SELECT `+linkColumns+` FROM links WHERE workspace_id = ?1 AND feed_id = ?2 AND id = ?3`, workspace, feed, id)
}

// Links lists the links of a feed, newest first.
func (s Store) Links(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Link, error) {
	return list(ctx, s.db, s, link, `SELECT `+linkColumns+` FROM links WHERE workspace_id = ?1 AND feed_id = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4`,
		workspace, feed, before(p, feedmill.PrefixLink), p.Limit)
}

// LinkByHash finds a link, expired or not.
func (s Store) LinkByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Link, error) {
	return one(ctx, s.db, s, link, `SELECT `+linkColumns+` FROM links WHERE hash = ?1`, hash[:])
}

// DeleteLink revokes a link of a feed.
func (s Store) DeleteLink(ctx context.Context, workspace, feed, id feedmill.ID) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `DELETE FROM links WHERE workspace_id = ?1 AND feed_id = ?2 AND id = ?3`, workspace, feed, id)
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		return tx.Send(ctx, Audited(ctx, s.d, workspace, id)...)
	})
}

// CountLink counts a reading of a link. One that was revoked meanwhile is no error.
func (s Store) CountLink(ctx context.Context, l feedmill.Link, at time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `UPDATE links SET uses = uses + 1, last_used_at = ?1 WHERE workspace_id = ?2 AND feed_id = ?3 AND id = ?4`,
			s.time(at), l.Workspace, l.Feed, l.ID)
		return err
	})
}
