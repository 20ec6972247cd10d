package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// style is how MySQL and MariaDB read SQL with the settings of a connection.
var style = database.SQLStyle{
	Backslash: true, Strings: true, Hash: true, Conditional: true, Parameters: "?", First: []string{"select", "with", "values", "table"},
	Denied: []string{
		"load_file", "sleep", "benchmark", "get_lock", "release_lock", "release_all_locks", "nextval", "setval", "lastval", "last_insert_id", "master_pos_wait", "master_gtid_wait",
		"source_pos_wait", "wait_for_executed_gtid_set", "wait_until_sql_thread_after_gtids", "sys_eval", "sys_exec", "sys_get", "sys_set", "lib_mysqludf_*", "xpath_udf", "service_*",
	},
}

// unsafe are privileges on all databases with which a user may do more than read tables.
var unsafe = []string{
	"ALL PRIVILEGES", "SUPER", "FILE", "PROCESS", "RELOAD", "SHUTDOWN", "CREATE USER", "SYSTEM_USER", "SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN", "CONNECTION_ADMIN",
	"FEDERATED ADMIN", "READ_ONLY ADMIN", "READ ONLY ADMIN", "SET USER", "SET_USER_ID", "BINLOG ADMIN", "CONNECTION ADMIN", "REPLICATION SLAVE ADMIN",
}

// globalGrant is a line of SHOW GRANTS with privileges on all databases.
var globalGrant = regexp.MustCompile(`(?i)^GRANT (.+) ON \*\.\* TO `)

// SQLTable describes the rows of a statement that a user wrote.
func (s *server) SQLTable(ctx context.Context, v feedmill.SQLView, rules feedmill.Rules) (database.Table, error) {
	text, err := style.Check(v.SQL)
	if err != nil {
		return nil, err
	}
	t := &table{server: s}
	t.View, t.Rules, t.OfSQL, t.SQL.Select = v.Name, rules, v.ID, text
	if err := t.session(ctx, t.describeSQL); err != nil {
		return nil, err
	}
	return t, nil
}

// session is read for a table. SQL that a user wrote can leave locks and variables behind, so its
// connection is closed afterwards, and its time is bounded here, too.
func (t *table) session(ctx context.Context, fn func(context.Context, *session) error) error {
	if !t.SQL.HasSelect() {
		return t.read(ctx, t.View, func(c *session) error { return fn(ctx, c) })
	}
	const grace = 5 * time.Second
	// What takes the rows goes on after the statement, so only the time ends the context.
	bounded, cancel := context.WithCancelCause(ctx)
	defer time.AfterFunc(t.Timeout+grace, func() { cancel(database.TookTooLong(t.View, t.Timeout, nil)) }).Stop()
	return t.read(bounded, t.View, func(c *session) error {
		c.private = true
		return fn(bounded, c)
	})
}

// describeSQL checks the statement and finds its columns.
func (t *table) describeSQL(ctx context.Context, c *session) error {
	grants := "SHOW GRANTS"
	if !c.mariaDB {
		// MySQL shows the privileges of active roles only on request.
		err := c.each(ctx, "SELECT CURRENT_ROLE()", nil, func(row []driver.Value) error {
			if roles := text(row[0]); roles != "" && roles != "NONE" {
				grants = "SHOW GRANTS FOR CURRENT_USER() USING " + roles
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := c.each(ctx, grants, nil, func(row []driver.Value) error {
		grant := globalGrant.FindStringSubmatch(text(row[0]))
		if grant == nil {
			return nil
		}
		for privilege := range strings.SplitSeq(grant[1], ",") {
			if privilege = strings.ToUpper(strings.TrimSpace(privilege)); slices.Contains(unsafe, privilege) {
				return database.UnsafeUser(t.User, "has the privilege "+privilege+" on all databases")
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.Raw(func(raw any) error {
		// Alone, it must be one statement.
		alone, err := raw.(driver.ConnPrepareContext).PrepareContext(ctx, t.SQL.Select)
		if err != nil {
			return err
		}
		_ = alone.Close()
		prepared, err := raw.(driver.ConnPrepareContext).PrepareContext(ctx, "SELECT * FROM (\n"+t.SQL.Select+"\n) AS v LIMIT 0")
		if err != nil {
			return err
		}
		defer prepared.Close()
		rows, err := prepared.(driver.StmtQueryContext).QueryContext(ctx, nil)
		if err != nil {
			return err
		}
		t.addFields(rows)
		err = rows.Next(make([]driver.Value, len(rows.Columns())))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		return rows.Close()
	})
	if refused, ok := errors.AsType[*mysqldriver.MySQLError](err); ok && ctx.Err() == nil {
		switch problem(refused.Number) {
		case database.ProblemTimeout, database.ProblemUnreachable, database.ProblemCredential:
			return err
		}
		return database.RefusedSQL(t.SQL.Select, t.Said(refused.Message), -1, err)
	}
	if err != nil {
		return err
	}
	var names []string
	for _, f := range t.Found {
		names = append(names, f.Name)
	}
	t.SetPushdown()
	return database.UniqueNames(names, true)
}

// addFields adds columns by what the server says of them.
func (t *table) addFields(rows driver.Rows) {
	for i, name := range rows.Columns() {
		kind := strings.ToLower(rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i))
		n := native{name: name, full: kind, nullable: true}
		n.kind = strings.TrimPrefix(kind, "unsigned ")
		switch n.kind {
		case "decimal":
			n.precision, n.scale, _ = rows.(driver.RowsColumnTypePrecisionScale).ColumnTypePrecisionScale(i)
			n.precision++ // the server counts one digit less where there is no sign
		case "bit":
			n.precision = 64 // the server does not say how many
		}
		t.add(n)
	}
}
