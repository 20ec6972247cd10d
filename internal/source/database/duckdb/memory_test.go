package duckdb_test

import (
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/duckdb"
)

// A worker is ended that needs more memory than its limit, with a failure that says
// so: what a function makes of short values is not what DuckDB counts. Statements on
// another file, and the next on the same one, are answered.
func TestMemoryOfWorkers(t *testing.T) {
	const limit = 128 << 20 // the memory, and 64 MiB
	pool := lake.NewPool(lake.PoolConfig{Temp: t.TempDir(), TempBytes: 1 << 30, Memory: 64 << 20, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(pool.Close)
	attacked, other := newPath(t), newPath(t)
	write(t, attacked, "CREATE VIEW texts AS SELECT repeat('x', 1000000) AS v FROM range(3000)",
		"CREATE VIEW documents AS SELECT ('[\"' || repeat('x', 8000000) || '\"]')::JSON AS v FROM range(300)",
		"CREATE TABLE plain AS SELECT 1 AS v")
	write(t, other, "CREATE TABLE plain AS SELECT 2 AS v")
	open := func(path string) database.Database {
		db, err := (duckdb.Connector{Engine: lake.NewDatabases(pool)}).Open(t.Context(), database.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	first, second := open(attacked), open(other)
	read := func(db database.Database, view string) (string, error) {
		got, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, db, view), databasetest.Parse(t, `{"fields":[{"field":"v"}]}`))
		if err != nil {
			return "", err
		}
		return got.Rows[0][0], nil
	}
	for _, view := range []string{"texts", "documents"} {
		_, err := read(first, view)
		failure, ok := errors.AsType[*feedmill.SourceFailure](err)
		if !ok || failure.Type != database.ProblemTooMuch || !strings.Contains(failure.Detail, "memory") {
			t.Errorf("%s: %#v", view, err)
		}
		for db, want := range map[database.Database]string{first: "1", second: "2"} {
			if got, err := read(db, "plain"); got != want || err != nil {
				t.Errorf("after %s: %q, %v", view, got, err)
			}
		}
	}
	pool.Close()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		t.Fatal(err)
	}
	// Resident are the program's own pages, too, and what is allocated before the next check.
	if peak := used.Maxrss << 10; peak > 3*limit && !raced() {
		t.Errorf("a worker held %d MiB", peak>>20)
	} else {
		t.Logf("the largest worker held %d MiB", peak>>20)
	}
}

// raced reports whether the race detector is compiled in, which takes several times as much
// memory.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
