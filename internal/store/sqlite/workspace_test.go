package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/store/storetest"
)

// TestNothingOfAWorkspaceRemains deletes a workspace that has rows in every table.
func TestNothingOfAWorkspaceRemains(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	db := open(t, file)
	pool, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw := storetest.RawStore{Conn: conn, Columns: make(map[string][]storetest.RawColumn), Placeholder: func(int) string { return "?" }}
	rows, err := conn.QueryContext(t.Context(), `SELECT t.name, c.name, c.type FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var table string
		var c storetest.RawColumn
		if err := rows.Scan(&table, &c.Name, &c.Type); err != nil {
			t.Fatal(err)
		}
		c.Type = strings.ToLower(c.Type)
		raw.Columns[table] = append(raw.Columns[table], c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	storetest.RunRemoval(t, db, raw)
}
