package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// TakeRenewal lets a holder exchange the refresh token of a connection until a time,
// where nobody else does, or lets it go on. It returns what was received the last time.
func (s Store) TakeRenewal(ctx context.Context, workspace, id feedmill.ID, holder string, at, until time.Time) (taken bool, received []byte, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE connections SET renewing = ?1, renewing_until = ?2 WHERE workspace_id = ?3 AND id = ?4 AND (renewing IN ('', ?1) OR renewing_until < ?5)`,
			holder, s.time(until), workspace, id, s.time(at))
		if err != nil {
			return err
		}
		taken = n == 1
		return tx.One(ctx, `SELECT received FROM connections WHERE workspace_id = ?1 AND id = ?2`, []any{workspace, id}, &received)
	})
	return taken, received, err
}

// EndRenewal says that a holder is done, and what was received meanwhile; nil for
// nothing.
func (s Store) EndRenewal(ctx context.Context, workspace, id feedmill.ID, holder string, received []byte) error {
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `UPDATE connections SET renewing = '', renewing_until = NULL, received = COALESCE(?1, received) WHERE workspace_id = ?2 AND id = ?3 AND renewing = ?4`,
			received, workspace, id, holder)
		return err
	})
}
