package lake

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// A worker that compares versions by joins holds the rows that differ, and cannot where they have
// megabytes. Of large rows the numbers are found first, and the rows are then read some at a time.

// changedPair is a row that differs, by its numbers in the versions: -1 where it is not in one.
type changedPair struct{ old, new, bytes int64 }

// sourcePart is a part of what SQL selects the rows of a version from, and the number behind its
// last row.
type sourcePart struct {
	sql string
	end int64
}

// changedParts are the parts of the changes between versions with large rows, or nil where there
// are too many rows.
func (r *Reader) changedParts(ctx context.Context, c *Comparison, d *difference) ([]sourcePart, error) {
	request := wire.Request{SQL: d.pairs(), Names: []string{"o", "n", "size"}, Format: wire.FormatArrow, Files: d.files}
	var pairs []changedPair
	for batch, err := range r.batches(ctx, request) {
		if err != nil {
			return nil, err
		}
		olds, isOld := batch.Column(0).(*array.Int64)
		news, isNew := batch.Column(1).(*array.Int64)
		sizes, isSize := batch.Column(2).(*array.Int64)
		if !isOld || !isNew || !isSize {
			return nil, fmt.Errorf("numbers of rows are %s, %s and %s", batch.Column(0).DataType(), batch.Column(1).DataType(), batch.Column(2).DataType())
		}
		for i := range int(batch.NumRows()) {
			pair := changedPair{-1, -1, sizes.Value(i)}
			if !olds.IsNull(i) {
				pair.old = olds.Value(i)
			}
			if !news.IsNull(i) {
				pair.new = news.Value(i)
			}
			pairs = append(pairs, pair)
		}
		if len(pairs) > sortedRows {
			return nil, nil
		}
	}
	var parts []sourcePart
	for from := 0; from < len(pairs) || from == 0; {
		to, size := from, int64(0)
		for to < len(pairs) && to-from < sortedBatch && (to == from || size+pairs[to].bytes <= sortedBytes) {
			size += pairs[to].bytes
			to++
		}
		parts = append(parts, sourcePart{c.part(d, pairs[from:to], from), int64(to)})
		from = max(to, 1)
	}
	return parts, nil
}

// part is what SQL selects some changes from, the first of which has a number.
func (c *Comparison) part(d *difference, pairs []changedPair, first int) string {
	var olds, news []int64
	values := make([]string, len(pairs))
	for i, pair := range pairs {
		o, n := "NULL", "NULL"
		if pair.old >= 0 {
			o, olds = strconv.FormatInt(pair.old, 10), append(olds, pair.old)
		}
		if pair.new >= 0 {
			n, news = strconv.FormatInt(pair.new, 10), append(news, pair.new)
		}
		values[i] = "(CAST(" + o + " AS BIGINT), CAST(" + n + " AS BIGINT))"
	}
	some := *d
	some.old, some.new = d.old.only(c.Old, olds), d.new.only(c.New, news)
	some.different = "d(o, n) AS MATERIALIZED (SELECT CAST(NULL AS BIGINT), CAST(NULL AS BIGINT) WHERE false)"
	if len(values) > 0 {
		some.different = "d(o, n) AS MATERIALIZED (VALUES " + strings.Join(values, ", ") + ")"
	}
	return fmt.Sprintf("(SELECT *, row_number() OVER () - 1 + %d FROM (%s)) AS t(%s)", first, some.rows(), strings.Join(append(numbered("c", len(d.columns)+2), "nr"), ", "))
}

// only is the side with the rows of some numbers of the version that it is of.
func (s *side) only(v *Version, rows []int64) *side {
	some := *s
	if len(rows) == 0 {
		some.version, some.columns = &Version{}, make([]string, len(s.columns))
		return &some
	}
	some.from = v.scanRows("", rows)
	return &some
}

// pairs selects the numbers of the rows that differ, in the order of the changes, and about how many
// bytes a worker holds of each.
func (d *difference) pairs() string {
	if d.different != "" {
		return "WITH " + d.different + " SELECT o, n, size FROM d ORDER BY n NULLS FIRST, o"
	}
	all := strings.Join(append(numbered("v", len(d.columns)), "size"), ", ")
	counted := "SELECT max(size) AS size, sum(step) AS times, CASE WHEN sum(step) > 0 THEN min(nr) FILTER (WHERE step > 0) ELSE min(nr) FILTER (WHERE step < 0) END AS nr FROM (SELECT *, 1 AS step FROM " + d.summed(d.new) +
		" UNION ALL SELECT *, -1 FROM " + d.summed(d.old) + ") GROUP BY " + all + " HAVING sum(step) <> 0"
	return "SELECT CASE WHEN times < 0 THEN nr END, CASE WHEN times > 0 THEN nr END, CAST(size AS BIGINT) FROM (SELECT *, unnest(range(CAST(abs(times) AS BIGINT))) FROM (" + counted + ")) ORDER BY times > 0, nr"
}

// summed selects the values of a side, with SHA-256 sums in place of texts, and the bytes of the texts.
func (d *difference) summed(s *side) string {
	var selected []string
	for i, c := range d.columns {
		sql := fmt.Sprintf("v%d", i)
		if c.Type == columnar.TypeText || c.Type == columnar.TypeJSON {
			sql = fmt.Sprintf("sha256(CAST(v%d AS VARCHAR)) AS v%d", i, i)
		}
		selected = append(selected, sql)
	}
	return "(SELECT " + strings.Join(append(selected, d.size()+" AS size", "nr"), ", ") + " FROM " + d.rowsOf(s) + ")"
}

// size is how many bytes the texts of a row have, in SQL.
func (d *difference) size() string {
	sql := "0"
	for i, c := range d.columns {
		if c.Type == columnar.TypeText || c.Type == columnar.TypeJSON {
			sql += fmt.Sprintf(" + coalesce(strlen(CAST(v%d AS VARCHAR)), 0)", i)
		}
	}
	return sql
}
