// Package duckdbtest writes files of DuckDB for tests. It is apart from package
// databasetest because whatever imports it has all of DuckDB in it.
package duckdbtest

import (
	"testing"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Write runs statements on a file of DuckDB, which it makes where there is
// none. Nobody else can read the file before it is closed.
func Write(t testing.TB, path string, statements ...string) (closeIt func()) {
	t.Helper()
	var db duckdb.Database
	if duckdb.Open(path, &db) == duckdb.StateError {
		t.Fatal("the file does not open")
	}
	var conn duckdb.Connection
	if duckdb.Connect(db, &conn) == duckdb.StateError {
		t.Fatal("no connection")
	}
	for _, sql := range statements {
		var result duckdb.Result
		if duckdb.Query(conn, sql, &result) == duckdb.StateError {
			t.Fatalf("%s: %s", sql, duckdb.ResultError(&result))
		}
		duckdb.DestroyResult(&result)
	}
	return func() {
		duckdb.Disconnect(&conn)
		duckdb.Close(&db)
	}
}
