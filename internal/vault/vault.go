// Package vault keeps secrets at rest: signing secrets, credentials of
// sources, kept responses.
//
// The encryption is in two layers. A keyset of data keys, held in the database,
// seals the secrets. The keyset itself is sealed with a key-encryption key that
// is derived from the operator's [Key] and is never stored. So the data keys
// rotate without a word to the operator ([Vault.Rotate]), and the sealed keyset
// doubles as the proof that a process was started with the right key: [Open]
// returns [ErrWrongKey] when it was not.
//
// Every secret is bound to the record that it belongs to. A sealed value that
// is copied to another record does not open there.
//
// Any number of processes may share a store. A keyset is replaced by
// compare-and-set only, and a process that meets a value sealed with a key that
// it does not know reads the keyset again.
package vault

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Store keeps the sealed keyset.
type Store interface {
	// VaultKeyset returns the sealed keyset, or nil when there is none yet.
	VaultKeyset(ctx context.Context) ([]byte, error)
	// SwapVaultKeyset replaces the sealed keyset old with new. A nil old
	// means that there is none yet. It returns an error that matches
	// [feedmill.ErrConflict] when old is not what the store holds.
	SwapVaultKeyset(ctx context.Context, old, new []byte) error
}

// ErrWrongKey says that the store's keyset was sealed with another key.
var ErrWrongKey = errors.New("the vault key does not open this store; start with the FEEDMILL_VAULT_KEY the store was made with")

// ErrBroken says that a sealed value does not open: it was changed, it belongs
// to another record, or its key is not of this store.
var ErrBroken = errors.New("the sealed value does not open")

var errLostKeyset = errors.New("the store has lost its keyset")

const (
	// reloadEvery is the least time between two readings of the keyset for
	// values that name an unknown key, so that garbage does not become load.
	reloadEvery = time.Second
	// swapTries bounds how often a lost compare-and-set is tried again. Every
	// loss means that another process got ahead, so a few are plenty.
	swapTries = 16
)

// Vault seals and unseals secrets. It is safe for concurrent use.
type Vault struct {
	kek   tink.AEAD
	store Store
	keys  atomic.Pointer[keyring]

	// renewing holds a token while the keyset is read or replaced; it guards
	// reloaded. It is a channel so that waiting for it can be given up.
	renewing chan struct{}
	reloaded time.Time // when the last reload began
}

// Open reads the store's keyset, or makes the first one when the store has
// none. Of several processes that open an empty store at once, one makes the
// keyset and the others take it over.
func Open(ctx context.Context, key Key, store Store) (*Vault, error) {
	kek, err := key.aead()
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	v := &Vault{kek: kek, store: store, renewing: make(chan struct{}, 1)}
	ring, err := v.swap(ctx, func(current *keyring) (*keyring, error) {
		if current != nil {
			return current, nil
		}
		return newKeyring(kek)
	})
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	v.keys.Store(ring)
	return v, nil
}

// Seal encrypts plain for the record with the given id. Sealing the same text
// twice gives different bytes.
func (v *Vault) Seal(plain []byte, record string) ([]byte, error) {
	if record == "" {
		return nil, errors.New("seal: a secret must belong to a record")
	}
	sealed, err := v.keys.Load().aead.Encrypt(plain, []byte(record))
	if err != nil {
		return nil, fmt.Errorf("seal for %s: %w", record, err)
	}
	return sealed, nil
}

// Unseal opens what [Vault.Seal] made for the same record, in this process or
// in another on the same store. It returns [ErrBroken] for everything else; a
// key is only called unknown by a keyset that was read after the call began.
func (v *Vault) Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error) {
	id, ok := keyID(sealed)
	if !ok || record == "" {
		return nil, fmt.Errorf("unseal for %s: %w", record, ErrBroken)
	}
	began := time.Now()
	ring := v.keys.Load()
	for !ring.has(id) && !ring.at.After(began) {
		if err := v.reload(ctx, ring); err != nil {
			return nil, fmt.Errorf("unseal for %s: %w", record, err)
		}
		ring = v.keys.Load()
	}
	plain, err := ring.aead.Decrypt(sealed, []byte(record))
	if err != nil {
		return nil, fmt.Errorf("unseal for %s: %w", record, ErrBroken)
	}
	return plain, nil
}

// Rotate makes a fresh data key that seals from now on. The earlier keys stay
// in the keyset, so that what they sealed stays readable.
func (v *Vault) Rotate(ctx context.Context) error {
	if err := v.lock(ctx); err != nil {
		return fmt.Errorf("rotate vault: %w", err)
	}
	defer v.unlock()
	ring, err := v.swap(ctx, func(current *keyring) (*keyring, error) {
		if current == nil {
			return nil, errLostKeyset
		}
		return current.rotated(v.kek)
	})
	if err != nil {
		return fmt.Errorf("rotate vault: %w", err)
	}
	v.keys.Store(ring)
	return nil
}

// swap replaces the keyset of the store with what change makes of it, and
// returns the one that the store then holds. The change is handed nil when the
// store has no keyset, and may return the keyset that it was given.
func (v *Vault) swap(ctx context.Context, change func(*keyring) (*keyring, error)) (*keyring, error) {
	var conflict error
	for range swapTries {
		current, err := v.read(ctx)
		if err != nil {
			return nil, err
		}
		next, err := change(current)
		if err != nil || next == current {
			return next, err
		}
		var old []byte
		if current != nil {
			old = current.sealed
		}
		if conflict = v.store.SwapVaultKeyset(ctx, old, next.sealed); conflict == nil {
			return next, nil
		}
		if !errors.Is(conflict, feedmill.ErrConflict) {
			return nil, fmt.Errorf("write keyset: %w", conflict)
		}
	}
	return nil, fmt.Errorf("write keyset: %w", conflict)
}

// read returns the store's keyset, or nil when it has none.
func (v *Vault) read(ctx context.Context) (*keyring, error) {
	began := time.Now()
	sealed, err := v.store.VaultKeyset(ctx)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	if len(sealed) == 0 {
		return nil, nil
	}
	ring, err := openKeyring(v.kek, sealed)
	if err != nil {
		return nil, err
	}
	ring.at = began
	return ring, nil
}

// reload reads the keyset again unless it is no longer the one seen. The calls
// that come within [reloadEvery] of a reading wait and share the next one: so
// none fails for a key that the store already had, and garbage costs one
// reading a second however much of it there is.
func (v *Vault) reload(ctx context.Context, seen *keyring) error {
	if err := v.lock(ctx); err != nil {
		return err
	}
	defer v.unlock()
	if v.keys.Load() != seen {
		return nil
	}
	if wait := reloadEvery - time.Since(v.reloaded); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ring, err := v.read(ctx)
	if err != nil {
		return err
	}
	if ring == nil {
		return errLostKeyset
	}
	v.reloaded = ring.at
	v.keys.Store(ring)
	return nil
}

func (v *Vault) lock(ctx context.Context) error {
	select {
	case v.renewing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *Vault) unlock() { <-v.renewing }
