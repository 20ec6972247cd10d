package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Origin identifies the file of the database. A copy of the file has another origin.
func (db *DB) Origin(context.Context) (string, error) {
	file, err := filepath.Abs(db.file)
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
