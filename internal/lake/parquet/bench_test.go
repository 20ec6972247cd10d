package parquet

import (
	"fmt"
	"io"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// BenchmarkWriter writes a table of mixed columns. MB/s counts the values in memory.
func BenchmarkWriter(b *testing.B) {
	const blocks, rows = 12, 40_000
	columns, kinds := mixed()
	var in [][]columnar.Vector
	size := 0
	for n := range blocks {
		block := make([]columnar.Vector, len(columns))
		for i, c := range columns {
			block[i] = makeVector(c, rows, kinds[i], &noise{uint64(n*100 + i)})
		}
		size += piece{block: block, to: rows}.bytes()
		in = append(in, block)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		w, err := NewWriter(io.Discard, columns, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, block := range in {
			if err := w.Append(b.Context(), block); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(w.file.offset)/float64(size), "ratio")
	}
	b.ReportMetric(float64(blocks*rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkColumn(b *testing.B) {
	columns, kinds := mixed()
	for i, c := range columns {
		b.Run(c.Name, func(b *testing.B) {
			v := makeVector(c, 122_880, kinds[i], &noise{7})
			p := []piece{{block: []columnar.Vector{v}, to: v.Len}}
			e, err := newEncoder()
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(p[0].bytes()))
			var dst []byte
			for b.Loop() {
				if dst, _, err = e.chunk(dst[:0], p, 0, &c, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// mixed is what a feed of orders may look like.
func mixed() (columns []feedmill.Column, kinds []int) {
	for _, c := range []struct {
		kind columnar.Type
		of   int
	}{
		{columnar.TypeInteger, 1},
		{columnar.TypeInteger, 0},
		{columnar.TypeInteger, 2},
		{columnar.TypeText, 0},
		{columnar.TypeText, 2},
		{columnar.TypeText, 3},
		{columnar.TypeDecimal, 2},
		{columnar.TypeNumber, 2},
		{columnar.TypeBoolean, 2},
		{columnar.TypeDate, 0},
		{columnar.TypeTimestamp, 1},
		{columnar.TypeTimestamp, 2},
	} {
		column := feedmill.Column{Name: fmt.Sprintf("%s%d", c.kind, c.of), Type: c.kind}
		if c.kind == columnar.TypeDecimal {
			column.Precision, column.Scale = 12, 2
		}
		columns, kinds = append(columns, column), append(kinds, c.of)
	}
	return columns, kinds
}
