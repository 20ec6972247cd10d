package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// databases are those that the connections of a release's workspaces lead to, by
// the name of the service.
type databases map[string]*releaseDatabase

type releaseDatabase struct {
	mu        sync.Mutex
	db        *sql.DB
	file      string // of DuckDB, which is open only while it is written
	connector string
	config    map[string]any
}

// here is the folder that a server runs in, whichever that is. So the connection to
// a file is the same wherever the store is opened.
const here = "/proc/self/cwd"

// newDatabases starts what the scenarios of a release need. Files are in the folder
// that the server runs in.
func newDatabases(t *testing.T, release int, folder string, mariaDB func(*testing.T) int) databases {
	t.Helper()
	if release < lastRelease {
		return nil
	}
	open := func(driver, address string) *sql.DB {
		db, err := sql.Open(driver, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	at := folder
	if runtime.GOOS == "linux" {
		at = here
	}
	address := pgtest.New(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	password, _ := u.User.Password()
	maria := mariaDB(t)
	name := "shop_" + filepath.Base(u.Path)
	owner := open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", maria))
	if _, err := owner.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	all := databases{
		"file": {db: open("sqlite3", filepath.Join(folder, "shop.db")), connector: "sqlite", config: map[string]any{"path": at + "/shop.db"}},
		"lake": {file: filepath.Join(folder, "shop.duckdb"), connector: "duckdb", config: map[string]any{"path": at + "/shop.duckdb"}},
		"warehouse": {db: open("pgx", address), connector: "postgres", config: map[string]any{
			"host": u.Hostname(), "port": port, "database": strings.TrimPrefix(u.Path, "/"), "user": u.User.Username(), "password": password,
		}},
		"shop": {db: open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", maria, name)), connector: "mysql", config: map[string]any{
			"host": "127.0.0.1", "port": maria, "database": name, "user": "root",
		}},
	}
	for _, service := range []string{"file", "lake"} {
		all.run(t, service, `CREATE TABLE existence (proven integer)`) // without a table there is no file
	}
	return all
}

// lazyMariaDB starts a server when its port is first asked for. It ends with the
// test.
func lazyMariaDB(t *testing.T) func(*testing.T) int {
	start := sync.OnceValues(func() (*databasetest.MariaDB, error) {
		server, err := databasetest.StartMariaDB()
		if err == nil {
			t.Cleanup(server.Close)
		}
		return server, err
	})
	return func(t *testing.T) int {
		t.Helper()
		server, err := start()
		return databasetest.NeedMariaDB(t, server, err).Port
	}
}

// run runs a statement on the database of a service.
func (d databases) run(t *testing.T, service, statement string) {
	t.Helper()
	db := d[service]
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.file != "" {
		duckdbtest.Write(t, db.file, statement)()
		return
	}
	if _, err := db.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %s: %v", service, statement, err)
	}
}

// connect creates the connections of a workspace.
func (d databases) connect(t *testing.T, p *process, key string) {
	t.Helper()
	for service, db := range d {
		body, err := json.Marshal(map[string]any{"serviceName": service, "connector": db.connector, "config": db.config})
		if err != nil {
			t.Fatal(err)
		}
		if resp, text, err := sendAs(key, http.MethodPost, p.url+"/connections", string(body)); err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %s, %v", service, text, err)
		}
	}
}

// reconnect makes the connections of a workspace lead to where the databases are
// now. A file needs none: see here.
func (d databases) reconnect(t *testing.T, p *process, key string) {
	t.Helper()
	if len(d) == 0 {
		return
	}
	resp, text, err := sendAs(key, http.MethodGet, p.url+"/connections", "")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", text, err)
	}
	var list []struct{ ID, ServiceName string }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, connection := range list {
		db := d[connection.ServiceName]
		if db == nil || db.config["path"] != nil && runtime.GOOS == "linux" {
			continue
		}
		body, err := json.Marshal(map[string]any{"config": db.config})
		if err != nil {
			t.Fatal(err)
		}
		if resp, text, err := sendAs(key, http.MethodPatch, p.url+"/connections/"+connection.ID, string(body)); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", connection.ServiceName, text, err)
		}
	}
}
