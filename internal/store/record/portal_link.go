package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const portalLinkColumns = `workspace_id, id, key_id, link, session, pages, access, return_url, created_at, opened_at, expires_at`

// portalLink lists the fields of a portal link.
func portalLink(l *feedmill.PortalLink, k Kinds) []any {
	return []any{
		&l.Workspace, &l.ID, &l.Key,
		keyHash{&l.Link},
		keyHash{&l.Session},
		JSON(&l.Pages), &l.Access, &l.ReturnURL, k.Time(&l.CreatedAt), k.Time(&l.OpenedAt), k.Time(&l.ExpiresAt),
	}
}

// CreatePortalLink adds a portal link to a workspace. One that does not exist or is being
// deleted is feedmill.ErrNotFound, and one that has as many links as it can have is
// feedmill.ErrConflict.
func (s Store) CreatePortalLink(ctx context.Context, l feedmill.PortalLink, response *feedmill.IdempotentResponse) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := s.lock(ctx, tx, `workspaces WHERE id = ?1`, l.Workspace); err != nil {
			return err
		}
		w, err := s.workspace(ctx, tx, `WHERE id = ?1`, l.Workspace)
		if err == nil && w.Deleting != nil {
			err = feedmill.ErrNotFound
		}
		if err != nil {
			return err
		}
		var open int
		if err := tx.One(ctx, `SELECT count(*) FROM portal_links WHERE workspace_id = ?1 AND expires_at > ?2`, []any{l.Workspace, s.time(l.CreatedAt)}, &open); err != nil {
			return err
		}
		if open >= feedmill.MaxPortalLinks {
			return feedmill.ErrConflict
		}
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		return tx.Send(ctx, append([]Statement{insert("portal_links", portalLinkColumns, portalLink(&l, s.d)...)}, Audited(ctx, s.d, l.Workspace, l.ID)...)...)
	})
}

// PortalLinks lists the portal links of a workspace, newest first, expired ones included.
func (s Store) PortalLinks(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.PortalLink, error) {
	return list(ctx, s.db, s, portalLink, `SELECT `+portalLinkColumns+` FROM portal_links WHERE workspace_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3`,
		workspace, before(p, feedmill.PrefixPortalLink), p.Limit)
}

// PortalLinkByID finds a portal link of a workspace, expired or not.
func (s Store) PortalLinkByID(ctx context.Context, workspace, id feedmill.ID) (feedmill.PortalLink, error) {
	return one(ctx, s.db, s, portalLink, `SELECT `+portalLinkColumns+` FROM portal_links WHERE workspace_id = ?1 AND id = ?2`, workspace, id)
}

// PortalLinkByHash finds a portal link by the hash of its secret, opened and expired ones
// included.
func (s Store) PortalLinkByHash(ctx context.Context, link feedmill.KeyHash) (feedmill.PortalLink, error) {
	return one(ctx, s.db, s, portalLink, `SELECT `+portalLinkColumns+` FROM portal_links WHERE link = ?1`, link[:])
}

// PortalLinkBySession finds an opened portal link by the hash of its session's token.
func (s Store) PortalLinkBySession(ctx context.Context, session feedmill.KeyHash) (feedmill.PortalLink, error) {
	return one(ctx, s.db, s, portalLink, `SELECT `+portalLinkColumns+` FROM portal_links WHERE session = ?1 AND opened_at IS NOT NULL`, session[:])
}

// OpenPortalLink starts the session of a portal link. A link that was opened or has expired is
// feedmill.ErrNotFound, so of two that open it only one gets a session.
func (s Store) OpenPortalLink(ctx context.Context, link, session feedmill.KeyHash, at time.Time) (l feedmill.PortalLink, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE portal_links SET session = ?2, opened_at = ?3 WHERE link = ?1 AND opened_at IS NULL AND expires_at > ?3`, link[:], session[:], s.time(at))
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		if l, err = one(ctx, tx, s, portalLink, `SELECT `+portalLinkColumns+` FROM portal_links WHERE link = ?1`, link[:]); err != nil {
			return err
		}
		return tx.Send(ctx, Audited(ctx, s.d, l.Workspace, l.ID)...)
	})
	return l, err
}

// DeletePortalLink revokes a portal link of a workspace, and ends its session.
func (s Store) DeletePortalLink(ctx context.Context, workspace, id feedmill.ID) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `DELETE FROM portal_links WHERE workspace_id = ?1 AND id = ?2`, workspace, id)
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		return tx.Send(ctx, Audited(ctx, s.d, workspace, id)...)
	})
}

// ForgetPortalLinks removes up to limit portal links that expired before a time, and reports
// how many it removed.
func (s Store) ForgetPortalLinks(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM portal_links WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM portal_links WHERE expires_at < ?1 LIMIT ?2`+s.d.SkipLocked+`)`, s.time(before), limit)
		return err
	})
	return n, err
}
