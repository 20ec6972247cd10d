package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/migrate"
	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

func TestContract(t *testing.T) {
	// The tables are made once, which takes longer than most cases.
	migrated := pgtest.New(t)
	db, err := Open(t.Context(), migrated, feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, storetest.Engine{
		Name:   "postgres",
		Shared: true,
		Make: func(t *testing.T, o feedmill.StoreOptions) func(*testing.T) storetest.Store {
			url := pgtest.Copy(t, migrated)
			return func(t *testing.T) storetest.Store { return openWith(t, url, o) }
		},
	})
}

func open(t *testing.T, url string) *DB { return openWith(t, url, feedmill.StoreOptions{}) }

func openWith(t *testing.T, url string, o feedmill.StoreOptions) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestNewerSchemaIsRefused(t *testing.T) {
	url := pgtest.New(t)
	db := open(t, url)
	if _, err := db.pool.Exec(t.Context(), `UPDATE schema_version SET version = 9999`); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), url, feedmill.StoreOptions{})
	if !errors.Is(err, migrate.ErrNewer) || !strings.Contains(err.Error(), "9999") {
		t.Errorf("error is %v, want one that says the schema is newer and which it is", err)
	}
}

func TestErrorsOfABadURLHoldNoPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://feedmill:hunter2secret@127.0.0.1:bad/db",
		"postgres://feedmill:hunter2secret@127.0.0.1:1/db?connect_timeout=1",
		"host=127.0.0.1 port=1 password=hunter2secret sslmode=nonsense",
	} {
		_, err := Open(t.Context(), url, feedmill.StoreOptions{})
		if err == nil || strings.Contains(err.Error(), "hunter2secret") {
			t.Errorf("Open returned %v", err)
		}
	}
}
