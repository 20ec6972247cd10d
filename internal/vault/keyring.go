package vault

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// keysetLabel is the associated data of the sealed keyset, so that no other value sealed
// with the same key can replace it.
var keysetLabel = []byte("feedmill vault keyset")

// keyring is one version of the keyset, opened and sealed. It is immutable once in use.
type keyring struct {
	at     time.Time // when reading it started; zero if this process created it
	handle *keyset.Handle
	aead   tink.AEAD
	ids    map[uint32]struct{}
	sealed []byte
}

// newKeyring creates a keyset with one data key.
func newKeyring(kek tink.AEAD) (*keyring, error) {
	return addKey(keyset.NewManager(), kek)
}

// rotated returns a copy of the keyset with a new primary key.
func (r *keyring) rotated(kek tink.AEAD) (*keyring, error) {
	return addKey(keyset.NewManagerFromHandle(r.handle), kek)
}

// addKey adds a primary data key. The nonces of XChaCha20 are long enough to be random for
// any number of secrets; those of AES-GCM are not.
func addKey(keys *keyset.Manager, kek tink.AEAD) (*keyring, error) {
	id, err := keys.Add(aead.XChaCha20Poly1305KeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("create data key: %w", err)
	}
	if err := keys.SetPrimary(id); err != nil {
		return nil, fmt.Errorf("create data key: %w", err)
	}
	handle, err := keys.Handle()
	if err != nil {
		return nil, fmt.Errorf("create keyset: %w", err)
	}
	var sealed bytes.Buffer
	if err := handle.WriteWithAssociatedData(keyset.NewBinaryWriter(&sealed), kek, keysetLabel); err != nil {
		return nil, fmt.Errorf("seal keyset: %w", err)
	}
	return useKeyring(handle, sealed.Bytes())
}

// openKeyring opens a sealed keyset.
func openKeyring(kek tink.AEAD, sealed []byte) (*keyring, error) {
	// Distinguish damaged bytes from a keyset that another key sealed.
	if _, err := keyset.NewBinaryReader(bytes.NewReader(sealed)).ReadEncrypted(); err != nil {
		return nil, fmt.Errorf("the stored keyset is damaged: %w", err)
	}
	handle, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(sealed)), kek, keysetLabel)
	if err != nil {
		return nil, ErrWrongKey
	}
	return useKeyring(handle, sealed)
}

func useKeyring(handle *keyset.Handle, sealed []byte) (*keyring, error) {
	cipher, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("use keyset: %w", err)
	}
	r := &keyring{handle: handle, aead: cipher, ids: make(map[uint32]struct{}), sealed: sealed}
	for _, info := range handle.KeysetInfo().GetKeyInfo() {
		r.ids[info.GetKeyId()] = struct{}{}
	}
	return r, nil
}

func (r *keyring) has(id uint32) bool {
	_, ok := r.ids[id]
	return ok
}

// keyID reads which key sealed a value: tink writes a version byte and the id
// of the key before the ciphertext.
func keyID(sealed []byte) (id uint32, ok bool) {
	if len(sealed) < 5 || sealed[0] != 1 {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:5]), true
}
