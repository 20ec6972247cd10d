package duckdb

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/source/database"
)

// style is how DuckDB reads SQL. The functions are those that read files or tell of the server; the
// process that runs them can read the file of the database and nothing else.
var style = database.SQLStyle{
	Dollar: true, Returns: true, Nested: true, Parameters: "?", First: []string{"select", "with", "values", "table", "from"},
	Denied: []string{
		"read_*", "sniff_*", "parquet_*", "glob", "iceberg_*", "delta_*", "sqlite_*", "postgres_*", "mysql_*", "st_read*", "query", "query_table", "getenv", "getvariable",
		"duckdb_settings", "duckdb_databases", "duckdb_secrets", "duckdb_extensions", "duckdb_logs*", "duckdb_temporary_files", "current_setting", "pragma_*", "nextval", "currval",
		"checkpoint", "force_checkpoint", "enable_*", "disable_*", "which_secret", "write_*", "copy_*", "test_*", "repeat_row", "arrow_scan*", "pandas_scan", "python_*", "seq_scan", "json_execute_serialized_sql",
		"from_substrait*", "load_aws_credentials", "add_parquet_key", "file_*", "summary", "icu_*", "storage_info", "truncate_duckdb_logs",
	},
}

// SQLTable describes the rows of a statement that a user wrote.
func (f *file) SQLTable(ctx context.Context, v feedmill.SQLView, rules feedmill.Rules) (database.Table, error) {
	text, err := style.Check(v.SQL)
	if err != nil {
		return nil, err
	}
	t := &table{file: f}
	t.View, t.Rules, t.OfSQL, t.SQL.Select = v.Name, rules, v.ID, text
	if err := t.describeSQL(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// again describes the view as it is now.
func (t *table) again(ctx context.Context) (database.Table, error) {
	if t.SQL.Select == "" {
		return t.Table(ctx, t.View, t.Rules)
	}
	return t.SQLTable(ctx, feedmill.SQLView{ID: t.OfSQL, Name: t.View, SQL: t.SQL.Select}, t.Rules)
}

// describeSQL has the statement compiled, alone and as a part of another one, and finds its columns.
func (t *table) describeSQL(ctx context.Context) error {
	var described []string
	for _, statement := range []string{"DESCRIBE\n" + t.SQL.Select, "DESCRIBE SELECT * FROM " + t.SQL.From()} {
		rows, err := t.describedBy(ctx, statement)
		if err != nil {
			return err
		}
		t.Found, t.SQL.Columns, t.Warnings, described = nil, nil, nil, nil
		var names []string
		for _, row := range rows {
			t.add(row[0], row[1], true, "")
			described, names = append(described, row[0]+" "+row[1]), append(names, row[0])
		}
		if err := database.UniqueNames(names, true); err != nil {
			return err
		}
	}
	t.guardText = strings.Join(described, "\n")
	t.SetPushdown()
	return nil
}

// describedBy are the names and types that a DESCRIBE returns. It has more columns, which are not
// read.
func (t *table) describedBy(ctx context.Context, describe string) ([][]string, error) {
	rows, err := t.textsOf(ctx, t.View, dialect.Statement{SQL: describe, Inside: true}, 2)
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || failure.Type != database.ProblemStatement {
		return rows, err
	}
	text := failure.Cause.Error()
	said := strings.TrimSuffix(t.shown(text), ".")
	if at := faultLine.FindStringSubmatch(text); at != nil {
		if line, err := strconv.Atoi(at[1]); err == nil && line > 1 {
			said += fmt.Sprintf(" (line %d)", line-1) // without the word before the SQL
		}
	}
	return nil, database.RefusedSQL(t.SQL.Select, said, -1, err)
}

var faultLine = regexp.MustCompile(`(?m)^LINE (\d+):`)
