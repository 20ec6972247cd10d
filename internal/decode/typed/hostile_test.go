package typed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// sample is a batch with columns of several kinds.
func sample(t testing.TB) arrow.RecordBatch {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
	}, nil)
	rows := strings.Repeat(`{"id":1,"text":"one","list":[0.5],"at":"2026-11-15 00:00:00Z"}{"id":2,"text":null,"list":null,"at":null}`, 40)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.ReplaceAll(rows, "}{", "},{")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// readAll reads whatever can be read of data. What cannot must be refused as the fault of the data.
func readAll(t testing.TB, data []byte, open func([]byte) (*Table, error)) (rows int, err error) {
	table, err := open(data)
	if err == nil {
		defer table.Close()
		for run, fault := range table.Runs(t.Context()) {
			if fault != nil {
				err = fault
				break
			}
			if len(run) > 0 {
				rows += run[0].Len
			}
		}
		table.Warnings(table.Columns())
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); err != nil && (!ok || refusal.Kind != feedmill.ErrUnprocessable && refusal.Kind != feedmill.ErrInvalid) {
		t.Fatalf("failed with %v", err)
	}
	return rows, err
}

// TestCutData holds that data which ends too early is refused wherever it ends.
func TestCutData(t *testing.T) {
	for name, data := range map[string][]byte{"parquet": writeParquet(t, sample(t)), "arrow file": writeArrowFile(t, sample(t))} {
		open := OpenArrowBytes
		if name == "parquet" {
			open = OpenParquetBytes
		}
		for n := range data {
			if _, err := readAll(t, data[:n], open); err == nil {
				t.Fatalf("%s of %d bytes was read to its end at %d", name, len(data), n)
			}
		}
		if rows, err := readAll(t, data, open); rows != 80 || err != nil {
			t.Errorf("%s has %d rows: %v", name, rows, err)
		}
	}
}

// TestCutStream holds that a stream is refused where it ends within a message, and that one
// without its end is warned of.
func TestCutStream(t *testing.T) {
	data := writeStream(t, sample(t))
	for n := range data {
		rows, err := readAll(t, data[:n], OpenArrowBytes)
		if err != nil {
			continue
		}
		table, err := OpenArrowBytes(data[:n])
		if err != nil {
			t.Fatal(err)
		}
		if warnings := table.Warnings(table.Columns()); len(warnings) != 1 || warnings[0].Code != feedmill.WarnNoEnd {
			t.Fatalf("%d of %d bytes have %d rows and the warnings %v", n, len(data), rows, warnings)
		}
	}
}

// TestBrokenData holds that whatever stands in data, it is read or refused, in little memory.
func TestBrokenData(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	for name, data := range map[string][]byte{"parquet": writeParquet(t, sample(t)), "arrow": writeStream(t, sample(t)), "file": writeArrowFile(t, sample(t))} {
		open := OpenArrowBytes
		if name == "parquet" {
			open = OpenParquetBytes
		}
		for range decodetest.LongOr(500, 3000) {
			broken := bytes.Clone(data)
			for range 1 + random.IntN(3) {
				at := random.IntN(len(broken))
				if random.IntN(2) == 0 && at+4 <= len(broken) {
					binary.LittleEndian.PutUint32(broken[at:], random.Uint32()>>random.IntN(32))
				} else {
					broken[at] = byte(random.Uint32())
				}
			}
			runtime.ReadMemStats(&before)
			_, _ = readAll(t, broken, open)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 600<<20 {
				t.Fatalf("%s of %d bytes took %d MB: %x", name, len(data), grown>>20, broken)
			}
		}
	}
}

// TestColumnsOfLongPages holds that many columns, each within its own bound, do not take more
// memory together than one table may.
func TestColumnsOfLongPages(t *testing.T) {
	defer func(parquet, arrow int64) { parquetMemory, arrowMemory = parquet, arrow }(parquetMemory, arrowMemory)
	parquetMemory, arrowMemory = 4<<20, 4<<20
	var fields []arrow.Field
	for i := range 12 {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.BinaryTypes.String})
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range fields {
		builder.Field(i).(*array.StringBuilder).Append(strings.Repeat("x", 1<<20))
	}
	record := builder.NewRecordBatch()
	for name, err := range map[string]error{
		"parquet": second(readAll(t, writeParquet(t, record, parquet.WithCompression(compress.Codecs.Zstd)), OpenParquetBytes)),
		"arrow":   second(readAll(t, writeStream(t, record, ipc.WithZstd()), OpenArrowBytes)),
	} {
		if err == nil || !strings.Contains(err.Error(), "bytes of memory, the maximum") {
			t.Errorf("%s failed with %v", name, err)
		}
	}
}

func second(_ int, err error) error { return err }

// footerOf is a Parquet file with nothing but a footer.
func footerOf(footer []byte) []byte {
	data := append([]byte(parquetMark), footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), parquetMark...)
}

func TestHostileFooters(t *testing.T) {
	// An element of the schema: its name, and one child.
	element := []byte{0x48, 0x01, 'a', 0x15, 0x02, 0x00}
	deep := append([]byte{0x15, 0x02, 0x19, 0xfc}, binary.AppendUvarint(nil, 3_000_000)...)
	deep = append(deep, bytes.Repeat(element, 3_000_000)...)
	for name, test := range map[string]struct {
		footer []byte
		want   string
	}{
		"deep schema": {deep, "more than 64 levels deep"},
		"huge list":   {append([]byte{0x15, 0x02, 0x19, 0xfc}, 0xff, 0xff, 0xff, 0xff, 0x07), "declares more elements"},
		"huge map":    {append([]byte{0x1b}, 0xff, 0xff, 0xff, 0xff, 0x07), "declares more elements"},
		"deep struct": {bytes.Repeat([]byte{0x1c}, 1<<20), "too deep"},
		"nothing":     {nil, "truncated"},
		"odd type":    {[]byte{0x1f, 0x00}, "type is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(t, footerOf(test.footer), OpenParquetBytes)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("failed with %v, want %q", err, test.want)
			}
		})
	}
}

func TestWhatIsNoTable(t *testing.T) {
	for data, want := range map[string]string{
		"PAR1":                         "only 4 bytes",
		"PAR1 and no more of it":       "truncated",
		"a,b\n1,2\n3,4\n5,6\n":         "it starts with",
		"PARExxxxxxxxPARE":             "encrypted",
		"PAR1xxxx\xff\xff\xff\x7fPAR1": "declares 2147483647 bytes",
	} {
		if _, err := readAll(t, []byte(data), OpenParquetBytes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q failed with %v, want %q", data, err, want)
		}
	}
	if _, err := readAll(t, []byte("a,b\n"), OpenArrowBytes); err == nil || !strings.Contains(err.Error(), "not an Arrow file") {
		t.Errorf("failed with %v", err)
	}
	if _, err := readAll(t, nil, OpenArrowBytes); !errors.Is(err, feedmill.ErrInvalid) {
		t.Errorf("nothing failed with %v", err)
	}
}

func FuzzParquet(f *testing.F) {
	f.Add(writeParquet(f, sample(f)))
	f.Add(writeParquet(f, sample(f), parquet.WithCompression(compress.Codecs.Zstd)))
	defer withLess(leastMemory)()
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = readAll(t, data, OpenParquetBytes) })
}

func FuzzArrow(f *testing.F) {
	f.Add(writeStream(f, sample(f)))
	f.Add(writeArrowFile(f, sample(f), sample(f)))
	f.Add(writeStream(f, sample(f), ipc.WithZstd()))
	f.Add(writeStream(f, sample(f), ipc.WithLZ4()))
	f.Add(writeStream(f, record(words("word", 20))))
	f.Add(writeStream(f, record(shared(2, 5))))
	defer withLess(leastMemory)()
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = readAll(t, data, OpenArrowBytes) })
}
