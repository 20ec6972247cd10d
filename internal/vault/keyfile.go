package vault

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxKeyFile is far more than a key needs; a file past it is something else.
const maxKeyFile = 64 << 10

// loadKeyFile returns the key text in the file at path, which it makes when it
// is not there.
func loadKeyFile(path string) (string, error) {
	text, err := readKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := makeKeyFile(path); err != nil {
		return "", fmt.Errorf("make vault key file %s: %w", path, err)
	}
	// What counts is what the file holds now: another process may have made
	// it first.
	return readKeyFile(path)
}

func readKeyFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read vault key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read vault key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("vault key file %s is not a regular file", path)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return "", fmt.Errorf("vault key file %s has mode %04o: others than its owner may use it; run chmod 600 on it, and think of the key as known if others had access", path, perm)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return "", fmt.Errorf("read vault key file: %w", err)
	}
	if len(text) > maxKeyFile {
		return "", fmt.Errorf("vault key file %s has more than %d bytes", path, maxKeyFile)
	}
	return strings.TrimSpace(string(text)), nil
}

// makeKeyFile puts a fresh key at path unless there is a file already. The file
// appears complete and on disk or not at all: a key that was used and then lost
// in a crash would take every secret with it.
func makeKeyFile(path string) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".vault-key-*") // new, and of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	var key [32]byte
	rand.Read(key[:])
	_, err = temp.WriteString(base64.RawURLEncoding.EncodeToString(key[:]) + "\n")
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, never replaces what is there.
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w (where files cannot be linked, set FEEDMILL_VAULT_KEY)", err)
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
