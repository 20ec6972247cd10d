package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// do runs statements on a database.
func do(ctx context.Context, driver, address string, statements ...string) (err error) {
	db, err := sql.Open(driver, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.60s: %w", s, err)
		}
	}
	return nil
}

func openPostgres(ctx context.Context, r *rig.Rig, rows int) (*source, error) {
	address, err := r.SourceDatabase(ctx)
	if err != nil {
		return nil, err
	}
	err = do(ctx, "pgx", address, fmt.Sprintf(`CREATE TABLE orders AS SELECT n AS id, (n * 7919 %% 50000)::int AS customer, (ARRAY['paid', 'open', 'sent', 'returned'])[n %% 4 + 1] AS status,
		'Customer ' || n %% 50000 AS name, CASE WHEN n %% 3 > 0 THEN md5(n::text) END AS note, (n %% 1000000)::numeric(12,2) / 100 * 1.00::numeric(12,2) AS amount,
		n / 7.0::float8 AS price, n %% 2 = 0 AS paid, DATE '2020-01-01' + (n %% 2000)::int AS day, TIMESTAMPTZ '2020-01-01 00:00:00Z' + n * INTERVAL '1 second' AS placed
		FROM generate_series(1::bigint, %d) n`, rows), `ALTER TABLE orders ALTER amount TYPE numeric(12,2)`, `VACUUM ANALYZE orders`)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return nil, err
	}
	return &source{
		connector: "postgres",
		config:    map[string]any{"host": u.Hostname(), "port": port, "database": strings.TrimPrefix(u.Path, "/"), "user": u.User.Username(), "sslmode": "disable"},
		export: func(ctx context.Context, file string) *exec.Cmd {
			return exec.CommandContext(ctx, "psql", address, "-qc", `\copy orders TO '`+file+`'`)
		},
		close: func() {},
	}, nil
}

func openMariaDB(ctx context.Context, _ *rig.Rig, rows int) (*source, error) {
	server, err := databasetest.StartMariaDB("--character-set-server=utf8mb4")
	if err != nil {
		return nil, err
	}
	err = do(ctx, "mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", server.Port), "CREATE DATABASE shop", fmt.Sprintf(`CREATE TABLE shop.orders AS SELECT CAST(seq AS SIGNED) AS id,
		CAST(seq * 7919 %% 50000 AS SIGNED) AS customer, ELT(seq %% 4 + 1, 'paid', 'open', 'sent', 'returned') AS status, CONCAT('Customer ', seq %% 50000) AS name,
		IF(seq %% 3 > 0, MD5(seq), NULL) AS note, CAST(seq %% 1000000 / 100 AS DECIMAL(12,2)) AS amount, CAST(seq / 7 AS DOUBLE) AS price, seq %% 2 AS paid,
		DATE_ADD('2020-01-01', INTERVAL seq %% 2000 DAY) AS day, DATE_ADD(TIMESTAMP '2020-01-01 00:00:00', INTERVAL seq SECOND) AS placed FROM shop.seq_1_to_%d`, rows),
		"ALTER TABLE shop.orders MODIFY paid TINYINT(1)", "CREATE USER reader@'%' IDENTIFIED BY 'none'", "GRANT SELECT ON shop.* TO reader@'%'")
	if err != nil {
		server.Close()
		return nil, err
	}
	return &source{
		connector: "mysql",
		config:    map[string]any{"host": "127.0.0.1", "port": server.Port, "database": "shop", "user": "reader", "password": "none", "tls": "off"},
		export: func(ctx context.Context, file string) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("mariadb --no-defaults -h127.0.0.1 -P%d -uroot --batch --quick shop -e 'SELECT * FROM orders' > %s", server.Port, file))
		},
		close: server.Close,
	}, nil
}

func openSQLite(ctx context.Context, r *rig.Rig, rows int) (*source, error) {
	path := filepath.Join(r.Folder(), "shop.db")
	err := do(ctx, "sqlite3", path, "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, status TEXT, name TEXT, note TEXT, amount DECIMAL(12,2), price REAL, paid BOOLEAN, day DATE, placed TIMESTAMP)",
		fmt.Sprintf(`WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) INSERT INTO orders SELECT n, n * 7919 %% 50000,
		CASE n %% 4 WHEN 0 THEN 'paid' WHEN 1 THEN 'open' WHEN 2 THEN 'sent' ELSE 'returned' END, 'Customer ' || n %% 50000, CASE WHEN n %% 3 > 0 THEN lower(hex(randomblob(16))) END,
		n %% 1000000 / 100.0, n / 7.0, n %% 2, date('2020-01-01', n %% 2000 || ' days'), datetime('2020-01-01', n || ' seconds') FROM s`, rows))
	if err != nil {
		return nil, err
	}
	return &source{
		connector: "sqlite", config: map[string]any{"path": path},
		export: func(ctx context.Context, file string) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("sqlite3 -csv %s 'SELECT * FROM orders' > %s", path, file))
		},
		close: func() {},
	}, nil
}
