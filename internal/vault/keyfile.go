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

// maxKeyFile is the maximum size of a key file. A larger file is not a key file.
const maxKeyFile = 64 << 10

// loadKeyFile returns the key in the file at path. It creates the file if it does not exist.
func loadKeyFile(path string) (string, error) {
	text, err := readKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := createKeyFile(path); err != nil {
		return "", fmt.Errorf("create vault key file %s: %w", path, err)
	}
	// Read the file again: another process may have created it first.
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
		return "", fmt.Errorf("vault key file %s has mode %04o: other users can access it; run chmod 600 on it, and rotate the key if other users had access", path, perm)
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

// createKeyFile writes a random key to path unless the file exists. The file is complete
// and synced to disk, or it does not exist: a key that is used and then lost in a crash
// would make every secret unreadable.
func createKeyFile(path string) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".vault-key-*") // with mode 0600
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
	// Unlike a rename, a link never replaces an existing file.
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w (if the file system does not support hard links, set FEEDMILL_VAULT_KEY)", err)
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
