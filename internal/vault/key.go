package vault

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// MinKeyLen is the minimum number of characters of an operator's key.
const MinKeyLen = 32

// kekLabel binds the derived key to its purpose. Changing it makes every existing store
// unreadable.
const kekLabel = "feedmill vault key-encryption key v1"

// kekLen is the key length of XChaCha20-Poly1305.
const kekLen = 32

// Key is the key-encryption key that is derived from an operator's key. It is printed,
// logged and encoded as ***.
type Key struct {
	// kek returns the bytes. It is a function because printing a struct with a Key in an
	// unexported field bypasses the methods below and follows pointers.
	kek func() []byte
}

// LoadKey returns the key from text or, if text is empty, from the file at path. If the
// file does not exist, LoadKey creates it with a random key, readable by its owner only. A
// file that others can read is refused. White space around the key is ignored.
func LoadKey(text, path string) (Key, error) { return loadKey(text, path, loadKeyFile) }

// FindKey is [LoadKey] for a store that already has a keyset. A new key would not open it,
// so a missing file is an error.
func FindKey(text, path string) (Key, error) {
	return loadKey(text, path, func(path string) (string, error) {
		text, err := readKeyFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the vault key file %s is missing, but the store has secrets that are encrypted with it; restore the file, or set FEEDMILL_VAULT_KEY", path)
		}
		return text, err
	})
}

func loadKey(text, path string, read func(path string) (string, error)) (Key, error) {
	if text = strings.TrimSpace(text); text != "" {
		key, err := deriveKey(text)
		if err != nil {
			return Key{}, fmt.Errorf("FEEDMILL_VAULT_KEY: %w", err)
		}
		return key, nil
	}
	if path == "" {
		return Key{}, errors.New("the vault key is missing; set FEEDMILL_VAULT_KEY or specify a key file")
	}
	text, err := read(path)
	if err != nil {
		return Key{}, err
	}
	key, err := deriveKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("vault key file %s: %w", path, err)
	}
	return key, nil
}

func deriveKey(text string) (Key, error) {
	if n := utf8.RuneCountInString(text); n < MinKeyLen {
		return Key{}, fmt.Errorf("a vault key must have at least %d characters; it has %d", MinKeyLen, n)
	}
	derived, err := hkdf.Key(sha256.New, []byte(text), nil, kekLabel, kekLen)
	if err != nil {
		return Key{}, fmt.Errorf("derive vault key: %w", err)
	}
	return Key{kek: func() []byte { return derived }}, nil
}

// aead returns the cipher that seals the keyset.
func (k Key) aead() (tink.AEAD, error) {
	if k.kek == nil {
		return nil, errors.New("the vault key is missing")
	}
	return subtle.NewXChaCha20Poly1305(k.kek())
}

const hidden = "***"

// String hides the key.
func (Key) String() string { return hidden }

// GoString hides the key.
func (Key) GoString() string { return hidden }

// LogValue hides the key.
func (Key) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the key.
func (Key) MarshalText() ([]byte, error) { return []byte(hidden), nil }
