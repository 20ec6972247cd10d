package database

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// warnMultiplied warns of joins in which rows have several matches. It counts them only if the
// joined view has equal values in the fields that it is joined on.
func (d *definition) warnMultiplied(ctx context.Context, tree *query.Tree) (warnings []feedmill.Warning, err error) {
	for i := range tree.Joins {
		repeated, err := d.joined.repeats(ctx, tree, i)
		if err != nil {
			return nil, err
		}
		if !repeated {
			continue
		}
		matched, err := d.joined.count(ctx, tree, i, true)
		if err != nil {
			return nil, err
		}
		rows, err := d.joined.count(ctx, tree, i, false)
		if err != nil {
			return nil, err
		}
		if rows > matched && matched > 0 {
			as := d.query.Joins[i].As
			warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnMultiplied, Count: rows - matched, Detail: fmt.Sprintf(
				"The join %s multiplies rows: %d rows with a match became %d, a factor of %s. Sums and counts of other views include their rows several times. Join on fields that are unique in %s, or query a view that aggregates it.",
				as, matched, rows, factor(rows, matched), as)})
		}
	}
	return warnings, nil
}

// factor writes a quotient with up to four decimal places.
func factor(rows, matched int64) string {
	text := big.NewRat(rows, matched).FloatString(4)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// repeats reports whether the view of a join has equal values in the fields that it is joined on.
func (j *joined) repeats(ctx context.Context, tree *query.Tree, join int) (bool, error) {
	groups := &query.Tree{Limit: 1}
	for _, p := range tree.Joins[join].On {
		c := query.Column{Column: p.Right.Column, Index: p.Right.Index - j.ends[join]}
		groups.Outputs = append(groups.Outputs, query.Output{Expression: query.Expression{Column: c}, Name: c.Name})
		groups.Where = append(groups.Where, query.Not{Predicate: query.IsNull{Column: c}})
	}
	count := query.Derive(query.Expression{Column: groups.Outputs[0].Column, Aggregate: feedmill.AggregateCount})
	groups.Having = query.All{query.Compare{Column: count, Comparison: query.Greater, Value: big.NewRat(1, 1)}}
	done, err := j.tables[join].Read(ctx, groups, nowhere{})
	return done.Rows > 0, err
}

// count counts the rows of a join that have a match: after the join, or each once. Filters apply
// that are about the views before it.
func (j *joined) count(ctx context.Context, tree *query.Tree, join int, once bool) (int64, error) {
	last := tree.Joins[join]
	last.Kind, last.Exists = feedmill.JoinInner, once
	counted := &query.Tree{Joins: append(slices.Clone(tree.Joins[:join]), last), Where: tree.WhereBefore(j.ends[join])}
	left := last.On[0].Left
	counted.Outputs = []query.Output{{Expression: query.Expression{Column: left, Aggregate: feedmill.AggregateCount}, Name: "rows"}}
	var n number
	_, err := j.steps[join].Read(ctx, counted, &n)
	return int64(n), err
}

// number takes the only value of a result.
type number int64

func (*number) Columns(context.Context, []feedmill.Column) error { return nil }

// Rows takes the row.
func (n *number) Rows(_ context.Context, run []columnar.Vector) error {
	*n = number(run[0].Ints[0])
	return nil
}
