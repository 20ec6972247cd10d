package lake

import (
	"context"
	"iter"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Texts reads all rows of a version in their order, with every value as the text by which
// rows are shown.
func (r *Reader) Texts(ctx context.Context, v *Version) iter.Seq2[[]columnar.Vector, error] {
	texts := slices.Clone(v.Columns)
	for i := range texts {
		texts[i].Type, texts[i].Precision, texts[i].Scale = columnar.TypeText, 0, 0
	}
	side, err := r.side(ctx, v, texts)
	if err != nil {
		return func(yield func([]columnar.Vector, error) bool) { yield(nil, err) }
	}
	return r.rows(ctx, side, texts)
}

// MustConvert reports whether values of one column cannot be made those of the other
// without looking at each.
func MustConvert(from, to *feedmill.Column) bool {
	_, exact := widened(from, to, "")
	return !exact
}
