package worker_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// exactAggregates are those whose results have no rounding.
var exactAggregates = []feedmill.Aggregate{
	feedmill.AggregateSum, feedmill.AggregateMin, feedmill.AggregateMax, feedmill.AggregateCount, feedmill.AggregateCountDistinct,
}

// All aggregates of a column together are what a plain evaluation finds, for
// each group of the rows that a filter lets through.
func TestAggregatesAgreeWithPlainEvaluation(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, rapid.IntRange(0, 40).Draw(t, "rows"))
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		q := feedmill.Query{Now: now, WeekStart: time.Monday, Fields: []feedmill.Field{{Name: "boolean"}, {Name: "decimal"}}}
		for _, fn := range exactAggregates {
			q.Fields[1].Aggregates = append(q.Fields[1].Aggregates, feedmill.NamedAggregate{Fn: fn, As: string(fn)})
		}
		if rapid.Bool().Draw(t, "filtered") {
			q.Where = append(q.Where, drawCondition(t))
		}
		groups := make(map[string][]*big.Rat)
		for _, row := range in.rows {
			if in.passes(&q, row) {
				group := fmt.Sprint(row[in.index("boolean")])
				values := groups[group]
				if value, ok := row[in.index("decimal")].(*big.Rat); ok {
					values = append(values, value)
				}
				groups[group] = values
			}
		}
		want := make(map[string]string)
		for group, values := range groups {
			want[group] = aggregate(values)
		}
		got := make(map[string]string)
		for line := range strings.Lines(read(t, r, v, q, wire.FormatNDJSON)) {
			var row struct {
				Boolean                             any
				Sum, Min, Max, Count, CountDistinct *json.Number
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, value := range []*json.Number{row.Sum, row.Min, row.Max, row.Count, row.CountDistinct} {
				text := "null"
				if value != nil {
					exact, _ := new(big.Rat).SetString(value.String())
					text = exact.RatString()
				}
				texts = append(texts, text)
			}
			got[fmt.Sprint(row.Boolean)] = strings.Join(texts, " ")
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%+v\ngives %v, want %v", q.Where, got, want)
		}
	})
}

// aggregate writes the exact aggregates of values.
func aggregate(values []*big.Rat) string {
	if len(values) == 0 {
		return "null null null 0 0"
	}
	sum := new(big.Rat)
	distinct := make(map[string]bool)
	for _, v := range values {
		sum.Add(sum, v)
		distinct[v.RatString()] = true
	}
	least, greatest := slices.MinFunc(values, (*big.Rat).Cmp), slices.MaxFunc(values, (*big.Rat).Cmp)
	return fmt.Sprintf("%s %s %s %d %d", sum.RatString(), least.RatString(), greatest.RatString(), len(values), len(distinct))
}
