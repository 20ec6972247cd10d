package lake

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill/internal/columnar"
)

// plainNumber is how numbers are written, without zeros before them as codes have
// them.
const plainNumber = `\s*[-+]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}([,. ''][0-9]{3})+)([.,][0-9]+)?([eE][-+]?[0-9]+)?\s*`

// Numeric reports whether a column of text has values, and nothing but numbers. One that has not is
// mostly found out at its first row.
func (r *Reader) Numeric(ctx context.Context, v *Version, column int) (bool, error) {
	if v.Rows == 0 || v.Columns[column].Type != columnar.TypeText {
		return false, nil
	}
	s, err := r.side(ctx, v, v.Columns)
	if err != nil {
		return false, err
	}
	first := func(holds string) (int64, error) {
		return r.number(ctx, "SELECT nr FROM "+s.from+" WHERE "+holds+" LIMIT 1", s)
	}
	other, err := first(fmt.Sprintf("%s IS NOT NULL AND NOT regexp_full_match(%s, '%s')", s.columns[column], s.columns[column], plainNumber))
	if err != nil || other >= 0 {
		return false, err
	}
	some, err := first(s.columns[column] + " IS NOT NULL")
	return some >= 0, err
}
