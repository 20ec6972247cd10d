package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// databaseAttacks are files of databases and a server whose views make gigabytes of nothing, and
// errors of megabytes.
var databaseAttacks = []attack{
	{name: "files of databases", prepare: (*attacker).writeDatabases, run: func(ctx context.Context, a *attacker) {
		const v = `{"field":"v"}`
		var all sync.WaitGroup
		all.Go(func() {
			status, answer, err := request(ctx, a.Key, http.MethodGet, a.URL+"/query_builder/services/small/views/bomb/fields?refresh=true", nil, http.NoBody)
			if err != nil || status != http.StatusUnprocessableEntity || !strings.Contains(answer, "64 MiB") {
				a.t.Errorf("the fields: %d %.300s, %v", status, answer, err)
			}
			a.preview(ctx, "small", "many", v, http.StatusUnprocessableEntity)
			a.preview(ctx, "duck", "bomb", v, http.StatusUnprocessableEntity)
			a.preview(ctx, "duck", "documents", v, http.StatusUnprocessableEntity)
			a.preview(ctx, "large", "t", `{"field":"k"},{"field":"v","aggregate":"count"}`, http.StatusOK)
		})
		all.Go(func() {
			for range longOr(1, 6) {
				a.preview(ctx, "small", "plain", v, http.StatusOK)
				a.preview(ctx, "duck", "plain", v, http.StatusOK)
			}
		})
		all.Wait()
		for _, pid := range workers(a.PID) {
			if peak := peakOf(a.t, pid); peak > 256<<20 && !raced() {
				a.t.Errorf("a worker held %d MiB", peak>>20)
			}
		}
	}},
	{name: "rows and errors of a database of megabytes", accepted: true, prepare: func(a *attacker) {
		a.connectPostgres("megabytes", fmt.Sprintf("CREATE VIEW large AS SELECT i AS id, repeat(md5(i::text), %d) AS v FROM generate_series(1, %d) i", longOr(10_000, 250_000), longOr(3, 100)),
			fmt.Sprintf("CREATE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%%', repeat('x', %d); END $$", longOr(1_500_000, 15_000_000)),
			fmt.Sprintf("CREATE VIEW wide AS SELECT i AS id, repeat(md5(i::text), %d) AS v FROM generate_series(1, 3) i", longOr(10_000, 500_000)),
			"CREATE VIEW failing AS SELECT fail() AS v")
		for i := range longOr(2, 12) {
			must(a.t, http.StatusCreated, a.Key, a.URL+"/data_feeds?type=queryBuilder", fmt.Sprintf(`{"name":"fails %d","serviceName":"megabytes","viewName":"failing","query":{"fields":[{"field":"v"}]}}`, i))
		}
	}, run: func(ctx context.Context, a *attacker) {
		a.preview(ctx, "megabytes", "large", `{"field":"id"},{"field":"v"}`, http.StatusUnprocessableEntity, http.StatusOK)
		a.preview(ctx, "megabytes", "failing", `{"field":"v"}`, http.StatusUnprocessableEntity)
		var feeds []string
		for i := range longOr(2, 6) {
			view := []string{"large", "wide"}[i%2]
			feeds = append(feeds, must(a.t, http.StatusCreated, a.Key, a.URL+"/data_feeds?type=queryBuilder", fmt.Sprintf(`{"name":"large %d","serviceName":"megabytes","viewName":%q,"query":{"fields":[{"field":"id"},{"field":"v"}]}}`, i, view))["id"].(string))
		}
		for _, feed := range feeds {
			eventually(a.t, "the rows are fetched", func() bool {
				f, err := client.New(a.URL, a.Key).DataFeed(ctx, feed)
				if err == nil && f.LastError != nil {
					a.t.Errorf("the feed: %+v", f.LastError)
					return true
				}
				return err == nil && f.Version == 1
			})
			a.several(ctx, 1, http.MethodDelete, "/data_feeds/"+feed, nil, "", http.StatusNoContent)
		}
		a.discard(ctx, "/data_feeds?limit=1000")
	}},
}

// preview makes a preview of a view, with one of the statuses that it may have.
func (a *attacker) preview(ctx context.Context, service, view, fields string, statuses ...int) {
	a.t.Helper()
	a.several(ctx, 1, http.MethodPost, "/query_builder/preview", nil, fmt.Sprintf(`{"serviceName":%q,"viewName":%q,"query":{"fields":[%s]}}`, service, view, fields), statuses...)
}

// writeDatabases makes connections to files of databases with views that make gigabytes of nothing,
// and a large table.
func (a *attacker) writeDatabases() {
	a.t.Helper()
	path := func(name string) string { return filepath.Join(a.folder, name+".db") }
	writeSQLite(a.t, path("small"), "CREATE VIEW bomb AS SELECT hex(zeroblob(450000000)) AS v", "CREATE TABLE plain AS SELECT 1 AS v",
		"CREATE VIEW many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT CAST(hex(zeroblob(8000000)) AS TEXT) AS v FROM n")
	writeSQLite(a.t, path("large"), "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, v TEXT)",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO t SELECT i, printf('key %%020d', i * 7919 %% 1000003), printf('%%0200d', i) FROM n", longOr(60_000, 1_500_000)))
	duckdbtest.Write(a.t, path("duck"), "CREATE VIEW bomb AS SELECT repeat('x', 1000000) AS v FROM range(3000)", "CREATE VIEW documents AS SELECT ('[\"' || repeat('x', 8000000) || '\"]')::JSON AS v FROM range(300)",
		"CREATE TABLE plain AS SELECT 1 AS v")()
	for name, connector := range map[string]string{"small": "sqlite", "large": "sqlite", "duck": "duckdb"} {
		must(a.t, http.StatusCreated, a.Key, a.URL+"/connections", fmt.Sprintf(`{"serviceName":%q,"connector":%q,"config":{"path":%q}}`, name, connector, path(name)))
	}
}

// connectPostgres makes a connection to a new database of PostgreSQL.
func (a *attacker) connectPostgres(service string, statements ...string) {
	a.t.Helper()
	address := pgtest.New(a.t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		a.t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(a.t.Context(), statement); err != nil {
			a.t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"serviceName": service, "connector": "postgres", "config": reachable(a.t, address)})
	if err != nil {
		a.t.Fatal(err)
	}
	must(a.t, http.StatusCreated, a.Key, a.URL+"/connections", string(text))
}

// peakOf is the largest resident size of a process, zero where it has ended.
func peakOf(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kibibytes, err := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kibibytes << 10
}

func writeSQLite(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
