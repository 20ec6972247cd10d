package parquet

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// encodings writes one column and says in which encodings its chunks are.
func encodings(t *testing.T, c feedmill.Column, o Options, blocks ...columnar.Vector) [][]parquet.Encoding {
	t.Helper()
	in := table{columns: []feedmill.Column{c}}
	for _, v := range blocks {
		in.blocks = append(in.blocks, []columnar.Vector{v})
	}
	b := write(t, in, o)
	compare(t, in, b)
	r, err := pqfile.NewParquetReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out [][]parquet.Encoding
	for g := range r.NumRowGroups() {
		chunk, err := r.MetaData().RowGroup(g).ColumnChunk(0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, chunk.Encodings())
	}
	return out
}

func TestEncodingFollowsValues(t *testing.T) {
	few, rising, unique := 0, 1, 2
	for _, test := range []struct {
		name   string
		column columnar.Type
		kind   int
		want   parquet.Encoding
	}{
		{"few integers", columnar.TypeInteger, few, parquet.Encodings.RLEDict},
		{"rising integers", columnar.TypeInteger, rising, parquet.Encodings.DeltaBinaryPacked},
		{"any integers", columnar.TypeInteger, unique, parquet.Encodings.DeltaBinaryPacked},
		{"few days", columnar.TypeDate, few, parquet.Encodings.RLEDict},
		{"any days", columnar.TypeDate, unique, parquet.Encodings.DeltaBinaryPacked},
		{"few texts", columnar.TypeText, few, parquet.Encodings.RLEDict},
		{"unique texts", columnar.TypeText, unique, parquet.Encodings.DeltaLengthByteArray},
		{"numbers", columnar.TypeNumber, few, parquet.Encodings.Plain},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := feedmill.Column{Name: "c", Type: test.column}
			v := makeVector(c, 10_000, test.kind, &noise{3})
			if got := encodings(t, c, Options{}, v)[0]; got[1] != test.want {
				t.Errorf("written as %v, want %v", got, test.want)
			}
		})
	}
}

func TestUselessDictionaryIsRemembered(t *testing.T) {
	c := feedmill.Column{Name: "c", Type: columnar.TypeText}
	unique, few := makeVector(c, 5000, 2, &noise{1}), makeVector(c, 5000, 0, &noise{1})
	for i, want := range []parquet.Encoding{parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaLengthByteArray} {
		if got := encodings(t, c, Options{GroupRows: 5000}, unique, few)[i]; got[1] != want {
			t.Errorf("group %d is written as %v, want %v", i, got, want)
		}
	}
	for i, want := range []parquet.Encoding{parquet.Encodings.RLEDict, parquet.Encodings.DeltaLengthByteArray} {
		if got := encodings(t, c, Options{GroupRows: 5000}, few, unique)[i]; got[1] != want {
			t.Errorf("group %d is written as %v, want %v", i, got, want)
		}
	}
}

func TestStatisticsBoundTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("a\x7f\u00ff\ud7ff\U0010ffff"))), 1, 20).Draw(t, "texts")
		for i := range texts {
			for range rapid.IntRange(0, 5).Draw(t, "doublings") {
				texts[i] += texts[i]
			}
		}
		stats := textBounds(len(texts), func(i int) []byte { return []byte(texts[i]) })
		least, most := slices.Min(texts), slices.Max(texts)
		if !utf8.Valid(stats.min) || !utf8.Valid(stats.max) {
			t.Errorf("%q and %q are not both text", stats.min, stats.max)
		}
		if string(stats.min) > least || stats.exactMin != (string(stats.min) == least) {
			t.Errorf("the least of all is %q, the bound %q, exact: %v", least, stats.min, stats.exactMin)
		}
		if stats.max == nil && most[0] < 0xf4 {
			t.Errorf("%q has no bound", most)
		}
		if stats.max != nil && (string(stats.max) < most || stats.exactMax != (string(stats.max) == most)) {
			t.Errorf("the greatest of all is %q, the bound %q, exact: %v", most, stats.max, stats.exactMax)
		}
	})
}

func TestStatisticsOfNumbers(t *testing.T) {
	zero := math.Copysign(0, -1)
	for _, test := range []struct {
		name     string
		values   []float64
		min, max float64
		none     bool
	}{
		{"plain", []float64{1, -2, 3}, -2, 3, false},
		{"both zeros", []float64{0}, zero, 0, false},
		{"below zero", []float64{zero}, zero, 0, false},
		{"infinite", []float64{math.Inf(1), math.Inf(-1)}, math.Inf(-1), math.Inf(1), false},
		{"not a number", []float64{1, math.NaN()}, 0, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &encoder{scratch: scratch{floats: test.values, rows: len(test.values), count: len(test.values)}}
			stats := e.layoutFloats().stats
			if test.none {
				if stats.min != nil || stats.max != nil {
					t.Errorf("bounds %v and %v", stats.min, stats.max)
				}
				return
			}
			if got := float(stats.min); got != math.Float64bits(test.min) {
				t.Errorf("min is %x", got)
			}
			if got := float(stats.max); got != math.Float64bits(test.max) {
				t.Errorf("max is %x", got)
			}
		})
	}
}

func float(b []byte) (v uint64) {
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}
