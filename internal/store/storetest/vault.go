package storetest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
)

// Vault is the keyset of the vault.
type Vault interface {
	VaultKeyset(context.Context) ([]byte, error)
	SwapVaultKeyset(ctx context.Context, old, new []byte) error
}

var vaultCases = []testCase{
	{name: "the keyset is swapped only by one who knows the present one", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		got, err := s.VaultKeyset(ctx)
		must(t, err)
		if got != nil {
			t.Fatalf("an empty store has a keyset")
		}
		one, two := []byte{1, 0, 255}, []byte{2}
		want(t, s.SwapVaultKeyset(ctx, one, two), feedmill.ErrConflict)
		must(t, s.SwapVaultKeyset(ctx, nil, one))
		want(t, s.SwapVaultKeyset(ctx, nil, two), feedmill.ErrConflict)
		want(t, s.SwapVaultKeyset(ctx, two, two), feedmill.ErrConflict)
		must(t, s.SwapVaultKeyset(ctx, one, two))
		got, err = s.VaultKeyset(ctx)
		must(t, err)
		if !bytes.Equal(got, two) {
			t.Errorf("keyset is %v, want %v", got, two)
		}
	}},
	{name: "of concurrent first keysets one wins", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		var wg sync.WaitGroup
		var won atomic.Int32
		for i := range 8 {
			wg.Go(func() {
				switch err := s.SwapVaultKeyset(t.Context(), nil, []byte{byte(i)}); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, feedmill.ErrConflict):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d keysets were first, want 1", won.Load())
		}
	}},
}
