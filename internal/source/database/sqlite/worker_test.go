package sqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// readIDs reads the column id of a view.
func readIDs(t *testing.T, db database.Database, view string) string {
	t.Helper()
	got, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, db, view), databasetest.Parse(t, `{"fields":[{"field":"id"}],"sort":[{"field":"id"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, row := range got.Rows {
		ids = append(ids, row[0])
	}
	return strings.Join(ids, ",")
}

// A file is read as it is at each statement while others write it, in every mode of its
// journal: what is still in the log, a log that is not there yet, one that was removed.
func TestJournals(t *testing.T) {
	c := connector(t)
	for _, mode := range []string{"DELETE", "TRUNCATE", "PERSIST", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			write := func(id int) *sql.DB {
				writer, err := sql.Open("sqlite3", path)
				if err != nil {
					t.Fatal(err)
				}
				writer.SetMaxOpenConns(1)
				t.Cleanup(func() { writer.Close() })
				exec(t, writer, "PRAGMA journal_mode = "+mode)
				exec(t, writer, "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v TEXT)")
				exec(t, writer, "INSERT INTO t VALUES (?, 'x')", id)
				return writer
			}
			writer := write(1)
			db := open(t, c, database.Config{Path: path})
			if got := readIDs(t, db, "t"); got != "1" {
				t.Errorf("beside a writer: %s", got)
			}
			exec(t, writer, "INSERT INTO t VALUES (2, 'y')")
			if got := readIDs(t, db, "t"); got != "1,2" {
				t.Errorf("after another row: %s", got)
			}
			writer.Close()
			if got := readIDs(t, db, "t"); got != "1,2" {
				t.Errorf("without a writer: %s", got)
			}
			writer = write(3)
			if got := readIDs(t, db, "t"); got != "1,2,3" {
				t.Errorf("beside another writer: %s", got)
			}
			exec(t, writer, "BEGIN IMMEDIATE")
			exec(t, writer, "INSERT INTO t VALUES (4, 'z')")
			if got := readIDs(t, db, "t"); got != "1,2,3" {
				t.Errorf("during a transaction: %s", got)
			}
			exec(t, writer, "COMMIT")
			if got := readIDs(t, db, "t"); got != "1,2,3,4" {
				t.Errorf("after the transaction: %s", got)
			}
		})
	}
}

// What a view makes of a small file is bounded by the limits of a value, of a row and of
// the worker's memory. The worker goes on after each refusal.
func TestLimits(t *testing.T) {
	writer, db := create(t, "UTF-8")
	const mebibyte = 1 << 20
	for _, test := range []struct{ name, view, problem, says string }{
		{"bomb", "SELECT hex(zeroblob(450000000)) AS v", database.ProblemStatement, "64 MiB"},
		{"nested", "SELECT length(hex(hex(zeroblob(30000000)))) AS v", database.ProblemStatement, "64 MiB"},
		{"value", "SELECT CAST(hex(zeroblob(8388609)) AS TEXT) AS v", database.ProblemStatement, `"v" in row 1 has 16777218 bytes`},
		{"heap", "SELECT CAST(a.v || '' AS TEXT) AS v, CAST(a.v || 'x' AS TEXT) AS w, CAST(a.v || 'y' AS TEXT) AS x FROM (SELECT hex(zeroblob(26000000)) AS v) a", database.ProblemTooMuch, "memory"},
		{"row", "SELECT CAST(a.v AS TEXT) AS a, CAST(a.v AS TEXT) AS b, CAST(a.v AS TEXT) AS c, CAST(a.v AS TEXT) AS d, CAST(a.v AS TEXT) AS e FROM (SELECT hex(zeroblob(7500000)) AS v) a", database.ProblemStatement, "Row 1 has more than 64 MiB"},
	} {
		exec(t, writer, "CREATE VIEW "+test.name+" AS "+test.view)
		table, err := db.Table(t.Context(), test.name, feedmill.RulesCurrent)
		if err == nil {
			_, _, err = databasetest.Read(t.Context(), table, feedmill.Query{})
		}
		wantProblem(t, err, test.problem, test.says)
	}
	exec(t, writer, "CREATE VIEW fits AS SELECT CAST(hex(zeroblob(8388608)) AS TEXT) AS a, CAST(hex(zeroblob(8388608)) AS TEXT) AS b")
	got, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, db, "fits"), feedmill.Query{})
	if err != nil || len(got.Rows) != 1 || len(got.Rows[0][0]) != 16*mebibyte || len(got.Rows[0][1]) != 16*mebibyte {
		t.Errorf("a value of the maximum: %v", err)
	}
}

// Grouping and sorting go to the disk, in the folder of the worker.
func TestGroupsOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.db")
	writer, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	rows := 150_000
	if os.Getenv("FEEDMILL_LONG") != "" {
		rows = 1_000_000
	}
	exec(t, writer, "CREATE TABLE t (id INTEGER, v TEXT)")
	exec(t, writer, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO t SELECT i, printf('%01000d', i) FROM n", rows)
	c := connector(t)
	got, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, open(t, c, database.Config{Path: path}), "t"),
		databasetest.Parse(t, `{"fields":[{"field":"v"},{"field":"id","aggregate":"count"}],"sort":[{"field":"v","order":"desc"}],"limit":3}`))
	if err != nil || len(got.Rows) != 3 || got.Rows[0][0] != fmt.Sprintf("%01000d", rows) || got.Rows[0][1] != "1" {
		t.Fatalf("%d rows, %v", len(got.Rows), err)
	}
	for _, peak := range workerPeaks(t) {
		t.Logf("a worker held %d MiB", peak>>20)
		if peak > 160<<20 {
			t.Errorf("a worker held %d MiB", peak>>20)
		}
	}
}

// workerPeaks are the largest resident sizes of the workers of this process.
func workerPeaks(t *testing.T) (peaks []int64) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			continue
		}
		_, peak, _ := strings.Cut(string(text), "\nVmHWM:")
		kibibytes, err := strconv.ParseInt(strings.Fields(peak + " 0")[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		peaks = append(peaks, kibibytes<<10)
	}
	return peaks
}
