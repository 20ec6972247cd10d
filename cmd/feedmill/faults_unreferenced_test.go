package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// openStore opens the store that a server with some settings has, and reports whether
// it is PostgreSQL. It must be closed.
func openStore(t *testing.T, env []string, data string) (db *sql.DB, postgres bool) {
	t.Helper()
	driver, source := "sqlite3", filepath.Join(data, "feedmill.db")
	for _, setting := range env {
		if url, ok := strings.CutPrefix(setting, "FEEDMILL_DATABASE_URL="); ok {
			driver, source = "pgx", url
		}
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	return db, driver == "pgx"
}

// age makes a column of times say that so many hours more have passed.
func age(t *testing.T, env []string, data, table, column string, hours int) {
	t.Helper()
	db, postgres := openStore(t, env, data)
	defer db.Close()
	past := fmt.Sprintf("%d", hours*3_600_000)
	if postgres {
		past = fmt.Sprintf("interval '%d hours'", hours)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE `+table+` SET `+column+` = `+column+` - `+past+` WHERE `+column+` IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
}

// unreferencedObjects are the files that nothing has.
const unreferencedObjects = "objects WHERE state = 'unreferenced'"

// countRows counts what a query finds.
func countRows(t *testing.T, env []string, data, query string) (n int) {
	t.Helper()
	db, _ := openStore(t, env, data)
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// sweptAfterADay waits until every file but as many as are wanted is noted as unreferenced, and holds
// that a server that starts a day later deletes them.
func sweptAfterADay(t *testing.T, env []string, data string, p *process, begin func() *process, want func() int) *process {
	t.Helper()
	eventually(t, "the files that nothing has are noted", func() bool {
		return dataFiles(t, data) == want()+countRows(t, env, data, unreferencedObjects)
	})
	p.kill()
	age(t, env, data, "objects", "since", 25)
	p = begin()
	eventually(t, "the files that nothing has are deleted", func() bool { return dataFiles(t, data) == want() })
	return p
}

// TestBackupDuringCompaction makes a backup as documented, of the records first and
// then of the files, while files are joined, versions forgotten and the server is
// killed. What is restored can be read, also by a server that starts on it again.
func TestBackupDuringCompaction(t *testing.T) { onBothStores(t, backUpWhileCompacting) }

func backUpWhileCompacting(t *testing.T, env []string) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	begin := func() *process {
		p, err := launch(folder, env, "--data="+data)
		return p.until(t, err)
	}
	p := begin()
	var feeds [2]string
	for i := range feeds {
		made, err := p.client(sharedFirstKey).CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader("id,v\n0,0\n"), Format: "csv"})
		if err != nil {
			t.Fatal(err)
		}
		feeds[i] = made.ID
		if _, err := p.client(sharedFirstKey).ChangeDataFeed(t.Context(), made.ID, client.DataFeedChange{Keep: client.To(client.Keep{Versions: 1})}); err != nil {
			t.Fatal(err)
		}
	}
	for round := range longOr(2, 30) {
		for n := range 10 {
			for _, feed := range feeds {
				body := fmt.Sprintf("id,v\n%d,%d\n", 1+10*round+n, round)
				status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPut, p.url+"/data_feeds/"+feed+"/data?mode=append", map[string]string{"Content-Type": "text/csv"}, strings.NewReader(body))
				if status != http.StatusOK || err != nil {
					t.Fatalf("%d %s, %v", status, answer, err)
				}
			}
		}
		rows := [][]string{storedRows(t, p, feeds[0]), storedRows(t, p, feeds[1])}
		named, restored := backUpRecords(t, env, data)
		before := countRows(t, env, data, unreferencedObjects)
		age(t, env, data, "feed_versions", "stale_at", 2)
		p.kill()
		p = begin() // which joins files, forgets versions and sweeps
		eventually(t, "versions are forgotten", func() bool {
			return countRows(t, env, data, "feed_versions WHERE stale_at IS NOT NULL") == 0 && countRows(t, env, data, unreferencedObjects) > before
		})
		for _, name := range named {
			if _, err := os.Stat(filepath.Join(data, "files", name)); err != nil {
				t.Fatalf("a file of the backup is not there: %v", err)
			}
		}
		if restored == "" {
			continue
		}
		if err := os.CopyFS(filepath.Join(restored, "files"), os.DirFS(filepath.Join(data, "files"))); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r, err := launch(folder, env, "--data="+restored)
			r.until(t, err)
			for i, feed := range feeds {
				if got := storedRows(t, r, feed); !slices.Equal(got, rows[i]) {
					t.Fatalf("%d rows are restored, want %d", len(got), len(rows[i]))
				}
			}
			r.kill()
		}
	}
	eventually(t, "files are joined", func() bool {
		return countRows(t, env, data, fmt.Sprintf("feed_versions WHERE file_count > %d", feedmill.CrowdedFiles)) == 0
	})
	used := "(SELECT file FROM version_files UNION SELECT original FROM feed_versions WHERE original <> '') used"
	p = sweptAfterADay(t, env, data, p, begin, func() int { return countRows(t, env, data, used) })
	for _, feed := range feeds {
		if got, want := len(storedRows(t, p, feed)), 1+10*longOr(2, 30); got != want {
			t.Errorf("%d rows are left, want %d", got, want)
		}
	}
}

// backUpRecords copies the records, as documented, to a new data folder where the store
// is a file, and returns the names of the files that they have.
func backUpRecords(t *testing.T, env []string, data string) (named []string, restored string) {
	t.Helper()
	db, postgres := openStore(t, env, data)
	defer db.Close()
	if !postgres {
		restored = t.TempDir()
		if _, err := db.ExecContext(t.Context(), `VACUUM INTO ?`, filepath.Join(restored, "feedmill.db")); err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(filepath.Join(data, "vault.key"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(restored, "vault.key"), key, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.QueryContext(t.Context(), `SELECT file FROM version_files UNION SELECT original FROM feed_versions WHERE original <> ''`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		named = append(named, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return named, restored
}
