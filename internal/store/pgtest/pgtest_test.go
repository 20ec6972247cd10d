package pgtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// ask returns the single value of a query.
func ask[T any](t *testing.T, conn *pgx.Conn, sql string) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func TestDatabasesAreSeparate(t *testing.T) {
	a, b := connect(t, pgtest.New(t)), connect(t, pgtest.New(t))
	exec(t, a, "CREATE TABLE only_in_a ()")
	if !ask[bool](t, a, "SELECT to_regclass('only_in_a') IS NOT NULL") {
		t.Error("the table is not where it was made")
	}
	if ask[bool](t, b, "SELECT to_regclass('only_in_a') IS NOT NULL") {
		t.Error("one database sees the table of another")
	}
}

func TestDatabaseEndsWithItsTest(t *testing.T) {
	pgtest.New(t) // skips here, not only below, where there is no server
	var url string
	t.Run("inner", func(t *testing.T) {
		url = pgtest.New(t)
		// Left open on purpose: it must not keep the database.
		if _, err := pgx.Connect(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	})
	_, err := pgx.Connect(t.Context(), url)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != "3D000" {
		t.Errorf("connecting to the database of an ended test: %v, want that there is none", err)
	}
}

func TestDurableServerRecovers(t *testing.T) {
	s := pgtest.Start(t, pgtest.Options{
		Durable:  true,
		Settings: map[string]string{"application_name": "it's ours"},
	})
	url := s.NewDatabase(t)
	conn := connect(t, url)
	for setting, want := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "application_name": "it's ours",
	} {
		if got := ask[string](t, conn, "SHOW "+setting); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
	exec(t, conn, "CREATE TABLE kept AS SELECT 42 AS n")

	for _, mode := range []pgtest.Mode{pgtest.Immediate, pgtest.Fast} {
		s.Stop(t, mode)
		if err := conn.Ping(t.Context()); err == nil {
			t.Errorf("%s: a stopped server answers", mode)
		}
		s.Start(t)
		conn = connect(t, url)
		if got := ask[int](t, conn, "SELECT n FROM kept"); got != 42 {
			t.Errorf("%s: read %d, want 42", mode, got)
		}
	}
}
