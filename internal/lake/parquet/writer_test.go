package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient gives goroutines that are about to end the time that they need on a busy
// machine, before those that are left count as leaked.
type patient struct{ *testing.M }

func (m patient) Run() int {
	code := m.M.Run()
	for end := time.Now().Add(time.Minute); goleak.Find() != nil && time.Now().Before(end); {
	}
	return code
}

func TestAnotherReaderFindsEveryValue(t *testing.T) { rapid.Check(t, readBack) }

func FuzzWriter(f *testing.F) { f.Fuzz(rapid.MakeFuzz(readBack)) }

func readBack(t *rapid.T) {
	in := drawTable(t)
	o := Options{
		GroupRows:  rapid.SampledFrom([]int{0, 1, 1000, 4096}).Draw(t, "rows of a group"),
		GroupBytes: rapid.SampledFrom([]int{0, 30_000}).Draw(t, "bytes of a group"),
	}
	if o.GroupRows == 1 && in.rows() > 200 {
		o.GroupRows = 100
	}
	compare(t, in, write(t, in, o))
}

func TestPagesOfLongTexts(t *testing.T) {
	in := table{columns: []feedmill.Column{{Name: "t", Type: columnar.TypeText}}}
	v := columnar.Vector{Type: columnar.TypeText, Len: 3000, Offsets: []uint32{0}, Valid: make([]uint64, 47)}
	for i := range v.Len {
		if i%3 != 0 {
			v.Valid[i>>6] |= 1 << (i & 63)
			v.Bytes = append(v.Bytes, strings.Repeat(fmt.Sprint(i), 600)...)
		}
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	}
	in.blocks = [][]columnar.Vector{{v}}
	compare(t, in, write(t, in, Options{}))
}

// Readers such as ClickHouse rely on the length that the precision of a decimal calls for.
func TestDecimalsAreAsLongAsTheirPrecision(t *testing.T) {
	for precision, want := range map[int]string{1: "INT32", 9: "INT32", 10: "INT64", 18: "INT64", 19: "FIXED_LEN_BYTE_ARRAY", 38: "FIXED_LEN_BYTE_ARRAY"} {
		column := feedmill.Column{Name: "d", Type: columnar.TypeDecimal, Precision: precision, Scale: 1}
		in := table{columns: []feedmill.Column{column}}
		for kind := range 4 {
			in.blocks = append(in.blocks, []columnar.Vector{makeVector(column, 5000, kind, &noise{uint64(kind)})})
		}
		file := write(t, in, Options{})
		compare(t, in, file)
		r, err := pqfile.NewParquetReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.MetaData().Schema.Column(0).PhysicalType().String(); got != want {
			t.Errorf("%d digits are %s, want %s", precision, got, want)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The hash of a file stands for its rows, so nothing else may show in it.
func TestBlocksDoNotShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t)
		one := in
		one.blocks = nil
		if len(in.blocks) > 0 {
			whole := in.blocks[0]
			for _, b := range in.blocks[1:] {
				whole = join(whole, b)
			}
			one.blocks = [][]columnar.Vector{whole}
		}
		o := Options{GroupRows: 3000, GroupBytes: 50_000}
		many := write(t, in, o)
		o.Encoders = 5
		if !bytes.Equal(many, write(t, one, o)) {
			t.Fatal("the same rows in other blocks gave another file")
		}
	})
}

func TestWriterRefuses(t *testing.T) {
	integer := feedmill.Column{Name: "n", Type: columnar.TypeInteger}
	decimal := feedmill.Column{Name: "n", Type: columnar.TypeDecimal, Precision: 3, Scale: 1}
	wide := feedmill.Column{Name: "n", Type: columnar.TypeDecimal, Precision: 19}
	for _, test := range []struct {
		name   string
		column feedmill.Column
		block  []columnar.Vector
		fault  string
	}{
		{"a missing column", integer, nil, "has 0 columns, want 1"},
		{"another type", integer, []columnar.Vector{{Type: columnar.TypeDate}}, "values of date"},
		{"a short vector", integer, []columnar.Vector{{Type: columnar.TypeInteger, Len: 1}}, "has 0 values"},
		{"another scale", decimal, []columnar.Vector{{Type: columnar.TypeDecimal, Precision: 3}}, "decimal(3,0) for decimal(3,1)"},
		{"too many digits", decimal, []columnar.Vector{{Type: columnar.TypeDecimal, Precision: 3, Scale: 1, Len: 1, Ints: []int64{1000}}}, "between -999 and 999"},
		{"too many digits of many", wide, []columnar.Vector{{Type: columnar.TypeDecimal, Precision: 19, Len: 1, Wide: []columnar.Int128{powerOfTen(19)}}}, "at most 19 digits"},
		{"a day too late", feedmill.Column{Type: columnar.TypeDate}, []columnar.Vector{{Type: columnar.TypeDate, Len: 1, Ints: []int64{1 << 31}}}, "do not lie between"},
		{"a character in halves", feedmill.Column{Type: columnar.TypeText}, []columnar.Vector{{Type: columnar.TypeText, Len: 2, Offsets: []uint32{0, 1, 2}, Bytes: []byte("é")}}, "not UTF-8"},
		{"two as a boolean", feedmill.Column{Type: columnar.TypeBoolean}, []columnar.Vector{{Type: columnar.TypeBoolean, Len: 1, Ints: []int64{2}}}, "no booleans"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, err := NewWriter(new(bytes.Buffer), []feedmill.Column{test.column}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(w.Append(t.Context(), test.block), w.Close(t.Context()))
			if err == nil || !strings.Contains(err.Error(), test.fault) {
				t.Errorf("got %v, want an error with %q", err, test.fault)
			}
		})
	}
}

var errFull = errors.New("full")

type fullWriter struct{ room int }

func (f *fullWriter) Write(p []byte) (int, error) {
	if len(p) > f.room {
		n := f.room
		f.room = 0
		return n, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestFullDiskEndsTheWriter(t *testing.T) {
	column := feedmill.Column{Name: "n", Type: columnar.TypeInteger}
	for _, room := range []int{0, 3, 100, 5000} {
		w, err := NewWriter(&fullWriter{room: room}, []feedmill.Column{column}, Options{GroupRows: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if err = w.Append(t.Context(), []columnar.Vector{makeVector(column, 1000, 2, &noise{uint64(i)})}); err != nil {
				break
			}
		}
		if err := errors.Join(err, w.Close(t.Context())); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

func TestCancelledAppend(t *testing.T) {
	column := feedmill.Column{Name: "n", Type: columnar.TypeInteger}
	gate := make(chan struct{})
	w, err := NewWriter(writerFunc(func(p []byte) (int, error) { <-gate; return len(p), nil }), []feedmill.Column{column}, Options{GroupRows: 10, Encoders: 1})
	if err != nil {
		t.Fatal(err)
	}
	<-w.encoders // as if it were busy
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = w.Append(ctx, []columnar.Vector{makeVector(column, 10, 1, &noise{})})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(gate)
	w.Abort()
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func write(t failer, in table, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, in.columns, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range in.blocks {
		if err := w.Append(context.Background(), b); err != nil {
			w.Abort()
			t.Fatal(err)
		}
	}
	if err := w.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// join is the rows of both blocks in one.
func join(a, b []columnar.Vector) []columnar.Vector {
	out := make([]columnar.Vector, len(a))
	for i := range a {
		v := a[i]
		v.Len = a[i].Len + b[i].Len
		v.Ints = slices.Concat(a[i].Ints, b[i].Ints)
		v.Floats = slices.Concat(a[i].Floats, b[i].Floats)
		v.Wide = slices.Concat(a[i].Wide, b[i].Wide)
		if a[i].Offsets != nil {
			v.Bytes = slices.Concat(a[i].Bytes, b[i].Bytes)
			v.Offsets = slices.Clone(a[i].Offsets)
			for _, o := range b[i].Offsets[1:] {
				v.Offsets = append(v.Offsets, uint32(len(a[i].Bytes))+o)
			}
		}
		v.Valid = make([]uint64, (v.Len+63)/64)
		for r := range v.Len {
			if r < a[i].Len && !a[i].Null(r) || r >= a[i].Len && !b[i].Null(r-a[i].Len) {
				v.Valid[r>>6] |= 1 << (r & 63)
			}
		}
		out[i] = v
	}
	return out
}

// compare reads the file with arrow-go and holds it against what was written.
func compare(t failer, in table, parquet []byte) {
	t.Helper()
	r, err := pqfile.NewParquetReader(bytes.NewReader(parquet))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: 1 << 20}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	got, err := reader.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if int(got.NumRows()) != in.rows() || int(got.NumCols()) != len(in.columns) {
		t.Fatalf("%d rows of %d columns, want %d of %d", got.NumRows(), got.NumCols(), in.rows(), len(in.columns))
	}
	for i, c := range in.columns {
		if name := got.Schema().Field(i).Name; name != c.Name {
			t.Fatalf("column %d is %q, want %q", i, name, c.Name)
		}
		row := 0
		values := flat(got.Column(i).Data())
		for _, b := range in.blocks {
			for j := range b[i].Len {
				if want := wanted(&b[i], j); values[row] != want {
					t.Fatalf("row %d of column %q (%s): %s, want %s", row, c.Name, c.Type, values[row], want)
				}
				row++
			}
		}
	}
}

func flat(data *arrow.Chunked) []string {
	var out []string
	for _, a := range data.Chunks() {
		for i := range a.Len() {
			out = append(out, shown(a, i))
		}
	}
	return out
}

func shown(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	switch a := a.(type) {
	case *array.Int64:
		return fmt.Sprint(a.Value(i))
	case *array.Float64:
		return fmt.Sprintf("%x", math.Float64bits(a.Value(i)))
	case *array.Boolean:
		return fmt.Sprint(a.Value(i))
	case *array.Date32:
		return fmt.Sprint(int64(a.Value(i)))
	case *array.Timestamp:
		if a.DataType().(*arrow.TimestampType).TimeZone != "UTC" {
			return "a local timestamp"
		}
		return fmt.Sprint(int64(a.Value(i)))
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case array.ExtensionArray:
		return shown(a.Storage(), i)
	}
	return fmt.Sprintf("%T", a)
}

func wanted(v *columnar.Vector, i int) string {
	switch {
	case v.Null(i):
		return "null"
	case v.Type == columnar.TypeBoolean:
		return fmt.Sprint(v.Ints[i] == 1)
	case v.Offsets != nil:
		return string(v.Text(i))
	case v.Wide != nil:
		return v.Wide[i].Decimal(v.Scale)
	case v.Floats != nil:
		return fmt.Sprintf("%x", math.Float64bits(v.Floats[i]))
	case v.Type == columnar.TypeDecimal:
		return columnar.Int128Of(v.Ints[i]).Decimal(v.Scale)
	}
	return fmt.Sprint(v.Ints[i])
}
