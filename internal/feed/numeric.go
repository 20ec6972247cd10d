package feed

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// ordering are the operators that mean something else for texts than for numbers.
var ordering = []feedmill.FilterOp{feedmill.OpGt, feedmill.OpGte, feedmill.OpLt, feedmill.OpLte, feedmill.OpBetween}

// refuseNumericText refuses to compare numbers as texts: "9" is after "10", and nobody
// who asks for what is greater means that.
func (m *Mill) refuseNumericText(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query) error {
	var faults feedmill.Faults
	for _, c := range q.Where {
		at := slices.IndexFunc(v.Columns, func(column feedmill.Column) bool { return column.Name == c.Name })
		if at < 0 || v.Columns[at].Type != columnar.TypeText {
			continue
		}
		for i, f := range c.Filters {
			if !slices.Contains(ordering, f.Op) {
				continue
			}
			numeric, err := m.Reader.Numeric(ctx, lakeVersion(v), at)
			if err != nil {
				return err
			}
			if !numeric {
				break
			}
			place := c.Place
			if place.Parameter == "" {
				place.Pointer += "/filters/" + strconv.Itoa(i)
			}
			place.Detail = fmt.Sprintf(`column %q is text and all of its values are numbers, so %s would compare them as text ("9" is after "10"). Set a numeric type first: PATCH /data_feeds/%s/columns with [{"id":%q,"type":"decimal"}]`,
				c.Name, f.Op, v.Feed, v.Columns[at].ID)
			faults.Add(place)
		}
	}
	return faults.Refusal()
}
