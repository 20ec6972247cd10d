package typed

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/internal/columnar"
)

// Texts that are copied at once are the same as texts that are written one by one, which words of a
// dictionary are.
func TestTextsAtOnce(t *testing.T) {
	pieces := []string{"", "a", "text", "é", "\xc3", "\xa9", "漢", "\xe6\xbc", "\xa2", "\xff", "0123456789"}
	copied := 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		known := pieces
		if seed%2 == 0 {
			known = []string{"", "a", "text", "é", "漢"}
		}
		nulls := random.IntN(2) == 0
		var bytes []byte
		offsets := []int32{0}
		valid := make([]byte, 8)
		rows := 1 + random.IntN(60)
		words := array.NewStringBuilder(memory.DefaultAllocator)
		places := array.NewInt32Builder(memory.DefaultAllocator)
		for i := range rows {
			text := ""
			for range random.IntN(3) {
				text += known[random.IntN(len(known))]
			}
			isNull := nulls && random.IntN(4) == 0
			if isNull && random.IntN(8) > 0 {
				text = "" // else there is something below a null
			}
			bytes = append(bytes, text...)
			offsets = append(offsets, int32(len(bytes)))
			words.Append(text)
			if isNull {
				places.AppendNull()
			} else {
				valid[i/8] |= 1 << (i % 8)
				places.Append(int32(i))
			}
		}
		buffers := []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(bytes)}
		plain := array.NewStringData(array.NewData(arrow.BinaryTypes.String, rows, buffers, nil, array.UnknownNullCount, 0))
		dictionary := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, places.NewArray(), words.NewArray())
		from := random.IntN(rows)
		to := from + 1 + random.IntN(rows-from)
		room := 1000
		if random.IntN(8) == 0 {
			room = random.IntN(40)
		}
		var vectors [2]columnar.Vector
		var counts [2]counted
		var failures [2]error
		for k, values := range []arrow.Array{plain, dictionary} {
			c, err := newColumn(newField(of(values.DataType())))
			if err != nil {
				t.Fatal(err)
			}
			c.room = room
			failures[k] = c.vector(&vectors[k], array.NewSlice(values, int64(from), int64(to)))
			counts[k] = c.counted
		}
		if failures[0] != failures[1] || failures[0] == nil && !sameTexts(&vectors[0], &vectors[1]) || counts[0] != counts[1] {
			t.Fatalf("seed %d: %v and %v\n%s", seed, failures[0], failures[1], cmp.Diff(vectors[1], vectors[0]))
		}
		v := columnar.Vector{Len: rows}
		if takeTexts(&column{room: room}, &v, plain) {
			copied++
		}
	}
	if copied < 500 {
		t.Errorf("only %d of 2000 arrays were copied", copied)
	}
}

func sameTexts(a, b *columnar.Vector) bool {
	if a.Len != b.Len {
		return false
	}
	for i := range a.Len {
		if a.Null(i) != b.Null(i) || string(a.Text(i)) != string(b.Text(i)) {
			return false
		}
	}
	return true
}
