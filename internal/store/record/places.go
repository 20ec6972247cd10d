package record

import (
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// placesOf are the places in a statement for a list of ids, of which there must be
// one, and its values with those that stand before them. The last id may be there
// several times: a few lengths of the list make few statements to prepare.
func placesOf(ids []feedmill.ID, values []any) (places string, all []any) {
	var list []string
	for n := 1; len(list) < len(ids); n *= 2 {
		for len(list) < n {
			values = append(values, ids[min(len(list), len(ids)-1)])
			list = append(list, "?"+strconv.Itoa(len(values)))
		}
	}
	return strings.Join(list, ", "), values
}
