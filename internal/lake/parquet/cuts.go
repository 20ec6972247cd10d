package parquet

const (
	// longRow is from how many bytes a row on, on average of a group, the rows of a file are
	// read some at a time.
	longRow = 4 << 10
	// cutBytes is how many bytes of rows are read at a time, or one group.
	cutBytes = 8 << 20
)

// Cuts returns the numbers of the rows at which a reader of the whole file starts a new query.
// Between two of them there are about 8 MiB of values, or one group. A file of short rows has none
// and is read by one query. Call Cuts after the file is closed.
func (w *Writer) Cuts() []int64 {
	var cuts []int64
	long, row, size := false, int64(0), 0
	for _, g := range w.file.groups {
		if size > 0 && size+g.memory > cutBytes {
			cuts = append(cuts, row)
			size = 0
		}
		row += int64(g.rows)
		size += g.memory
		long = long || g.memory/max(g.rows, 1) >= longRow
	}
	if !long {
		return nil
	}
	return cuts
}

// LargestRow returns how many bytes the largest row has that is too large for a group of several
// rows, or zero. Call LargestRow after the file is closed.
func (w *Writer) LargestRow() (largest int64) {
	for _, g := range w.file.groups {
		if g.memory > w.options.mostBytes() {
			largest = max(largest, int64(g.memory))
		}
	}
	return largest
}
