package typed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// typesTest is a type and values of it as arrow-go reads them from JSON, and what becomes of
// both.
type typesTest struct {
	field  arrow.Field
	values string
	column string
	want   string
	// arrowOnly says that Parquet has no such type.
	arrowOnly bool
}

func of(t arrow.DataType) arrow.Field { return arrow.Field{Name: "c", Type: t, Nullable: true} }

var typesTests = []typesTest{
	{of(arrow.FixedWidthTypes.Boolean), `[true,null,false]`, "boolean", "1|∅|0", false},
	{of(arrow.PrimitiveTypes.Int8), `[-128,null,127]`, "integer", "-128|∅|127", false},
	{of(arrow.PrimitiveTypes.Int16), `[-32768,null,32767]`, "integer", "-32768|∅|32767", false},
	{of(arrow.PrimitiveTypes.Int32), `[-2147483648,null,2147483647]`, "integer", "-2147483648|∅|2147483647", false},
	{of(arrow.PrimitiveTypes.Int64), `[-9223372036854775808,null,9223372036854775807]`, "integer", "-9223372036854775808|∅|9223372036854775807", false},
	{of(arrow.PrimitiveTypes.Uint8), `[0,null,255]`, "integer", "0|∅|255", false},
	{of(arrow.PrimitiveTypes.Uint16), `[0,null,65535]`, "integer", "0|∅|65535", false},
	{of(arrow.PrimitiveTypes.Uint32), `[0,null,4294967295]`, "integer", "0|∅|4294967295", false},
	{of(arrow.PrimitiveTypes.Uint64), `[0,null,18446744073709551615]`, "decimal(20,0)", "0|∅|18446744073709551615", false},
	{of(arrow.FixedWidthTypes.Float16), `[0.5,null,-2]`, "number", "0.5|∅|-2", false},
	{of(arrow.PrimitiveTypes.Float32), `[0.5,null,-2]`, "number", "0.5|∅|-2", false},
	{of(arrow.PrimitiveTypes.Float64), `[0.1,null,1e300]`, "number", "0.1|∅|1e+300", false},
	{of(arrow.PrimitiveTypes.Float64), `["NaN",null,"-Inf"]`, "number", "NaN|∅|-Inf not-finite 2 1", false},
	{of(&arrow.Decimal128Type{Precision: 5, Scale: 2}), `["123.45",null,"-0.01"]`, "decimal(5,2)", "123.45|∅|-0.01", false},
	{of(&arrow.Decimal128Type{Precision: 38, Scale: 10}), `["1234567890123456789012345678.0123456789",null,"-1"]`, "decimal(38,10)", "1234567890123456789012345678.0123456789|∅|-1.0000000000", false},
	{of(&arrow.Decimal256Type{Precision: 40, Scale: 1}), `["123456789012345678901234567890123456789.5",null,"-1"]`, "text", "123456789012345678901234567890123456789.5|∅|-1.0", false},
	{of(arrow.BinaryTypes.String), `["é",null,""]`, "text", "é|∅|", false},
	{of(arrow.BinaryTypes.LargeString), `["é",null,""]`, "text", "é|∅|", false},
	{of(arrow.BinaryTypes.Binary), `["AAE=",null,""]`, "text base64", "AAE=|∅|", false},
	{of(&arrow.FixedSizeBinaryType{ByteWidth: 2}), `["AAE=",null,"//8="]`, "text base64", "AAE=|∅|//8=", false},
	{of(arrow.FixedWidthTypes.Date32), `["1969-12-31",null,"9999-12-31"]`, "date", "-1|∅|2932896", false},
	{of(arrow.FixedWidthTypes.Date64), `["1969-12-31",null,"2026-11-15"]`, "date", "-1|∅|20772", false},
	{of(&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}), `["1969-12-31 23:59:59Z",null,"2026-11-15 00:00:00Z"]`, "timestamp", "-1000000|∅|1794700800000000", false},
	{of(&arrow.TimestampType{Unit: arrow.Millisecond}), `["1969-12-31 23:59:59.999",null,"2026-11-15 00:00:00"]`, "timestamp", "-1000|∅|1794700800000000", false},
	{of(&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Paris"}), `["1969-12-31 23:59:59.999999Z",null]`, "timestamp", "-1|∅", false},
	{of(&arrow.TimestampType{Unit: arrow.Nanosecond}), `["1970-01-01 00:00:00.000001500",null,"1969-12-31 23:59:59.999999999"]`, "timestamp", "1|∅|-1 cut-times 2 1", false},
	{of(arrow.FixedWidthTypes.Time32ms), `["12:34:56.789",null]`, "text", "12:34:56.789|∅", false},
	{of(arrow.FixedWidthTypes.Time64us), `["12:34:56.789012",null]`, "text", "12:34:56.789012|∅", false},
	{of(arrow.FixedWidthTypes.Time64ns), `["00:00:00.000000001",null]`, "text", "00:00:00.000000001|∅", false},
	{of(arrow.ListOf(arrow.PrimitiveTypes.Int64)), `[[1,null,3],null,[]]`, "json", "[1,null,3]|∅|[]", false},
	{of(arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String))), `[[["a\"b"],null,[]],null]`, "json", `[["a\"b"],null,[]]|∅`, false},
	{of(arrow.StructOf(of(arrow.PrimitiveTypes.Int64), arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 5, Scale: 2}, Nullable: true})), `[{"c":1,"d":"1.50"},null,{"c":null,"d":null}]`, "json", `{"c":1,"d":1.50}|∅|{"c":null,"d":null}`, false},
	{of(arrow.MapOf(arrow.BinaryTypes.String, arrow.FixedWidthTypes.Date32)), `[[{"key":"a","value":"2026-11-15"},{"key":"b","value":null}],null,[]]`, "json", `{"a":"2026-11-15","b":null}|∅|{}`, false},
	{of(arrow.MapOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64)), `[[{"key":7,"value":0.1}],null]`, "json", `{"7":0.1}|∅`, false},
	{of(extensions.NewUUIDType()), `["550e8400-e29b-41d4-a716-446655440000",null]`, "text", "550e8400-e29b-41d4-a716-446655440000|∅", false},
	{of(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}), `["a",null,"b"]`, "text", "a|∅|b", false},
	{of(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}), `[7,null,8]`, "integer", "7|∅|8", true},
	{of(arrow.FixedWidthTypes.Duration_ms), `["1500ms",null]`, "integer ms", "1500|∅", true},
	{of(arrow.FixedWidthTypes.MonthDayNanoInterval), `[{"months":14,"days":3,"nanoseconds":1500000000},null]`, "text", "P14M3DT1.5S|∅", true},
	{of(arrow.BinaryTypes.StringView), `["é",null]`, "text", "é|∅", true},
	{of(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)), `[[1,2],null]`, "json", "[1,2]|∅", true},
	{of(arrow.Null), `[null,null]`, "text", "∅|∅", true},
	{arrow.Field{Name: "c", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"arrow.json"})}, `["{\"a\":1}",null,"oops"]`, "json", `{"a":1}|∅|"oops" invalid-json 1 3`, true},
	{of(arrow.ListOf(arrow.FixedWidthTypes.Timestamp_ms)), `[["2026-11-15 12:00:00Z"]]`, "json", `["2026-11-15T12:00:00Z"]`, false},
}

func TestTypesOfParquet(t *testing.T) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli, compress.Codecs.Lz4Raw} {
		for _, test := range typesTests {
			if !test.arrowOnly {
				test.check(t, writeParquet(t, test.record(t), parquet.WithCompression(codec)), OpenParquetBytes)
			}
		}
	}
}

func TestTypesOfArrow(t *testing.T) {
	for _, test := range typesTests {
		test.check(t, writeStream(t, test.record(t)), OpenArrowBytes)
		test.check(t, writeStream(t, test.record(t), ipc.WithZstd()), OpenArrowBytes)
		test.check(t, writeArrowFile(t, test.record(t)), OpenArrowBytes)
	}
}

// TestOldTimestamps holds that the timestamps of 96 bits are read that old writers have.
func TestOldTimestamps(t *testing.T) {
	test := typesTest{field: of(&arrow.TimestampType{Unit: arrow.Nanosecond}), values: `["1969-12-31 23:59:59.999999",null]`, column: "timestamp", want: "-1|∅"}
	var out bytes.Buffer
	record := test.record(t)
	w, err := pqarrow.NewFileWriter(record.Schema(), &out, nil, pqarrow.NewArrowWriterProperties(pqarrow.WithDeprecatedInt96Timestamps(true)))
	if err == nil {
		err = w.Write(record)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	test.check(t, out.Bytes(), OpenParquetBytes)
}

// record is a batch with the values of the test.
func (test typesTest) record(t *testing.T) arrow.RecordBatch {
	t.Helper()
	values, _, err := array.FromJSON(memory.DefaultAllocator, test.field.Type, strings.NewReader(test.values))
	if err != nil {
		t.Fatalf("%s: %v", test.field.Type, err)
	}
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{test.field}, nil), []arrow.Array{values}, int64(values.Len()))
}

func (test typesTest) check(t *testing.T, data []byte, open func([]byte) (*Table, error)) {
	t.Helper()
	table, err := open(data)
	if err != nil {
		t.Errorf("%s: %v", test.field.Type, err)
		return
	}
	defer table.Close()
	column := table.Columns()[0]
	if got := shownType(column); got != test.column {
		t.Errorf("%s is %s, want %s", test.field.Type, got, test.column)
	}
	if got := shownRows(t, table); got != test.want {
		t.Errorf("%s has %s, want %s", test.field.Type, got, test.want)
	}
}

func writeParquet(t testing.TB, record arrow.RecordBatch, properties ...parquet.WriterProperty) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(record.Schema(), &out, parquet.NewWriterProperties(properties...), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(record)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeStream(t testing.TB, record arrow.RecordBatch, options ...ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(record.Schema()))...)
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeArrowFile(t testing.TB, records ...arrow.RecordBatch) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(records[0].Schema()))
	for _, record := range records {
		if err == nil {
			err = w.Write(record)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func shownType(c feedmill.Column) string {
	shown := string(c.Type)
	if c.Type == columnar.TypeDecimal {
		shown += "(" + columnar.Int128Of(int64(c.Precision)).Decimal(0) + "," + columnar.Int128Of(int64(c.Scale)).Decimal(0) + ")"
	}
	return strings.TrimSpace(shown + " " + c.Format)
}
