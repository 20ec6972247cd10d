package postgres_test

import (
	"context"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/postgres"
)

// config is how to reach the database of a URL.
func config(t *testing.T, address string) database.Config {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	password, _ := u.User.Password()
	return database.Config{
		Host: u.Hostname(), Port: port, Database: strings.TrimPrefix(u.Path, "/"), User: u.User.Username(), Password: password, TLS: "disable",
	}
}

func open(t *testing.T, c database.Config) database.Database {
	t.Helper()
	db, err := postgres.Connector{}.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

var types = map[columnar.Type]string{
	columnar.TypeText: "text", columnar.TypeInteger: "int8", columnar.TypeDecimal: "numeric(12,3)", columnar.TypeNumber: "float8",
	columnar.TypeBoolean: "boolean", columnar.TypeDate: "date", columnar.TypeTimestamp: "timestamptz", columnar.TypeJSON: "json",
}

// load makes the table of the suite.
func load(t *testing.T, conn *pgx.Conn, name string) {
	t.Helper()
	var columns, places []string
	for i, c := range databasetest.Columns {
		null := ""
		if !c.Nullable {
			null = " NOT NULL"
		}
		columns = append(columns, pgx.Identifier{c.Name}.Sanitize()+" "+types[c.Type]+null)
		places = append(places, fmt.Sprintf("$%d::text::%s", i+1, types[c.Type]))
	}
	exec(t, conn, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")")
	for _, row := range databasetest.Rows() {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = text(v)
		}
		exec(t, conn, "INSERT INTO "+name+" VALUES ("+strings.Join(places, ", ")+")", values...)
	}
}

// text is a value as PostgreSQL reads it.
func text(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case *big.Rat:
		return v.FloatString(3)[:len(v.FloatString(3))-4*btoi(v.IsInt())]
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999Z07:00")
	}
	return fmt.Sprint(v)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
