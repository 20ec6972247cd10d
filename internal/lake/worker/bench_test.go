package worker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/lake/worker"
)

// benchRows is how many rows the benchmarks read from; LAKE_ROWS says otherwise.
func benchRows() int {
	if n, err := strconv.Atoi(os.Getenv("LAKE_ROWS")); err == nil {
		return n
	}
	return 1_000_000
}

// sales writes a version like those that people have.
func sales(b *testing.B, store folder) *lake.Version {
	b.Helper()
	columns := []feedmill.Column{
		{Name: "id", Type: columnar.TypeInteger},
		{Name: "status", Type: columnar.TypeText},
		{Name: "customer", Type: columnar.TypeText},
		{Name: "price", Type: columnar.TypeDecimal, Precision: 12, Scale: 2},
		{Name: "weight", Type: columnar.TypeNumber},
		{Name: "paid", Type: columnar.TypeBoolean},
		{Name: "day", Type: columnar.TypeDate},
		{Name: "at", Type: columnar.TypeTimestamp},
	}
	const block = 50_000
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Now()
	v, err := lake.Write(b.Context(), store, "sales.parquet", feedmill.TypedTable{Columns: columns, Runs: func(yield func([]columnar.Vector, error) bool) {
		for from := 0; from < benchRows(); from += block {
			if !yield(salesBlock(columns, from, block, random), nil) {
				return
			}
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d rows in %d MB, made and written in %v", v.Rows, v.Bytes>>20, time.Since(start).Round(time.Millisecond))
	return &v
}

func salesBlock(columns []feedmill.Column, from, rows int, random *rand.Rand) []columnar.Vector {
	out := make([]columnar.Vector, len(columns))
	for i, c := range columns {
		out[i] = columnar.Vector{Type: c.Type, Len: rows, Precision: c.Precision, Scale: c.Scale}
	}
	out[1].Offsets, out[2].Offsets, out[2].Valid = []uint32{0}, []uint32{0}, make([]uint64, (rows+63)/64)
	for r := range rows {
		x := random.Uint64()
		out[0].Ints = append(out[0].Ints, int64(from+r))
		out[1].Bytes = append(out[1].Bytes, []string{"paid", "open", "cancelled", "returned"}[x%4]...)
		out[1].Offsets = append(out[1].Offsets, uint32(len(out[1].Bytes)))
		if x%10 != 0 {
			out[2].Valid[r>>6] |= 1 << (r & 63)
			out[2].Bytes = fmt.Appendf(out[2].Bytes, "Customer %d", x%1_000_000)
		}
		out[2].Offsets = append(out[2].Offsets, uint32(len(out[2].Bytes)))
		out[3].Ints = append(out[3].Ints, int64(x%10_000_000))
		out[4].Floats = append(out[4].Floats, float64(x%100_000)/7)
		out[5].Ints = append(out[5].Ints, int64(x&1))
		out[6].Ints = append(out[6].Ints, int64(18_000+x%1000))
		out[7].Ints = append(out[7].Ints, 1_700_000_000_000_000+int64(from+r)*1_000_000+int64(x%1000)*1000)
	}
	return out
}

// BenchmarkPage reads pages of a hundred rows through a worker, and with the
// same SQL in a bare database in this process.
func BenchmarkPage(b *testing.B) {
	r, store := reader(b)
	v := sales(b, store)
	bare, closeBare, err := worker.Bare(string(store))
	if err != nil {
		b.Fatal(err)
	}
	defer closeBare()
	middle := strconv.FormatInt(v.Rows/2, 10)
	eq := []feedmill.Condition{{Name: "status", Filters: []feedmill.Filter{{Op: feedmill.OpEq, Values: []feedmill.FilterValue{{Text: "open"}}}}}}
	for _, test := range []struct {
		name  string
		query feedmill.Query
		keys  []*string
	}{
		{"first", feedmill.Query{Limit: 100}, nil},
		{"middle", feedmill.Query{Limit: 100}, []*string{&middle}},
		{"filtered", feedmill.Query{Limit: 100, Where: eq}, []*string{&middle}},
		{"sorted", feedmill.Query{Limit: 100, Sort: []feedmill.Sort{{Name: "price", Descending: true}}}, nil},
	} {
		var after *lake.Cursor
		if test.keys != nil {
			c := lake.NextPage(v, &test.query, test.keys)
			after = &c
		}
		request, err := lake.Plan(v, string(store)+"/", test.query, wire.FormatNDJSON, after)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(test.name, func(b *testing.B) {
			// Turn about, so that whatever else the machine does is done to both.
			var caged, alone []time.Duration
			for b.Loop() {
				start := time.Now()
				page, err := r.Read(b.Context(), v, test.query, wire.FormatNDJSON, after, io.Discard)
				if err != nil || page.Rows != 100 {
					b.Fatal(page, err)
				}
				caged = append(caged, time.Since(start))
				start = time.Now()
				if n, err := bare(request.SQL, request.Args); err != nil || n != 101 {
					b.Fatal(n, err)
				}
				alone = append(alone, time.Since(start))
			}
			slices.Sort(caged)
			slices.Sort(alone)
			b.ReportMetric(caged[len(caged)/2].Seconds()*1000, "ms/page")
			b.ReportMetric(float64(caged[len(caged)/2])/float64(alone[len(alone)/2]), "×bare")
		})
	}
}

// cpu is the time that this process and those that it waited for have worked.
func cpu() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// BenchmarkExport writes all rows in each format, and as JSON the way that is
// usual in Go: from the rows of a database, a map for each.
func BenchmarkExport(b *testing.B) {
	_, store := reader(b)
	v := sales(b, store)
	for _, format := range []wire.Format{wire.FormatNDJSON, wire.FormatCSV, wire.FormatArrow, wire.FormatXLSX} {
		b.Run(string(format), func(b *testing.B) {
			start := cpu()
			p, _ := pool(b)
			r := lake.NewReader(store, p)
			for b.Loop() {
				if _, err := r.Read(b.Context(), v, feedmill.Query{}, format, nil, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			p.Close() // a worker's time counts once it has ended
			b.ReportMetric(float64(v.Rows)*float64(b.N)/(cpu()-start).Seconds(), "rows/cpu-s")
		})
	}
	b.Run("maps", func(b *testing.B) {
		var stream bytes.Buffer
		p, _ := pool(b)
		if _, err := lake.NewReader(store, p).Read(b.Context(), v, feedmill.Query{}, wire.FormatArrow, nil, &stream); err != nil {
			b.Fatal(err)
		}
		p.Close()
		start := cpu()
		for b.Loop() {
			encodeMaps(b, stream.Bytes())
		}
		b.ReportMetric(float64(v.Rows)*float64(b.N)/(cpu()-start).Seconds(), "rows/cpu-s")
	})
}

// encodeMaps is the baseline. Its rows are in memory already; those of the
// others are read from the file.
func encodeMaps(b *testing.B, stream []byte) {
	s, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Release()
	out := json.NewEncoder(io.Discard)
	for s.Next() {
		batch := s.RecordBatch()
		for i := range int(batch.NumRows()) {
			row := make(map[string]any, batch.NumCols())
			for c, field := range batch.Schema().Fields() {
				row[field.Name] = goValue(batch.Column(c), i)
			}
			if err := out.Encode(row); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func goValue(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Int64:
		return a.Value(i)
	case *array.String:
		return strings.Clone(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Boolean:
		return a.Value(i)
	case *array.Date32:
		return a.Value(i).FormattedString()
	case *array.Timestamp:
		return a.Value(i).ToTime(arrow.Microsecond)
	case *array.Decimal128:
		return json.Number(a.Value(i).ToString(2))
	}
	return a.ValueStr(i)
}
