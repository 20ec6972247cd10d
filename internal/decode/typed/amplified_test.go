package typed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

// patched is Arrow data in which change has changed what a message says of itself. Kind is that of the
// message, of which the first is changed.
func patched(t *testing.T, data []byte, kind byte, change func(text []byte, message flatTable)) []byte {
	t.Helper()
	for at := 0; ; {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		message := flat(data[at+8 : at+8+size]).root()
		if message.byte(1) == kind {
			change(data[at+8:at+8+size], message)
			return data
		}
		at += 8 + size + int(message.long(3))
	}
}

// record is a batch of one column that is called c.
func record(values arrow.Array) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: values.DataType(), Nullable: true}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{values}, int64(values.Len()))
}

func texts(values ...string) arrow.Array {
	builder := array.NewStringBuilder(memory.DefaultAllocator)
	builder.AppendValues(values, nil)
	return builder.NewArray()
}

// words is a column of so many rows that all have the same word.
func words(word string, rows int) arrow.Array {
	places := array.NewInt32Builder(memory.DefaultAllocator)
	places.AppendValues(make([]int32, rows), nil)
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, places.NewArray(), texts(word))
}

// shared is a list of lists, to a depth, each of which has all those below it.
func shared(depth, each int) arrow.Array {
	values := arrow.Array(array.NewNull(each))
	for range depth {
		places, sizes := make([]int32, each), make([]int32, each)
		for i := range sizes {
			sizes[i] = int32(each)
		}
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(places)), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(sizes))}
		values = array.NewListViewData(array.NewData(arrow.ListViewOf(values.DataType()), each, buffers, []arrow.ArrayData{values.Data()}, 0, 0))
	}
	return values
}

// withLess makes the bounds less that take long to reach, and returns how to have them as they were.
func withLess(memory int64) (restore func()) {
	run, nested, text, least := runText, maxNested, leastText, leastMemory
	runText, maxNested, leastText, leastMemory = 1<<20, 1<<20, 2<<20, memory
	return func() { runText, maxNested, leastText, leastMemory = run, nested, text, least }
}

// TestAmplifiedArrow holds that a few bytes which claim to be much are refused, in memory that has to do with
// the bytes that are there.
func TestAmplifiedArrow(t *testing.T) {
	views := array.NewStringViewBuilder(memory.DefaultAllocator)
	views.Append(strings.Repeat("long enough for a buffer of its own ", 4))
	var fields []arrow.Field
	var columns []arrow.Array
	for i := range 400 {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.Null})
		columns = append(columns, array.NewNull(1))
	}
	fields[0].Name = strings.Repeat("n", 1<<16)
	named := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 1)
	wide := arrow.FixedSizeListOf(1<<30, arrow.Null)
	nulls := array.NewFixedSizeListData(array.NewData(wide, 1, []*memory.Buffer{nil}, []arrow.ArrayData{array.NewNull(1 << 30).Data()}, 0, 0))
	zstd := func() []byte { return writeStream(t, record(texts(strings.Repeat("x", 1<<20))), ipc.WithZstd()) }
	tests := map[string]struct {
		data []byte
		want string
	}{
		"views of more buffers than there are": {patched(t, writeStream(t, record(views.NewArray())), 3, func(text []byte, message flatTable) {
			binary.LittleEndian.PutUint64(text[message.table(2).vector(4, 8).at:], 1<<33)
		}), "out of range"},
		"one name of many fields": {patched(t, writeStream(t, named), 1, func(text []byte, message flatTable) {
			children := message.table(2).vector(1, 4)
			first := children.table(0).field(0)
			name := first + int(binary.LittleEndian.Uint32(text[first:]))
			for i := range children.n {
				at := children.table(i).field(0)
				binary.LittleEndian.PutUint32(text[at:], uint32(name-at))
			}
		}), "referenced too often"},
		"a list of nothing":         {writeStream(t, record(nulls)), "as JSON"},
		"lists that share lists":    {writeStream(t, record(shared(20, 100))), "as JSON"},
		"a word in too many rows":   {writeStream(t, record(words(strings.Repeat("w", 1<<12), 1<<13))), "too many rows"},
		"a buffer of many bytes":    {patched(t, zstd(), 3, declare(1<<40)), "Write smaller batches"},
		"a buffer of too few bytes": {patched(t, zstd(), 3, declare(1<<27)), "bytes of memory, the maximum"},
		"a window of 512 MB":        {bytes.Replace(zstd(), []byte("\x28\xb5\x2f\xfd"), []byte("\x28\xb5\x2f\xfd\x00\x98"), 1), "lower level"},
	}
	runtime.GC()
	defer withLess(16 << 20)()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readAll(t, test.data, OpenArrowBytes)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("failed with %v, want %q", err, test.want)
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > 512<<20 {
				t.Errorf("%d bytes took %d MB", len(test.data), made>>20)
			}
		})
	}
}

// declare says of the last buffer of a batch that it has so many bytes when it is not compressed.
func declare(size uint64) func([]byte, flatTable) {
	return func(text []byte, message flatTable) {
		buffers := message.table(2).vector(2, 16)
		at := buffers.word(buffers.n-1, 16, 0)
		body := text[:cap(text)][len(text):]
		binary.LittleEndian.PutUint64(body[at:], size)
	}
}

// TestBlockTwice holds that a file whose footer names a block twice is refused.
func TestBlockTwice(t *testing.T) {
	data := writeArrowFile(t, sample(t), sample(t))
	if rows, err := readAll(t, data, OpenArrowBytes); rows != 160 || err != nil {
		t.Fatalf("%d rows: %v", rows, err)
	}
	size := int(binary.LittleEndian.Uint32(data[len(data)-10:]))
	text := data[len(data)-10-size : len(data)-10]
	blocks := flat(text).root().vector(3, 24)
	copy(text[blocks.at+24:], text[blocks.at:blocks.at+24])
	if _, err := readAll(t, data, OpenArrowBytes); err == nil || !strings.Contains(err.Error(), "two blocks overlap") {
		t.Errorf("failed with %v", err)
	}
}

// TestLongRuns holds that rows with much text come in runs of fewer rows, all of them, and that what is
// noticed of them is counted once.
func TestLongRuns(t *testing.T) {
	defer func(run int) { runText = run }(runText)
	runText = 1 << 20
	table, err := OpenArrowBytes(writeStream(t, record(words(strings.Repeat("w", 1<<16)+"\xff", 100))))
	if err != nil {
		t.Fatal(err)
	}
	runs, rows := 0, 0
	for run, err := range table.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(run[0].Bytes) > runText {
			t.Errorf("a run has %d bytes", len(run[0].Bytes))
		}
		runs, rows = runs+1, rows+run[0].Len
	}
	if warnings := table.Warnings(table.Columns()); rows != 100 || runs < 7 || len(warnings) != 1 || warnings[0].Count != 100 || warnings[0].FirstRow != 1 {
		t.Errorf("%d rows in %d runs with %v", rows, runs, warnings)
	}
}

// TestBuffersOfOneReading holds that buffers that are made and let go again have an end.
func TestBuffersOfOneReading(t *testing.T) {
	made := 0
	_, err := guard("arrow", func() (bool, error) {
		mem := newBoundedMemory(arrowMemory, 1000)
		for ; made < 1000; made++ {
			mem.reserve(32<<20, 0)
			mem.held.Store(0)
		}
		return true, nil
	})
	if err == nil || !strings.Contains(err.Error(), "bytes in total") || made != leastBuffers/(32<<20) {
		t.Errorf("%d buffers were made: %v", made, err)
	}
}

// TestPagesOfClaims holds that a page is undone to as many bytes as the file says, whatever the page says.
func TestPagesOfClaims(t *testing.T) {
	claims := map[compress.Compression][]byte{
		compress.Codecs.Zstd:   append([]byte("\x28\xb5\x2f\xfd\xa0"), 0, 0, 0, 0x40, 1, 0, 0), // one gigabyte
		compress.Codecs.Snappy: binary.AppendUvarint(nil, 1<<31),
	}
	long := bytes.Repeat([]byte("x"), 1<<20)
	for _, name := range []compress.Compression{compress.Codecs.Zstd, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli} {
		codec, err := compress.GetCodec(name)
		if err != nil {
			t.Fatal(err)
		}
		packed := codec.Encode(nil, long)
		if whole, err := compress.Decode(codec, make([]byte, len(long)), packed); err != nil || !bytes.Equal(whole, long) {
			t.Errorf("%v undoes %d bytes: %v", name, len(whole), err)
		}
		if none, err := compress.Decode(codec, nil, packed); len(none) != 0 || err != nil {
			t.Errorf("%v undoes %d bytes to nothing: %v", name, len(none), err)
		}
		for _, from := range [][]byte{packed, claims[name]} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			few, _ := compress.Decode(codec, make([]byte, 10), from)
			runtime.ReadMemStats(&after)
			if made := after.TotalAlloc - before.TotalAlloc; len(few) > 64 || made > 64<<20 {
				t.Errorf("%v undoes %d bytes and takes %d", name, len(few), made)
			}
		}
	}
}
