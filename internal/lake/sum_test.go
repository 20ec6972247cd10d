package lake

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// A number has the same sum in whatever type it is written, and another one has another, also where only the upper digits
// of a wide one differ.
func TestSumsOfNumbers(t *testing.T) {
	sum := func(v columnar.Vector) string {
		s := newSummer([]feedmill.Column{{ID: "c1"}})
		v.Len = 1
		s.add([]columnar.Vector{v})
		return s.String()
	}
	five := sum(columnar.Vector{Type: columnar.TypeInteger, Ints: []int64{5}})
	for name, v := range map[string]columnar.Vector{
		"a decimal":      {Type: columnar.TypeDecimal, Ints: []int64{500}, Precision: 5, Scale: 2},
		"a wide decimal": {Type: columnar.TypeDecimal, Wide: []columnar.Int128{columnar.Int128Of(50)}, Precision: 30, Scale: 1},
	} {
		if got := sum(v); got != five {
			t.Errorf("%s is %s, and an integer %s", name, got, five)
		}
	}
	seen := map[string]string{five: "five"}
	for name, v := range map[string]columnar.Vector{
		"minus five":   {Type: columnar.TypeInteger, Ints: []int64{-5}},
		"half of one":  {Type: columnar.TypeDecimal, Ints: []int64{5}, Precision: 5, Scale: 1},
		"a day":        {Type: columnar.TypeDate, Ints: []int64{5}},
		"nothing":      {Type: columnar.TypeInteger, Ints: []int64{5}, Valid: []uint64{0}},
		"wide":         {Type: columnar.TypeDecimal, Wide: []columnar.Int128{{Hi: 1, Lo: 5}}, Precision: 38},
		"wider":        {Type: columnar.TypeDecimal, Wide: []columnar.Int128{{Hi: 1 << 60, Lo: 5}}, Precision: 38},
		"wide, scaled": {Type: columnar.TypeDecimal, Wide: []columnar.Int128{{Hi: 1, Lo: 5}}, Precision: 38, Scale: 1},
	} {
		got := sum(v)
		if other, known := seen[got]; known {
			t.Errorf("%s has the sum of %s", name, other)
		}
		seen[got] = name
	}
}

// The sums of rows are kept with their files, so that those of today have to be those of the files that there are.
func TestSumsStayTheSame(t *testing.T) {
	s := newSummer([]feedmill.Column{{ID: "c1"}, {ID: "c2"}, {ID: "c3"}, {ID: "c4"}, {ID: "c5"}})
	for range 3 {
		s.add([]columnar.Vector{
			{Type: columnar.TypeInteger, Len: 3, Ints: []int64{1, -7, 1 << 62}, Valid: []uint64{5}},
			{Type: columnar.TypeDecimal, Len: 3, Ints: []int64{-1200, 5, 0}, Precision: 9, Scale: 3},
			{Type: columnar.TypeDecimal, Len: 3, Wide: []columnar.Int128{{Hi: -3, Lo: 40}, {Lo: 700}, {Hi: 9, Lo: 1}}, Precision: 38, Scale: 4},
			{Type: columnar.TypeNumber, Len: 3, Floats: []float64{0.5, -2e300, 0}},
			{Type: columnar.TypeText, Len: 3, Bytes: []byte("abçd"), Offsets: []uint32{0, 2, 2, 5}},
		})
	}
	if got, want := s.String(), "2:174924e342c8f932142a6994cb7d9f49"; got != want {
		t.Errorf("the sum is %s and was %s", got, want)
	}
}

// Texts of every length up to those that are hashed as they are have hashes of their own, and so have those that differ in
// one character anywhere.
func TestSumsOfTexts(t *testing.T) {
	word, seen := newWordHash(7), make(map[uint64]string)
	note := func(text string) {
		h := word.text([]byte(text), sumText)
		if other, known := seen[h]; known {
			t.Errorf("%q has the hash of %q", text, other)
		}
		seen[h] = text
	}
	for n := range 20 {
		text := strings.Repeat("a", n)
		note(text)
		for i := range n {
			for _, c := range []byte("\x00b\xff") {
				other := []byte(text)
				other[i] = c
				note(string(other))
			}
		}
	}
	if word.text([]byte("a"), sumText) == word.text([]byte("a"), sumJSON) {
		t.Error("a text is JSON")
	}
}

// Columns of texts are hashed as single texts are, of every length and at both ends of their bytes, and nulls add nothing.
func TestSumsOfColumnsOfTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		v := columnar.Vector{Type: columnar.TypeText, Len: 1 + random.IntN(70), Offsets: []uint32{0}}
		if round%2 == 1 {
			v.Valid = []uint64{random.Uint64(), random.Uint64()}
		}
		for range v.Len {
			for range random.IntN(20) {
				v.Bytes = append(v.Bytes, byte(random.UintN(256)))
			}
			v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
		}
		word, hashes := newWordHash(random.Uint64()), make([]uint64, v.Len)
		word.addTexts(hashes, &v, sumText)
		for i, got := range hashes {
			text, want := v.Bytes[v.Offsets[i]:v.Offsets[i+1]], uint64(0)
			if !v.Null(i) {
				want = word.text(text, sumText)
			}
			if got != want {
				t.Fatalf("row %d, %q: the hash is %x, and %x for the text alone", i, text, got, want)
			}
		}
	}
}
