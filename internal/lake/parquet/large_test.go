package parquet

import (
	"bytes"
	"context"
	"strings"
	"testing"

	pqfile "github.com/apache/arrow-go/v18/parquet/file"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// largeTexts is a table of one row a block, whose texts have so many bytes.
func largeTexts(sizes ...int) table {
	in := table{columns: []feedmill.Column{{Name: "t", Type: columnar.TypeText}, {Name: "u", Type: columnar.TypeText}}}
	for i, size := range sizes {
		text := []byte(strings.Repeat(string(rune('a'+i%26)), size))
		v := columnar.Vector{Type: columnar.TypeText, Len: 1, Offsets: []uint32{0, uint32(size)}, Bytes: text}
		in.blocks = append(in.blocks, []columnar.Vector{v, v})
	}
	return in
}

// Groups of large rows end by their bytes, wherever the blocks end, and rows that are larger than
// a group have one of their own.
func TestGroupsOfLargeRows(t *testing.T) {
	const kilo, mega = 1 << 10, 1 << 20
	sizes := []int{3 * mega, 3 * mega, 3 * mega, 100 * kilo, 12 * mega, kilo, 10, 5 * mega, 60 * kilo, 70 * kilo, 30 * kilo}
	for range 20 {
		sizes = append(sizes, 700*kilo)
	}
	in := largeTexts(sizes...)
	file := write(t, in, Options{})
	compare(t, in, file)

	var whole columnar.Vector
	for _, b := range in.blocks {
		whole.Bytes = append(whole.Bytes, b[0].Bytes...)
		whole.Offsets = append(whole.Offsets, uint32(len(whole.Bytes)))
	}
	whole.Type, whole.Len, whole.Offsets = columnar.TypeText, len(sizes), append([]uint32{0}, whole.Offsets...)
	one := table{columns: in.columns, blocks: [][]columnar.Vector{{whole, whole}}}
	if !bytes.Equal(write(t, one, Options{}), file) {
		t.Error("one block of all rows gives another file")
	}

	r, err := pqfile.NewParquetReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for i := range r.NumRowGroups() {
		size, rows := 0, int(r.MetaData().RowGroup(i).NumRows())
		for _, n := range sizes[row : row+rows] {
			size += 2 * n
		}
		if row += rows; rows > 1 && size > 20*mega {
			t.Errorf("group %d has %d rows of %d bytes", i, rows, size)
		}
	}
	if n := r.NumRowGroups(); n < 10 {
		t.Errorf("%d groups", n)
	}
}

// Between two cuts there is one group, or little.
func TestCuts(t *testing.T) {
	cuts := func(in table) []int64 {
		var out bytes.Buffer
		w, err := NewWriter(&out, in.columns, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for _, b := range in.blocks {
			if err := w.Append(context.Background(), b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		return w.Cuts()
	}
	const mega = 1 << 20
	sizes := []int{9 * mega, 20, 9 * mega, mega, mega, mega, mega, mega, mega}
	got := cuts(largeTexts(sizes...))
	if len(got) < 2 {
		t.Errorf("cuts at %v", got)
	}
	from := int64(0)
	for _, to := range append(got, int64(len(sizes))) {
		size := 0
		for _, n := range sizes[from:to] {
			size += 2 * n
		}
		if to <= from || to-from > 2 && size > 12*mega {
			t.Errorf("%d bytes from row %d to %d", size, from, to)
		}
		from = to
	}
	if got := cuts(largeTexts(make([]int, 500)...)); got != nil {
		t.Errorf("small rows are cut at %v", got)
	}
}
