package lake

import (
	"fmt"
	"io"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/parquet"
	"github.com/feedmill/feedmill/internal/query"
)

// IsResult reports whether the only file of a version, as it lies, is what a query gives
// as Parquet: all rows and columns in their order, under the names that they have now.
func (v *Version) IsResult(q feedmill.Query, file io.ReaderAt, size int64) (bool, error) {
	tree, faults := query.Resolve(q, v.Columns)
	if err := faults.Err(); err != nil {
		return false, fmt.Errorf("read version: %w", err)
	}
	if len(tree.Where) > 0 || len(tree.Sort) > 0 || tree.Grouped() || tree.Limit > 0 || tree.Offset > 0 {
		return false, nil
	}
	return parquet.HasColumns(file, size, tree.Columns())
}

// Stored is the name of the file that has all rows of the version with the columns of the
// version, empty where there is none.
func (v *Version) Stored() string {
	if v.source != "" || len(v.Files) != 1 || v.Files[0].Columns != nil {
		return ""
	}
	return v.Files[0].Name
}
