package typed

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// The file is one that DuckDB has written (PARQUET_VERSION V2): the differences between its 32-bit
// integers need 33 bits.
func TestWideDeltas(t *testing.T) {
	data, err := os.ReadFile("testdata/duckdb-v2.parquet")
	if err != nil {
		t.Fatal(err)
	}
	table, err := OpenParquetBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range int64(400) {
		wide, u, big, holes := int64(math.MaxInt32)-i, int64(math.MaxUint32)-i, math.MaxInt64-i, ""
		if i%2 == 1 {
			wide, u, big = math.MinInt32+i, i, -math.MaxInt64+i
		}
		if holes = fmt.Sprint(wide); i%5 == 0 {
			holes = "∅"
		}
		want = append(want, fmt.Sprintf("%d,%d,%d,%d,%d,%s,%d,{\"a\":%d}", i, wide, i*37%11, u, big, holes, 20454+i, i+i%2))
	}
	if got := shownRows(t, table); got != strings.Join(want, "|") {
		t.Errorf("%.400s\nwant\n%.400s", got, strings.Join(want, "|"))
	}
	for i, want := range strings.Fields("integer integer integer integer integer integer date json") {
		if got := table.Columns()[i].Type; string(got) != want {
			t.Errorf("column %d is %s, want %s", i, got, want)
		}
	}
}

// Other writers count the differences modulo 2³², in 32 bits.
func TestDeltasModulo(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}, {Name: "u", Type: arrow.PrimitiveTypes.Uint32, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var want []string
	for i := range int32(300) {
		n, u := math.MaxInt32-i, math.MaxUint32-uint32(i)
		if i%3 == 0 {
			n, u = math.MinInt32+i, uint32(i)
		}
		b.Field(0).(*array.Int32Builder).Append(n)
		b.Field(1).(*array.Uint32Builder).Append(u)
		want = append(want, fmt.Sprintf("%d,%d", n, u))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked), parquet.WithDataPageVersion(parquet.DataPageV2))
	w, err := pqarrow.NewFileWriter(schema, &out, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	table, err := OpenParquetBytes(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := shownRows(t, table); got != strings.Join(want, "|") {
		t.Errorf("%.300s\nwant\n%.300s", got, strings.Join(want, "|"))
	}
}
