package vault

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
)

// memStore keeps a sealed keyset in memory.
type memStore struct {
	mu     sync.Mutex
	sealed []byte
	reads  int
	swaps  int // those that took effect
	err    error
	// beforeSwap, where set, runs ahead of the next compare-and-set only.
	beforeSwap func()
}

func (s *memStore) VaultKeyset(context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return bytes.Clone(s.sealed), s.err
}

func (s *memStore) SwapVaultKeyset(_ context.Context, old, new []byte) error {
	s.mu.Lock()
	before := s.beforeSwap
	s.beforeSwap = nil
	s.mu.Unlock()
	if before != nil {
		before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if (old == nil) != (s.sealed == nil) || !bytes.Equal(old, s.sealed) {
		return feedmill.ErrConflict
	}
	s.sealed = bytes.Clone(new)
	s.swaps++
	return nil
}

const keyText = "correct horse battery staple, and then some"

func testKey(t testing.TB, text string) Key {
	t.Helper()
	key, err := LoadKey(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func open(t testing.TB, store Store) *Vault {
	t.Helper()
	v, err := Open(t.Context(), testKey(t, keyText), store)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func seal(t testing.TB, v *Vault, plain, record string) []byte {
	t.Helper()
	sealed, err := v.Seal([]byte(plain), record)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func wantUnsealed(t testing.TB, v *Vault, sealed []byte, record, want string) {
	t.Helper()
	plain, err := v.Unseal(t.Context(), sealed, record)
	if err != nil {
		t.Fatal(err)
	}
	if string(plain) != want {
		t.Errorf("unsealed %q, want %q", plain, want)
	}
}
