package query

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readComputed reads the computed fields of a query.
func readComputed(o *strictjson.Object) (all []feedmill.Computed) {
	for _, item := range readObjects(o, "computed", feedmill.MaxComputed) {
		c := feedmill.Computed{Place: feedmill.Fault{Pointer: item.Pointer}}
		if v, ok := item.Need("name"); ok {
			c.Name, _ = v.Label(feedmill.MaxNameLen)
		}
		if v, ok := item.Need("expression"); ok {
			if c.Expression, ok = v.Text(); ok && len(c.Expression) > feedmill.MaxComputedBytes {
				v.Fault(fmt.Sprintf("expression can have up to %d bytes; it has %d.", feedmill.MaxComputedBytes, len(c.Expression)))
			}
		}
		item.RefuseUnknown()
		all = append(all, c)
	}
	return all
}
