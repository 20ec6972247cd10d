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

// A program works on the schema of the next release and refuses later ones.
func TestNewerSchemaIsRefused(t *testing.T) {
	url := pgtest.New(t)
	db := open(t, url)
	var version, oldest int
	if err := db.pool.QueryRow(t.Context(), `SELECT version, oldest FROM schema_version, schema_support`).Scan(&version, &oldest); err != nil || oldest != migrate.PreviousRelease {
		t.Fatalf("programs from %d are supported, %v; want %d", oldest, err, migrate.PreviousRelease)
	}
	migrated := func(oldest int) {
		t.Helper()
		for query, value := range map[string]int{`UPDATE schema_version SET version = $1`: 9999, `UPDATE schema_support SET oldest = $1`: oldest} {
			if _, err := db.pool.Exec(t.Context(), query, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	migrated(version)
	open(t, url).Close()
	migrated(version + 1)
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
