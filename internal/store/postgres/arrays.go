package postgres

import (
	"fmt"
	"strings"
)

// arrays is a subquery with a row for each place of arrays, which are the first
// parameters of a statement: a column is a name and a type, as in "id text". All
// arrays must have the same length.
//
// They are unnested side by side in its list of results. In FROM, the server would put each
// value of each array into a store of that array's own first, which takes several
// times as long.
func arrays(columns ...string) string {
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		columns[i] = fmt.Sprintf("unnest($%d::%s[]) AS %s", i+1, kind, name)
	}
	return "(SELECT " + strings.Join(columns, ", ") + ")"
}
