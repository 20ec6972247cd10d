package duckdb

import (
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// tooManyDigits is the message of a sum with more digits than a decimal has.
const tooManyDigits = "a sum has more than 38 digits"

// Checked is an expression of which the SQL is given. A sum of decimals fails where it has more
// digits than a decimal; DuckDB would return them in a type that cannot hold them.
func Checked(e query.Expression, sql string) string {
	c := e.Column.Column
	if e.Aggregate != feedmill.AggregateSum || c.Type != columnar.TypeDecimal || c.Precision <= columnar.NarrowDigits || c.Precision > columnar.WideDigits {
		return sql
	}
	most := strings.Repeat("9", columnar.WideDigits-c.Scale) + "." + strings.Repeat("9", c.Scale)
	return fmt.Sprintf("CASE WHEN abs(%s) <= CAST('%s' AS DECIMAL(%d,%d)) THEN %s WHEN %s IS NOT NULL THEN error('%s') END", sql, most, columnar.WideDigits, c.Scale, sql, sql, tooManyDigits)
}

// IsSumOverflow reports whether a message of DuckDB is about a sum, or a running sum, with more digits
// than a decimal has.
func IsSumOverflow(message string) bool {
	return strings.Contains(message, tooManyDigits) || strings.Contains(message, "Overflow in HUGEINT addition")
}
