package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// server is a database with its connections.
type server struct {
	database.Server
	temp      string
	pool      *sql.DB
	connector *metered
}

// Close ends the connections.
func (s *server) Close() error { return s.pool.Close() }

// session is a connection in a transaction that may only read.
type session struct {
	*sql.Conn
	mariaDB bool
	// private says that the connection is closed afterwards.
	private bool
	meterOf func(conn any) *meter
}

// read calls a function with a session. When ctx ends, the server stops to work
// for it.
func (s *server) read(ctx context.Context, view string, fn func(*session) error) error {
	conn, err := s.pool.Conn(ctx)
	if err != nil {
		return s.failure(ctx, err, view)
	}
	defer conn.Close()
	c := &session{Conn: conn, meterOf: s.connector.of}
	id, err := s.begin(ctx, c)
	if err != nil {
		return s.failure(ctx, err, view)
	}
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		s.kill(id)
	})
	err = fn(c)
	if !stop() {
		<-killed
	}
	err = s.failure(ctx, err, view)
	if err != nil || c.private {
		// It may be in the middle of an answer, and is of no use to others.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		return err
	}
	_, _ = conn.ExecContext(ctx, "ROLLBACK")
	return nil
}

// begin begins the transaction and returns the number of the connection.
func (s *server) begin(ctx context.Context, c *session) (id uint64, err error) {
	var version string
	if err := c.QueryRowContext(ctx, "SELECT CONNECTION_ID(), VERSION()").Scan(&id, &version); err != nil {
		return 0, err
	}
	limit := "SET SESSION max_execution_time = " + strconv.FormatInt(s.Timeout.Milliseconds(), 10)
	if c.mariaDB = strings.Contains(version, "MariaDB"); c.mariaDB {
		limit = "SET SESSION max_statement_time = " + strconv.FormatFloat(s.Timeout.Seconds(), 'f', 3, 64)
	}
	for _, statement := range []string{
		limit,
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"SET SESSION TRANSACTION READ ONLY",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	} {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// kill ends what a connection is doing, by another one.
func (s *server) kill(id uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := s.connector.Connect(ctx)
	if err != nil {
		return // whoever cannot connect cannot kill; the time of the query is bounded
	}
	defer conn.Close()
	if execer, ok := conn.(driver.ExecerContext); ok {
		_, _ = execer.ExecContext(ctx, "KILL QUERY "+strconv.FormatUint(id, 10), nil)
	}
}

// each runs a statement in the binary protocol and calls a function for every row,
// whose values are gone with the next one.
func (c *session) each(ctx context.Context, statement string, args []string, fn func([]driver.Value) error) error {
	gate, ctx := database.NewRowGate(ctx)
	defer gate.Close()
	return c.Raw(func(raw any) (err error) {
		m := c.meterOf(raw)
		m.restart()
		m.admit(gate)
		defer m.admit(nil)
		defer func() {
			switch {
			case err != nil && m.over():
				err = tooLarge()
			case err != nil && ctx.Err() != nil:
				err = context.Cause(ctx)
			}
		}()
		prepared, err := raw.(driver.ConnPrepareContext).PrepareContext(ctx, statement)
		if err != nil {
			return err
		}
		defer prepared.Close()
		values := make([]driver.NamedValue, len(args))
		for i, text := range args {
			values[i] = driver.NamedValue{Ordinal: i + 1, Value: text}
		}
		rows, err := prepared.(driver.StmtQueryContext).QueryContext(ctx, values)
		if err != nil {
			return err
		}
		row := make([]driver.Value, len(rows.Columns()))
		for {
			err := rows.Next(row)
			if err == nil {
				m.restart()
				err = fn(row)
				clear(row) // else it is held while the next one waits
				gate.Next()
			}
			switch {
			case errors.Is(err, io.EOF):
				return rows.Close()
			case err != nil:
				return err // the rest is not read: the connection goes
			}
		}
	})
}

// Ping asks for nothing.
func (s *server) Ping(ctx context.Context) error {
	return s.read(ctx, "", func(c *session) error { return c.PingContext(ctx) })
}

const selectViews = `SELECT TABLE_SCHEMA, TABLE_NAME, COALESCE(TABLE_SCHEMA = DATABASE(), FALSE), TABLE_TYPE, COALESCE(TABLE_COMMENT, ''), TABLE_ROWS FROM information_schema.TABLES
WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') AND TABLE_TYPE <> 'SEQUENCE'
ORDER BY COALESCE(TABLE_SCHEMA <> DATABASE(), TRUE), TABLE_SCHEMA, TABLE_NAME`

// Views lists the tables and views of all databases of the server.
func (s *server) Views(ctx context.Context) ([]database.View, error) {
	var views []database.View
	var held database.Inventory
	err := s.read(ctx, "", func(c *session) error {
		return c.each(ctx, selectViews, nil, func(row []driver.Value) error {
			v := database.View{Description: s.Said(text(row[4])), Kind: database.KindTable, RowEstimate: -1}
			isDefault, _ := integer(row[2])
			v.Name = database.ViewName(text(row[0]), text(row[1]), isDefault == 1)
			if n, ok := integer(row[5]); ok {
				v.RowEstimate = n
			}
			if strings.HasSuffix(text(row[3]), "VIEW") {
				v.Kind, v.Description, v.RowEstimate = database.KindView, "", -1 // its comment is the word VIEW
			}
			v.Label = database.FirstLine(v.Description)
			views = append(views, v)
			return held.Add(v.Name, v.Description)
		})
	})
	return views, err
}

// Table describes a view.
func (s *server) Table(ctx context.Context, view string, rules feedmill.Rules) (database.Table, error) {
	t := &table{server: s}
	t.View, t.Rules = view, rules
	if err := s.read(ctx, view, func(c *session) error { return t.describe(ctx, c) }); err != nil {
		return nil, err
	}
	if len(t.Found) > 0 {
		return t, nil
	}
	return nil, database.NotFound(ctx, s, view)
}

// text and integer are values as the binary protocol has them.
func text(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func integer(v driver.Value) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= 1<<63-1
	}
	n, err := strconv.ParseInt(text(v), 10, 64)
	return n, err == nil
}
