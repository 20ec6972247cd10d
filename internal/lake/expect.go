package lake

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// CountNulls counts the rows of a version that lack a value in one of the columns of
// some ids.
func (r *Reader) CountNulls(ctx context.Context, v *Version, ids []string) (int64, error) {
	return r.countOver(ctx, v, ids, func(names []string) string { return "WHERE " + strings.Join(names, " IS NULL OR ") + " IS NULL" })
}

// CountRepeated counts the values in the columns of some ids that several rows of a
// version have. Nulls are no values.
func (r *Reader) CountRepeated(ctx context.Context, v *Version, ids []string) (int64, error) {
	return r.countOver(ctx, v, ids, func(names []string) string {
		return "WHERE " + strings.Join(names, " IS NOT NULL AND ") + " IS NOT NULL GROUP BY " + strings.Join(names, ", ") + " HAVING count(*) > 1"
	})
}

// countOver counts what SQL selects of the columns of some ids; none of them is not there.
func (r *Reader) countOver(ctx context.Context, v *Version, ids []string, where func(names []string) string) (n int64, err error) {
	keys := keyIndexes(v.Columns, ids)
	if keys == nil || v.Rows == 0 {
		return 0, nil
	}
	s, err := r.side(ctx, v, v.Columns)
	if err != nil {
		return 0, err
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = s.columns[key]
	}
	sql := "SELECT count(*) FROM (SELECT 1 FROM " + s.from + " " + where(names) + ")"
	for batch, err := range r.batches(ctx, wire.Request{SQL: sql, Names: []string{"n"}, Format: wire.FormatArrow, Files: s.files}) {
		if err != nil {
			return 0, fmt.Errorf("count rows: %w", err)
		}
		n = batch.Column(0).(*array.Int64).Value(0)
	}
	return n, nil
}
