package lake

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
)

// Join writes the rows of a version's files from one on to one file, as a version of its
// own.
func (r *Reader) Join(ctx context.Context, name string, v *Version, first int) (Version, error) {
	part := versionOf(name, v.Columns, v.Files[first:])
	s, err := r.side(ctx, &part, v.Columns)
	if err != nil {
		return Version{}, fmt.Errorf("join files: %w", err)
	}
	joined, err := Write(ctx, r.blobs, name, feedmill.TypedTable{Columns: v.Columns, Runs: r.rows(ctx, s, v.Columns)})
	if err != nil {
		return Version{}, fmt.Errorf("join files: %w", err)
	}
	if part.ContentHash != "" && part.ContentHash != joined.ContentHash {
		return Version{}, fmt.Errorf("join files: the rows of %s differ from those of the files it was built from", name)
	}
	return joined, nil
}

// FileIn is the only file of a version as one of a version with other columns; false
// where that cannot read it as it lies.
func (v *Version) FileIn(columns []feedmill.Column) (feedmill.VersionFile, bool) {
	return v.as(v.Files[0], columns), reads(v.Columns, columns)
}
