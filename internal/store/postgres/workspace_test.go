package postgres

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

// TestNothingOfAWorkspaceRemains deletes a workspace that has rows in every table.
func TestNothingOfAWorkspaceRemains(t *testing.T) {
	url := pgtest.New(t)
	db := open(t, url)
	pool, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `SET session_replication_role = replica`); err != nil {
		t.Fatal(err)
	}
	raw := storetest.RawStore{Conn: conn, Columns: make(map[string][]storetest.RawColumn), Placeholder: func(n int) string { return fmt.Sprintf("$%d", n) }}
	rows, err := conn.QueryContext(t.Context(), `SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c
		JOIN pg_class t ON t.relname = c.table_name AND t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
		WHERE c.table_schema = 'public' AND c.is_identity = 'NO' AND c.is_generated = 'NEVER' ORDER BY c.table_name, c.ordinal_position`)
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
