package lake

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// widened is a column of a version as one of another type in SQL. It reports
// false where values could be lost by it.
func widened(from, to *feedmill.Column, sql string) (string, bool) {
	as := func(kind string) string { return "CAST(" + sql + " AS " + kind + ")" }
	exact := from.Type == columnar.TypeInteger || from.Type == columnar.TypeDecimal
	switch {
	case from.Type == to.Type && from.Precision == to.Precision && from.Scale == to.Scale:
		return sql, true
	case exact && to.Type == columnar.TypeDecimal:
		// Digits before the point that do not fit fail in the worker.
		return as(duckdb.ColumnType(to)), from.Scale <= to.Scale
	case from.Type == columnar.TypeDate && to.Type == columnar.TypeTimestamp:
		return as("TIMESTAMPTZ"), true
	case to.Type == columnar.TypeText:
		return asText(from, sql), true
	case to.Type == columnar.TypeJSON && (exact || from.Type == columnar.TypeBoolean):
		return asText(from, sql), true
	case to.Type == columnar.TypeJSON:
		// As a string, unless it is a number that JSON can write.
		text := asText(from, sql)
		quoted := "CAST(to_json(" + text + ") AS VARCHAR)"
		if from.Type == columnar.TypeNumber {
			quoted = "CASE WHEN isfinite(" + sql + ") THEN " + text + " ELSE " + quoted + " END"
		}
		return quoted, true
	}
	return "", false
}

// asText is the values of a column as text in SQL, written as rows are shown.
func asText(c *feedmill.Column, sql string) string {
	as := func(kind string) string { return "CAST(" + sql + " AS " + kind + ")" }
	switch c.Type {
	case columnar.TypeDecimal:
		// A decimal without digits before the point has a zero there.
		return "regexp_replace(" + as("VARCHAR") + `, '^(-?)\.', '\10.')`
	case columnar.TypeNumber:
		return "regexp_replace(" + as("VARCHAR") + `, '\.0$', '')`
	case columnar.TypeTimestamp:
		// RFC 3339, with three or six digits of the second where there are some.
		micros := "date_part('microsecond', " + sql + ") % 1000000"
		return "strftime(" + as("TIMESTAMP") + ", '%Y-%m-%dT%H:%M:%S') || CASE WHEN " + micros + " = 0 THEN '' WHEN " + micros +
			" % 1000 = 0 THEN strftime(" + as("TIMESTAMP") + ", '.%g') ELSE strftime(" + as("TIMESTAMP") + ", '.%f') END || 'Z'"
	}
	return as("VARCHAR")
}
