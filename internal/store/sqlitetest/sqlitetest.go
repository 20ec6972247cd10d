// Package sqlitetest gives tests an empty SQLite store.
package sqlitetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// New opens an empty store of the test's own, which is closed with the test. It
// opens a copy of one that was made before: making the tables costs ten times
// as much as opening them.
func New(t testing.TB) *sqlite.DB {
	t.Helper()
	empty, err := template()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "feedmill.db")
	if err := os.WriteFile(file, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), file, feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// template is the file of an empty store.
var template = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "sqlitetest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "empty.db")
	db, err := sqlite.Open(context.Background(), file, feedmill.StoreOptions{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})
