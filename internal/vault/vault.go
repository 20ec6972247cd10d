// Package vault encrypts secrets at rest: signing secrets, credentials of sources, and
// responses kept for idempotency.
//
// It uses envelope encryption. A keyset of data keys, stored in the database, seals the
// secrets. The keyset is sealed with a key-encryption key that is derived from the
// operator's [Key] and never stored. So data keys rotate without a new operator key
// ([Vault.Rotate]), and the sealed keyset proves that a process was started with the right
// key: otherwise [Open] returns [ErrWrongKey].
//
// Each secret is bound to its record. A sealed value that is copied to another record does
// not open there.
//
// Several processes can share a store. The keyset is only replaced by compare-and-set, and
// a process that reads a value with an unknown data key reads the keyset again.
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
	// VaultKeyset returns the sealed keyset, or nil if there is none yet.
	VaultKeyset(ctx context.Context) ([]byte, error)
	// SwapVaultKeyset replaces the sealed keyset old with new. A nil old means that there
	// is none yet. If the store has another keyset, it returns an error that matches
	// [feedmill.ErrConflict].
	SwapVaultKeyset(ctx context.Context, old, new []byte) error
}

// ErrWrongKey reports that the store's keyset was sealed with another key.
var ErrWrongKey = errors.New("the vault key does not match this store; set FEEDMILL_VAULT_KEY to the key that the store was created with")

// ErrBroken reports that a sealed value does not open: it was changed, it belongs to
// another record, or its key is not from this store.
var ErrBroken = errors.New("the encrypted value cannot be decrypted")

var errLostKeyset = errors.New("the store's keyset is missing")

const (
	// reloadEvery is the minimum interval between reloads of the keyset for unknown data
	// keys, so that invalid values do not cause load.
	reloadEvery = time.Second
	// swapTries is the maximum number of compare-and-set attempts. Each conflict means that
	// another process succeeded, so few are needed.
	swapTries = 16
)

// Vault seals and unseals secrets. It is safe for concurrent use.
type Vault struct {
	kek   tink.AEAD
	store Store
	keys  atomic.Pointer[keyring]

	// locked is a mutex for reading and replacing the keyset, and guards reloaded. It is a
	// channel so that waiting can be canceled.
	locked   chan struct{}
	reloaded time.Time // when the last reload started
}

// Open reads the store's keyset, or creates it if the store has none. If several processes
// open an empty store concurrently, one creates the keyset and the others use it.
func Open(ctx context.Context, key Key, store Store) (*Vault, error) {
	kek, err := key.aead()
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	v := &Vault{kek: kek, store: store, locked: make(chan struct{}, 1)}
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

// Seal encrypts plain for the record with the given id. Sealing the same text twice
// returns different bytes.
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

// Unseal decrypts what [Vault.Seal] returned for the same record, in this process or in
// another one on the same store. Otherwise it returns [ErrBroken]. Before it rejects an
// unknown data key, it reads the keyset again.
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

// Rotate adds a data key that seals from now on. Earlier keys stay in the keyset, so
// existing secrets stay readable.
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

// swap replaces the store's keyset with the result of change, and returns the keyset that
// the store then has. change gets nil if the store has no keyset. It can return its
// argument to leave the keyset unchanged.
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

// read returns the store's keyset, or nil if there is none.
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

// reload reads the keyset again, unless it has changed since seen. Calls within
// [reloadEvery] of a reload wait and share the next one. So no call fails for a key that the
// store has, and invalid values cost at most one read a second.
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
	case v.locked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *Vault) unlock() { <-v.locked }
