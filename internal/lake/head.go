package lake

import (
	"context"
	"io"
	"math/bits"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query"
)

const (
	// coldBytes is from which size of a file on its first rows are read without the rest of it.
	coldBytes = 1 << 20
	// leastHead is for how many rows an extract is made at least, so that pages of several sizes
	// share it.
	leastHead = 1024
)

// head returns the columns of the only file of a version that the first page of a query needs, and
// at least how many of its rows. It returns no rows for what has to be read from whole files.
func (v *Version) head(t *query.Tree) (columns []int, rows int64) {
	if v.source != "" || len(v.Files) != 1 || v.Files[0].Columns != nil || v.Files[0].Bytes < coldBytes || v.isLarge() || v.apart() {
		return nil, 0
	}
	if t.Limit <= 0 || t.Offset > 0 || t.Grouped() || len(t.Where) > 0 || len(t.Having) > 0 || len(t.Sort) > 0 || len(t.Joins) > 0 {
		return nil, 0
	}
	if t.Limit > v.Rows/4 {
		return nil, 0
	}
	// One row more than the limit tells whether there is a next page.
	rows = max(leastHead, int64(1)<<bits.Len64(uint64(t.Limit)))
	for _, o := range t.Outputs {
		columns = append(columns, o.Column.Index)
	}
	if len(t.Formulas.List) > 0 {
		columns = nil
		for i := range v.Columns {
			columns = append(columns, i)
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns), rows
}

// readHead reads the first page of a query from an extract of its file, if the file is not on the
// local disk. ok is false if the whole file is needed, and also if reading the extract failed before
// anything was written.
func (r *Reader) readHead(ctx context.Context, v *Version, t *query.Tree, q feedmill.Query, format wire.Format, out io.Writer) (end wire.End, ok bool, err error) {
	columns, rows := v.head(t)
	if rows == 0 {
		return end, false, nil
	}
	lease, ok, err := r.blobs.LeaseHead(ctx, v.Files[0].Name, v.Files[0].Bytes, columns, rows)
	if err != nil {
		return end, true, Elsewhere(err)
	}
	if !ok {
		return end, false, nil
	}
	defer lease.Release()
	short := *v
	short.Files = slices.Clone(v.Files)
	short.Files[0].Name = "head/" + v.Files[0].Name // for the worker it is another file
	request, err := Plan(&short, "", q, format, nil)
	if err != nil {
		return end, true, err
	}
	request.Files = lentFiles(short.Files)
	head := &Reader{blobs: extracted{r.blobs, lease}, pool: r.pool}
	first := &watched{Writer: out}
	end, err = head.runRequest(ctx, request, first)
	return end, err == nil || first.written || ctx.Err() != nil, err
}

// extracted has an extract in place of its file.
type extracted struct {
	Blobs
	lease feedmill.FileLease
}

func (e extracted) Lease(context.Context, string) (feedmill.FileLease, error) {
	return feedmill.FileLease{Path: e.lease.Path, Release: func() {}}, nil
}
