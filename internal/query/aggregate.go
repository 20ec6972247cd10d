package query

import (
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Aggregates lists the aggregates that a column of a type can have.
func Aggregates(t columnar.Type) []feedmill.Aggregate {
	return slices.DeleteFunc(slices.Clone(feedmill.Aggregates), func(fn feedmill.Aggregate) bool { return !slices.Contains(aggregates[fn], t) })
}

// aggregates has the types of columns that each aggregate can be made of. None
// counts nulls, and without any value each is null but count and countDistinct,
// which are 0.
var aggregates = map[feedmill.Aggregate][]columnar.Type{
	feedmill.AggregateSum:           numeric,
	feedmill.AggregateAvg:           numeric,
	feedmill.AggregateMin:           equatable,
	feedmill.AggregateMax:           equatable,
	feedmill.AggregateCount:         columnar.Types,
	feedmill.AggregateCountDistinct: equatable,
}
