package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/migrate"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Engine{
		Name: "sqlite",
		Make: func(t *testing.T, o feedmill.StoreOptions) func(*testing.T) storetest.Store {
			file := filepath.Join(t.TempDir(), "feedmill.db")
			return func(t *testing.T) storetest.Store { return openWith(t, file, o) }
		},
	})
}

func open(t *testing.T, file string) *DB { return openWith(t, file, feedmill.StoreOptions{}) }

func openWith(t *testing.T, file string, o feedmill.StoreOptions) *DB {
	t.Helper()
	db, err := Open(t.Context(), file, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-db.stop:
		default:
			db.Close()
		}
	})
	return db
}

func TestPragmas(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "f.db"))
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
		var fromRead string
		if err := db.reads.QueryRow(`PRAGMA ` + pragma).Scan(&fromRead); err != nil || fromRead != want {
			t.Errorf("reader: %s = %q, %v; want %q", pragma, fromRead, err, want)
		}
		var fromWrite string
		err := db.write(t.Context(), func(tx *tx) error { return tx.row(`PRAGMA ` + pragma).Scan(&fromWrite) })
		if err != nil || fromWrite != want {
			t.Errorf("writer: %s = %q, %v; want %q", pragma, fromWrite, err, want)
		}
	}
	var kept int64 // of a WAL that has grown long
	err := db.write(t.Context(), func(tx *tx) error {
		return tx.direct.each(`PRAGMA journal_size_limit`, nil, func(r *row) { kept = r.int() })
	})
	if err != nil || kept != 64<<20 {
		t.Errorf("the WAL keeps %d bytes, %v; want 64 MiB", kept, err)
	}
	if _, err := db.reads.Exec(`DELETE FROM keys`); err == nil {
		t.Error("a reader could write")
	}
}

func TestFileIsPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a folder", "with %20 and ?.db")
	open(t, file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode is %o, want 600", mode)
	}
}

// A program works on the schema of the next release and refuses later ones.
func TestNewerSchemaIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	open(t, file).Close()
	raw, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	var version, oldest int
	if err := raw.QueryRow(`SELECT (SELECT user_version FROM pragma_user_version), oldest FROM schema_support`).Scan(&version, &oldest); err != nil || oldest != migrate.PreviousRelease {
		t.Fatalf("programs from %d are supported, %v; want %d", oldest, err, migrate.PreviousRelease)
	}
	migrated := func(oldest int) {
		t.Helper()
		if _, err := raw.Exec(`PRAGMA user_version = 9999; UPDATE schema_support SET oldest = ?`, oldest); err != nil {
			t.Fatal(err)
		}
	}
	migrated(version)
	open(t, file).Close()
	migrated(version + 1)
	_, err = Open(t.Context(), file, feedmill.StoreOptions{})
	if !errors.Is(err, migrate.ErrNewer) || !strings.Contains(err.Error(), "9999") {
		t.Errorf("error is %v, want one that says the schema is newer and which it is", err)
	}
}

func TestNotADatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), file, feedmill.StoreOptions{}); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Errorf("error is %v, want unavailable", err)
	}
}

func TestWriteAfterClose(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "f.db"))
	db.Close()
	if err := db.write(t.Context(), func(*tx) error { return nil }); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Errorf("error is %v, want unavailable", err)
	}
}
