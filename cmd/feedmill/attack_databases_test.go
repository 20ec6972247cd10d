package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
)

// TestFilesOfDatabases has two workspaces read files of databases in 512 MB: views that make
// gigabytes of nothing, a large table that is grouped, and rows of an honest one
// beside them.
func TestFilesOfDatabases(t *testing.T) {
	folder := t.TempDir()
	small, large, duck := filepath.Join(folder, "small.db"), filepath.Join(folder, "large.db"), filepath.Join(folder, "duck.db")
	writeSQLite(t, small, "CREATE VIEW bomb AS SELECT hex(zeroblob(450000000)) AS v", "CREATE TABLE plain AS SELECT 1 AS v",
		"CREATE VIEW many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT CAST(hex(zeroblob(8000000)) AS TEXT) AS v FROM n")
	writeSQLite(t, large, "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, v TEXT)",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO t SELECT i, printf('key %%020d', i * 7919 %% 1000003), printf('%%0200d', i) FROM n", longOr(60_000, 1_500_000)))
	duckdbtest.Write(t, duck, "CREATE VIEW bomb AS SELECT repeat('x', 1000000) AS v FROM range(3000)", "CREATE VIEW documents AS SELECT ('[\"' || repeat('x', 8000000) || '\"]')::JSON AS v FROM range(300)",
		"CREATE TABLE plain AS SELECT 1 AS v")()
	group := newMemoryGroup(t)
	p := serveLimited(t, group, slices.Concat(onLoopback, []string{"FEEDMILL_DATABASE_DIRS=" + folder})...)
	keys := []string{sharedFirstKey}
	other := must(t, http.StatusCreated, sharedFirstKey, p.url+"/workspaces", `{"name":"other"}`)
	keys = append(keys, must(t, http.StatusCreated, sharedFirstKey, p.url+"/keys", fmt.Sprintf(`{"name":"k","scopes":["api:read","api:write"],"workspaceId":%q}`, other["id"]))["key"].(string))
	for _, key := range keys {
		for name, connector := range map[string]string{"small": "sqlite", "large": "sqlite", "duck": "duckdb"} {
			must(t, http.StatusCreated, key, p.url+"/connections", fmt.Sprintf(`{"serviceName":%q,"connector":%q,"config":{"path":%q}}`, name, connector, filepath.Join(folder, name+".db")))
		}
	}
	preview := func(key, service, view, fields string, statuses ...int) {
		status, answer, err := request(t.Context(), key, http.MethodPost, p.url+"/query_builder/preview", nil,
			strings.NewReader(fmt.Sprintf(`{"serviceName":%q,"viewName":%q,"query":{"fields":[%s]}}`, service, view, fields)))
		if err != nil || status != statuses[0] && status != statuses[len(statuses)-1] {
			t.Errorf("%s of %s: %d %.300s, %v", view, service, status, answer, err)
		}
	}
	const v = `{"field":"v"}`
	var all sync.WaitGroup
	for _, key := range keys {
		all.Go(func() {
			for range longOr(1, 5) {
				status, answer, err := request(t.Context(), key, http.MethodGet, p.url+"/query_builder/services/small/views/bomb/fields?refresh=true", nil, http.NoBody)
				if err != nil || status != http.StatusUnprocessableEntity || !strings.Contains(answer, "64 MiB") {
					t.Errorf("the fields: %d %.300s, %v", status, answer, err)
				}
				preview(key, "small", "many", v, http.StatusUnprocessableEntity)
				preview(key, "duck", "bomb", v, http.StatusUnprocessableEntity)
				preview(key, "duck", "documents", v, http.StatusUnprocessableEntity)
				preview(key, "large", "t", `{"field":"k"},{"field":"v","aggregate":"count"}`, http.StatusOK)
			}
		})
		all.Go(func() {
			for range longOr(1, 30) {
				preview(key, "small", "plain", v, http.StatusOK)
				preview(key, "duck", "plain", v, http.StatusOK)
			}
		})
	}
	all.Wait()
	if group != "" {
		if n := group.killed(t); n > 0 {
			t.Errorf("%d processes were killed for want of memory", n)
		}
	}
	t.Logf("the server held %d MiB", peakOf(t, p.cmd.Process.Pid)>>20)
	for _, pid := range p.workers() {
		if peak := peakOf(t, pid); peak > 256<<20 && !raced() {
			t.Errorf("a worker held %d MiB", peak>>20)
		}
	}
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
