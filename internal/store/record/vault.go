package record

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
)

// VaultKeyset is the sealed keyset of the vault, nil where there is none yet.
func (s Store) VaultKeyset(ctx context.Context) (keyset []byte, err error) {
	err = s.db.One(ctx, `SELECT keyset FROM vault`, nil, &keyset)
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil, nil
	}
	return keyset, err
}

// SwapVaultKeyset replaces the keyset where it is still old; otherwise it is
// feedmill.ErrConflict. A nil old means that there must be none yet.
func (s Store) SwapVaultKeyset(ctx context.Context, old, new []byte) error {
	return s.db.Write(ctx, func(tx Tx) error {
		query, args := `UPDATE vault SET keyset = ?1 WHERE keyset = ?2`, []any{new, old}
		if old == nil {
			query, args = `INSERT INTO vault (only_row, keyset) VALUES (1, ?1) ON CONFLICT DO NOTHING`, []any{new}
		}
		n, err := tx.Run(ctx, query, args...)
		return orNone(n, err, feedmill.ErrConflict)
	})
}
