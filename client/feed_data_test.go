package client_test

import (
	"encoding/json"
	"testing"

	"github.com/feedmill/feedmill/client"
)

func TestQueryFields(t *testing.T) {
	for want, field := range map[string]client.QueryField{
		`{"field":"a"}`: {Field: "a"},
		`{"field":"a","as":"b","aggregate":"min","filters":[{"op":"isNull"}]}`: {
			Field: "a", As: "b", Aggregate: "min", Filters: []client.QueryFilter{{Op: "isNull"}},
		},
		`{"field":"a","filterOption":"any","aggregate":[{"fn":"min","as":"low"},{"fn":"max","as":"high"}]}`: {
			Field: "a", FilterOption: "any", Aggregates: []client.QueryAggregate{{Fn: "min", As: "low"}, {Fn: "max", As: "high"}},
		},
	} {
		got, err := json.Marshal(client.DataQuery{Fields: []client.QueryField{field}})
		if err != nil || string(got) != `{"fields":[`+want+`]}` {
			t.Errorf("%s: %v, want %s", got, err, want)
		}
	}
}
