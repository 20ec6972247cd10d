package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Origin identifies the file of the database. A copy of the file has another origin.
func (db *DB) Origin(context.Context) (string, error) { return OriginOf(db.file) }

// OriginOf is the origin of the store in a file.
func OriginOf(file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("sqlite: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("sqlite: %w", err)
	}
	at, _ := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("sqlite:%s#%d", file, at.Ino), nil
}
