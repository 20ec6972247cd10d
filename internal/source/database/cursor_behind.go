package database

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// warnBehind warns where the greatest value of the incremental field is below the position: its row was
// deleted, or the source counts from the beginning again, and new rows may be below the position too.
func (d *definition) warnBehind(ctx context.Context, table Table, columns []feedmill.Column, done Done) ([]feedmill.Warning, error) {
	since := d.query.Since
	if since == nil || since.From == "" || done.Latest != "" || done.Ahead > 0 {
		return nil, nil // a row that is at the position comes again
	}
	q := d.query
	q.Fields, q.Sort, q.Since, q.Limit, q.Offset = []feedmill.Field{{Name: since.Field, Aggregate: feedmill.AggregateMax}}, nil, nil, 0, 0
	tree, faults := query.Resolve(q, columns)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	var greatest oneValue
	if _, err := Run(ctx, table, tree, &greatest); err != nil || greatest == "" {
		return nil, err
	}
	return []feedmill.Warning{{Code: feedmill.WarnCursorBehind, Column: since.Field, Count: 1, Detail: fmt.Sprintf(
		"The greatest value of %s is %s, below the position %s of the last refresh. Rows below the position are not fetched. If the source counts from the beginning again, change the query (PATCH) to fetch all rows.", since.Field, string(greatest), since.From)}}, nil
}

// oneValue takes a result of one value, as text, and is empty for null.
type oneValue string

func (*oneValue) Columns(context.Context, []feedmill.Column) error { return nil }

func (v *oneValue) Rows(_ context.Context, run []columnar.Vector) error {
	if run[0].Len > 0 && !run[0].Null(0) {
		*v = oneValue(valueText(&run[0], 0))
	}
	return nil
}
