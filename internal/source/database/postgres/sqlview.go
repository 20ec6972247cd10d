package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// style is how PostgreSQL reads SQL. The functions are those with an effect that the end of the
// transaction does not undo, those that run SQL in a text, and those that change what later
// statements of the transaction may do.
var style = database.SQLStyle{
	Dollar: true, Returns: true, Nested: true, First: []string{"select", "with", "values", "table"},
	Denied: []string{
		"set_config", "pg_sleep*", "nextval", "setval", "pg_notify", "pg_advisory_*", "pg_try_advisory_*", "lo_*", "loread", "lowrite",
		"pg_cancel_backend", "pg_terminate_backend", "pg_reload_conf", "pg_rotate_logfile*", "pg_logfile_rotate", "pg_logical_*", "pg_replication_*",
		"pg_create_*", "pg_drop_replication_slot", "pg_copy_*_slot", "pg_switch_wal", "pg_export_snapshot", "pg_stat_reset*", "pg_log_*", "pg_promote", "pg_wal_replay_*",
		"pg_backup_*", "pg_start_backup", "pg_stop_backup", "pg_read_*", "pg_ls_*", "pg_stat_file", "pg_file_*", "pg_current_logfile", "pg_import_system_collations",
		"pg_extension_config_dump", "dblink*", "postgres_fdw_*", "query_to_xml*", "cursor_to_xml*", "ts_stat", "ts_rewrite", "crosstab*", "connectby",
		"brin_*", "gin_clean_pending_list", "pg_prewarm", "pg_restore_*", "pg_clear_*",
	},
}

// selectUnsafe finds why a user must not run SQL of others: what it, or a role that it can become,
// may do besides reading tables.
const selectUnsafe = `
WITH roles AS (SELECT oid, rolname, rolsuper, rolreplication FROM pg_catalog.pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER') OR pg_has_role(current_user, oid, 'MEMBER'))
SELECT 'is a superuser, or can become the superuser ' || quote_ident(rolname) FROM roles WHERE rolsuper
UNION ALL SELECT 'has the attribute REPLICATION' FROM roles WHERE rolreplication
UNION ALL SELECT 'is a member of ' || rolname FROM roles
WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription', 'rds_superuser', 'cloudsqlsuperuser', 'azure_pg_admin')
UNION ALL SELECT 'can call ' || p.proname
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace CROSS JOIN roles r
WHERE (p.proname IN ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import', 'lo_export', 'pg_reload_conf', 'pg_rotate_logfile',
                     'http_get', 'http_post', 'http_put', 'http_patch', 'http_delete', 'http_head', 'pg_background_launch', 'curl_easy_perform')
       OR p.proname LIKE 'dblink%' OR p.proname LIKE 'pg\_file\_%')
      AND has_schema_privilege(r.oid, n.oid, 'USAGE') AND has_function_privilege(r.oid, p.oid, 'EXECUTE')
UNION ALL SELECT 'can use the foreign data wrapper ' || w.fdwname
FROM pg_catalog.pg_foreign_data_wrapper w JOIN pg_catalog.pg_proc p ON p.oid = w.fdwhandler CROSS JOIN roles r
WHERE p.proname = 'file_fdw_handler' AND has_foreign_data_wrapper_privilege(r.oid, w.oid, 'USAGE')
LIMIT 1`

// SQLTable describes the rows of a statement that a user wrote.
func (s *server) SQLTable(ctx context.Context, v feedmill.SQLView, rules feedmill.Rules) (database.Table, error) {
	text, err := style.Check(v.SQL)
	if err != nil {
		return nil, err
	}
	t := &table{server: s}
	t.View, t.Rules, t.OfSQL, t.SQL.Select = v.Name, rules, v.ID, text
	err = t.session(ctx, func(ctx context.Context, conn *pgx.Conn) error { return t.describeSQL(ctx, conn) })
	if err != nil {
		return nil, err
	}
	return t, nil
}

// session is read for a table. SQL that a user wrote can leave locks and settings behind, so its
// connection is closed afterwards, and its time is bounded here, too.
func (t *table) session(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	if !t.SQL.HasSelect() {
		return t.read(ctx, func(conn *pgx.Conn) error { return fn(ctx, conn) })
	}
	const grace = 5 * time.Second
	// What takes the rows goes on after the statement, so only the time ends the context.
	bounded, cancel := context.WithCancelCause(ctx)
	defer time.AfterFunc(t.Timeout+grace, func() { cancel(database.TookTooLong(t.View, t.Timeout, nil)) }).Stop()
	return t.read(bounded, func(conn *pgx.Conn) error {
		err := fn(bounded, conn)
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer stop()
		_ = conn.Close(end) // nothing is left of it
		return err
	})
}

// describeSQL checks the statement and finds its columns.
func (t *table) describeSQL(ctx context.Context, conn *pgx.Conn) error {
	var why string
	switch err := conn.QueryRow(ctx, selectUnsafe).Scan(&why); {
	case err == nil:
		return database.UnsafeUser(t.User, why)
	case !errors.Is(err, pgx.ErrNoRows):
		return t.failure(ctx, err, "")
	}
	if err := conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int4 >= 140000, current_setting('server_encoding') = 'UTF8'`).Scan(&t.SQL.Infinity, &t.SQL.UTF8); err != nil {
		return t.failure(ctx, err, "")
	}
	// Alone, it must be one statement that returns rows.
	alone, err := conn.PgConn().Prepare(ctx, "", t.SQL.Select, nil)
	if err != nil {
		return t.sqlFailure(ctx, err, 0)
	}
	if len(alone.Fields) == 0 {
		return database.WrongSQL("sql must return columns.", nil)
	}
	const before = "SELECT * FROM (\n"
	result := conn.PgConn().ExecParams(ctx, before+t.SQL.Select+"\n) AS v LIMIT 0", nil, nil, nil, binaryFormat)
	for result.NextRow() { // which there is none of
	}
	fields := slices.Clone(result.FieldDescriptions())
	if _, err := result.Close(); err != nil {
		return t.sqlFailure(ctx, err, len(before))
	}
	names := func(fields []pgconn.FieldDescription) (all []string) {
		for _, f := range fields {
			all = append(all, f.Name)
		}
		return all
	}
	if !slices.Equal(names(alone.Fields), names(fields)) {
		return database.WrongSQL("sql must be a statement that can be part of another one.", nil)
	}
	if err := database.UniqueNames(names(alone.Fields), false); err != nil {
		return err
	}
	return t.addFields(ctx, conn, fields)
}

// sqlFailure is the failure of SQL that a user wrote, which begins after some characters of the
// statement.
func (t *table) sqlFailure(ctx context.Context, err error, before int) error {
	failure := t.failure(ctx, err, t.View)
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || ctx.Err() != nil {
		return failure
	}
	switch problem(refused.Code) {
	case database.ProblemTimeout, database.ProblemUnreachable, database.ProblemCredential:
		return failure
	}
	return database.RefusedSQL(t.SQL.Select, t.Said(refused.Message), int(refused.Position)-1-before, err)
}

// addFields adds columns by what the server says of them. It names the types below domains.
func (t *table) addFields(ctx context.Context, conn *pgx.Conn, fields []pgconn.FieldDescription) error {
	var values []string
	for i, f := range fields {
		values = append(values, fmt.Sprintf("(%d, %d::oid, %d)", i, f.DataTypeOID, f.TypeModifier))
	}
	rows, err := conn.Query(ctx, `
SELECT f.nr, format_type(t.oid, f.modifier), t.oid, t.typname::text, t.typtype::text, t.typcategory::text, ARRAY(SELECT e.enumlabel::text FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder)
FROM (VALUES `+strings.Join(values, ", ")+`) AS f (nr, type, modifier) JOIN pg_catalog.pg_type t ON t.oid = f.type ORDER BY f.nr`)
	if err != nil {
		return t.failure(ctx, err, t.View)
	}
	defer rows.Close()
	for rows.Next() {
		var nr int
		// Which collation a text has is not known, so equal ones can differ.
		c := native{loose: true}
		if err := rows.Scan(&nr, &c.shown, &c.oid, &c.typeName, &c.kind, &c.category, &c.labels); err != nil {
			return t.failure(ctx, err, t.View)
		}
		c.name, c.modifier = fields[nr].Name, fields[nr].TypeModifier
		t.add(c)
	}
	if err := rows.Err(); err != nil {
		return t.failure(ctx, err, t.View)
	}
	if len(t.Found) != len(fields) {
		return database.WrongSQL("sql returns a column of a type that is not known.", nil)
	}
	t.SetPushdown()
	return nil
}
