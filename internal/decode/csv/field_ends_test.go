package csv

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// Fields end where a scan of single bytes finds it, with the instructions of this processor
// and without them, whatever the data, its length and where it lies in memory.
func TestFieldEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []byte("ab,,;\t\n\n\"\"\x00\x7f\x80\xac\xff")
	room := make([]byte, 32<<10)
	for round := range 3000 {
		quoted := round%3 > 0
		d := Dialect{Delimiter: []byte(",;\t")[random.IntN(3)], Newline: '\n'}
		if round%3 < 2 {
			d.Quote = '"'
		}
		if quoted && d.Quote == 0 {
			d.Quote = '\''
		}
		n := random.IntN(300)
		if round%10 == 0 {
			n = random.IntN(len(room) - 64) // more than one step of the faster scan
		}
		data := room[random.IntN(64):][:n]
		sparse := random.IntN(40)
		for i := range data {
			if data[i] = 'x'; random.IntN(sparse+1) == 0 {
				data[i] = alphabet[random.IntN(len(alphabet))]
			}
		}
		before := []uint32{7, 9}
		want, open := slices.Clone(before), false
		for i, c := range data {
			if quoted && c == d.Quote {
				open = !open
			}
			if !open && (c == d.Delimiter || c == d.Newline) {
				want = append(want, uint32(i))
			}
		}
		kept := bytes.Clone(data)
		if got := d.fieldEnds(data, quoted, slices.Clone(before)); !slices.Equal(got, want) {
			t.Fatalf("%q in %+v, quoted %v: the fields end at %d, and they should at %d", data, d, quoted, got, want)
		}
		if got := d.portableFieldEnds(data, 0, quoted, 0, slices.Clone(before)); !slices.Equal(got, want) {
			t.Fatalf("%q in %+v, quoted %v: without instructions of the processor the fields end at %d, and they should at %d", data, d, quoted, got, want)
		}
		if !bytes.Equal(data, kept) {
			t.Fatalf("%q was changed", kept)
		}
	}
}

// BenchmarkFieldEnds finds the fields of a block.
func BenchmarkFieldEnds(b *testing.B) {
	data := benchTable()[:512<<10]
	d := Dialect{Delimiter: ',', Newline: '\n', Quote: '"'}
	var ends []uint32
	b.Run("any processor", func(b *testing.B) {
		measure(b, len(data), func() { ends = d.portableFieldEnds(data, 0, true, 0, ends[:0]) })
	})
	b.Run("this processor", func(b *testing.B) {
		measure(b, len(data), func() { ends = d.fieldEnds(data, true, ends[:0]) })
	})
}
