package sqlite

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
)

// VaultKeyset is the sealed keyset of the vault, nil where there is none yet.
func (db *DB) VaultKeyset(ctx context.Context) (keyset []byte, err error) {
	err = translate(db.row(ctx, `SELECT keyset FROM vault`).Scan(&keyset))
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil, nil
	}
	return keyset, err
}

// SwapVaultKeyset replaces the keyset where it is still old; otherwise it is
// feedmill.ErrConflict. A nil old means that there must be none yet.
func (db *DB) SwapVaultKeyset(ctx context.Context, old, new []byte) error {
	return db.write(ctx, func(tx *tx) error {
		query, args := `UPDATE vault SET keyset = ? WHERE keyset = ?`, []any{new, old}
		if old == nil {
			query, args = `INSERT INTO vault (only_row, keyset) VALUES (1, ?) ON CONFLICT DO NOTHING`, []any{new}
		}
		n, err := tx.exec(query, args...)
		if err == nil && n == 0 {
			return feedmill.ErrConflict
		}
		return err
	})
}
