package duckdb

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/source/database"
)

// table is a view as it was described.
type table struct {
	*file
	database.Described[dialect.Table, *dialect.Table]
	// guardText is what the guard says while the columns are the same.
	guardText string
	// guards are those of all views of a join, nil for one view.
	guards []guard
}

// guard is a query for the columns of a view in one text, and that text.
type guard struct{ sql, text string }

// Join returns the view with another joined to it.
func (t *table) Join(first, as string, other database.Table) database.Table {
	joined := *t
	joined.Described = t.JoinWith(first, as, &other.(*table).Described)
	joined.guards = append(slices.Clip(t.allGuards()), other.(*table).allGuards()...)
	return &joined
}

// describeFrom is a view's columns as they are now: what a view was declared with
// says nothing of the tables below it.
func (t *table) describeFrom() string {
	if t.SQL.Select != "" {
		return "(DESCRIBE SELECT * FROM " + t.SQL.From() + ")"
	}
	return "(DESCRIBE " + t.SQL.From() + ")"
}

// allGuards are the guards of all views of the table.
func (t *table) allGuards() []guard {
	if t.guards != nil {
		return t.guards
	}
	return []guard{{"SELECT string_agg(column_name || ' ' || column_type, chr(10)) FROM " + t.describeFrom(), t.guardText}}
}

// guard is a query for the columns in one text, and that text.
func (t *table) guard() (sql, text string) {
	all := t.allGuards()
	if len(all) == 1 {
		return all[0].sql, all[0].text
	}
	var parts, texts []string
	for _, g := range all {
		parts, texts = append(parts, "("+g.sql+")"), append(texts, g.text)
	}
	return "SELECT " + strings.Join(parts, " || chr(10) || "), strings.Join(texts, "\n")
}

// describe finds the columns.
func (t *table) describe(ctx context.Context) error {
	rows, err := t.texts(ctx, t.View, `SELECT d.column_name, d.column_type, CAST(coalesce(c.is_nullable, true) AS VARCHAR), coalesce(c.comment, '')
FROM (SELECT *, row_number() OVER () AS nr FROM `+t.describeFrom()+`) d LEFT JOIN (SELECT * FROM duckdb_columns() WHERE database_name = '`+dialect.Attached+`' AND schema_name = $1 AND table_name = $2) c
ON c.column_name = d.column_name ORDER BY d.nr`, 4, t.SQL.Schema, t.SQL.Name)
	if err != nil {
		return err
	}
	var described []string
	for _, row := range rows {
		t.add(row[0], row[1], row[2] == "true", row[3])
		described = append(described, row[0]+" "+row[1])
	}
	if len(t.Found) == 0 {
		return database.Fail(database.ProblemView, fmt.Sprintf("The view %q has no readable columns.", t.View), nil)
	}
	t.guardText = strings.Join(described, "\n")
	t.SetPushdown()
	return nil
}

// add takes a column.
func (t *table) add(name, native string, nullable bool, comment string) {
	f := database.Field{Native: native, Label: database.FirstLine(comment)}
	f.Name, f.SourceName, f.Nullable, f.Description = name, name, nullable, database.Said(comment)
	var kind dialect.Kind
	f.Type, kind = typeOf(native)
	if t.Rules < feedmill.RulesCurrent {
		kind = firstKind(kind)
	}
	switch {
	case kind == dialect.Decimal:
		found := decimal.FindStringSubmatch(native)
		f.Precision, _ = strconv.Atoi(found[1])
		f.Scale, _ = strconv.Atoi(found[2])
	case kind == dialect.Huge || kind == dialect.UnsignedHuge:
		f.Precision = hugeDigits
	case kind == dialect.Unsigned:
		f.Precision = columnar.WideDigits
		if native == "UBIGINT" {
			f.Precision = 20
		}
	case kind == dialect.Bytes:
		f.Format = "base64"
	case kind == dialect.TimestampTZ:
		f.Zoned = true
	case native == "TIMESTAMP_NS":
		t.Warn(len(t.Found), feedmill.Warning{
			Code: feedmill.WarnDigits, Column: name, Count: 1,
			Detail: "The column has nanoseconds, but a timestamp stores microseconds, so times were truncated. Cast the column to text in a view to keep all digits.",
		})
	}
	t.Found = append(t.Found, f)
	t.SQL.Columns = append(t.SQL.Columns, dialect.Column{Name: name, Kind: kind})
}

// firstKind is what the first rules take a kind for.
func firstKind(k dialect.Kind) dialect.Kind {
	switch k {
	case dialect.Real:
		return dialect.Float
	case dialect.UnsignedHuge:
		return dialect.Unsigned
	}
	return k
}

// hugeDigits is how many digits a HUGEINT or UHUGEINT can have, which are more than those of a decimal.
const hugeDigits = 39

var decimal = regexp.MustCompile(`^DECIMAL\((\d+),(\d+)\)$`)

var kinds = map[string]struct {
	columnar.Type
	dialect.Kind
}{
	"BOOLEAN": {columnar.TypeBoolean, dialect.Boolean},
	"TINYINT": {columnar.TypeInteger, dialect.Integer}, "SMALLINT": {columnar.TypeInteger, dialect.Integer},
	"INTEGER": {columnar.TypeInteger, dialect.Integer}, "BIGINT": {columnar.TypeInteger, dialect.Integer},
	"UTINYINT": {columnar.TypeInteger, dialect.Integer}, "USMALLINT": {columnar.TypeInteger, dialect.Integer},
	"UINTEGER": {columnar.TypeInteger, dialect.Integer},
	"UBIGINT":  {columnar.TypeDecimal, dialect.Unsigned}, "HUGEINT": {columnar.TypeDecimal, dialect.Huge}, "UHUGEINT": {columnar.TypeDecimal, dialect.UnsignedHuge},
	"FLOAT": {columnar.TypeNumber, dialect.Real}, "DOUBLE": {columnar.TypeNumber, dialect.Float},
	"VARCHAR": {columnar.TypeText, dialect.Text}, "BLOB": {columnar.TypeText, dialect.Bytes}, "JSON": {columnar.TypeJSON, dialect.JSON},
	"DATE": {columnar.TypeDate, dialect.Date}, "TIMESTAMP": {columnar.TypeTimestamp, dialect.Timestamp},
	"TIMESTAMP_S": {columnar.TypeTimestamp, dialect.OtherTime}, "TIMESTAMP_MS": {columnar.TypeTimestamp, dialect.OtherTime},
	"TIMESTAMP_NS":             {columnar.TypeTimestamp, dialect.OtherTime},
	"TIMESTAMP WITH TIME ZONE": {columnar.TypeTimestamp, dialect.TimestampTZ},
}

// typeOf is the type of a column that DuckDB calls so. What has parts is JSON, and
// what there is no type for is text, as DuckDB writes it.
func typeOf(native string) (columnar.Type, dialect.Kind) {
	if k, ok := kinds[native]; ok {
		return k.Type, k.Kind
	}
	switch {
	case decimal.MatchString(native):
		return columnar.TypeDecimal, dialect.Decimal
	case strings.HasSuffix(native, "]"), strings.HasPrefix(native, "STRUCT("), strings.HasPrefix(native, "MAP("), strings.HasPrefix(native, "UNION("):
		return columnar.TypeJSON, dialect.ToJSON
	case strings.HasPrefix(native, "VARCHAR"):
		return columnar.TypeText, dialect.Text
	}
	return columnar.TypeText, dialect.Cast
}
