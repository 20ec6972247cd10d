package record

import (
	"context"

	"github.com/feedmill/feedmill"
)

// VersionProfile finds the profile of a version, nil where none is kept.
func (s Store) VersionProfile(ctx context.Context, of feedmill.VersionRef) (profile []byte, err error) {
	err = s.db.One(ctx, `SELECT profile FROM feed_versions WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3`, []any{of.Workspace, of.Feed, of.Number}, &profile)
	return profile, err
}

// KeepProfile keeps the profile of a version.
func (s Store) KeepProfile(ctx context.Context, of feedmill.VersionRef, profile []byte) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE feed_versions SET profile = ?4 WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3`, of.Workspace, of.Feed, of.Number, profile)
		return orNone(n, err, feedmill.ErrNotFound)
	})
}
