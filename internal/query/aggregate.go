package query

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

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
