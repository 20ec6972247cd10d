package postgres

import (
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// overflowing writes a sum or an average that can be beyond the range of a number, which is then
// infinite: PostgreSQL would fail.
func overflowing(e query.Expression, column string) string {
	if query.IsOpen(e.Column.Column) {
		return strings.ReplaceAll("CASE WHEN abs(sum(?)) > 1.7976931348623157e308 THEN CAST('Infinity' AS float8) ELSE CAST(sum(?) AS float8) / count(?) END", "?", column)
	}
	// Where a value is near the end of the range, all are divided by 2^64 before they are added
	// up, so that no running sum is beyond it. Values that would become 0 by that are too small to matter then.
	const scaled = "sum(? * 5.421010862427522e-20) FILTER (WHERE abs(?) > 1e-280)"
	sum := "CASE WHEN abs(" + scaled + ") > 9.745314011399998e288 THEN CAST('Infinity' AS float8)" +
		" WHEN max(abs(?)) >= 1e290 THEN " + scaled + " * 1.8446744073709552e19" +
		" ELSE sum(?) FILTER (WHERE abs(?) < 1e290) END"
	if e.Aggregate == feedmill.AggregateAvg {
		sum = "(" + sum + ") / count(?)"
	}
	return strings.ReplaceAll(sum, "?", column)
}
