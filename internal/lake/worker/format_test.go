package worker_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// golden is one row of everything that is hard to write, and one of nulls.
func golden() *table {
	columns := []feedmill.Column{
		{Name: "te\"xt", Type: columnar.TypeText},
		{Name: "integer", Type: columnar.TypeInteger},
		{Name: "decimal", Type: columnar.TypeDecimal, Precision: 4, Scale: 3},
		{Name: "wide", Type: columnar.TypeDecimal, Precision: 38, Scale: 20},
		{Name: "number", Type: columnar.TypeNumber},
		{Name: "boolean", Type: columnar.TypeBoolean},
		{Name: "date", Type: columnar.TypeDate},
		{Name: "timestamp", Type: columnar.TypeTimestamp},
		{Name: "json", Type: columnar.TypeJSON},
	}
	small, _ := new(big.Rat).SetString("-0.00000000000000000005")
	return &table{columns: columns, rows: [][]cell{
		{"a, \"b\"\n\tc\x01 é", big.NewRat(math.MinInt64, 1), big.NewRat(-5, 1000), small, 1e21, true, moment("0001-01-01"), moment("2024-02-29T12:30:00.123456Z"), "{\"a\":\n [1, \"x\\ny\"]}"},
		{nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{"", new(big.Rat), big.NewRat(9999, 1000), big.NewRat(3, 1), math.NaN(), false, moment("9999-12-31"), moment("1969-12-31T23:59:59.5Z"), "null"},
		{" x ", big.NewRat(math.MaxInt64, 1), big.NewRat(1, 1), big.NewRat(-1, 1), -1.5e-7, false, moment("1970-01-01"), moment("1970-01-01T00:00:00Z"), "\"é\""},
	}}
}

const goldenNDJSON = `{"te\"xt":"a, \"b\"\n\tc\u0001 é","integer":-9223372036854775808,"decimal":-0.005,"wide":-0.00000000000000000005,"number":1e+21,"boolean":true,"date":"0001-01-01","timestamp":"2024-02-29T12:30:00.123456Z","json":{"a":  [1, "x\ny"]}}
{"te\"xt":null,"integer":null,"decimal":null,"wide":null,"number":null,"boolean":null,"date":null,"timestamp":null,"json":null}
{"te\"xt":"","integer":0,"decimal":9.999,"wide":3.00000000000000000000,"number":null,"boolean":false,"date":"9999-12-31","timestamp":"1969-12-31T23:59:59.500Z","json":null}
{"te\"xt":" x ","integer":9223372036854775807,"decimal":1.000,"wide":-1.00000000000000000000,"number":-1.5e-7,"boolean":false,"date":"1970-01-01","timestamp":"1970-01-01T00:00:00Z","json":"é"}
`

// exactNumbers finds the values that are strings in the formats with numbers as text.
var exactNumbers = regexp.MustCompile(`"(integer|decimal|wide)":([-0-9.]+)`)

const goldenCSV = `"te""xt",integer,decimal,wide,number,boolean,date,timestamp,json
"a, ""b""
	c` + "\x01" + ` é",-9223372036854775808,-0.005,-0.00000000000000000005,1e+21,true,0001-01-01,2024-02-29T12:30:00.123456Z,"{""a"":
 [1, ""x\ny""]}"
,,,,,,,,
"",0,9.999,3.00000000000000000000,NaN,false,9999-12-31,1969-12-31T23:59:59.500Z,null
" x ",9223372036854775807,1.000,-1.00000000000000000000,-1.5e-7,false,1970-01-01,1970-01-01T00:00:00Z,"""é"""
`

// TestQuotedHeaderOfCSV has tables whose rows may have nothing but nulls. The header is in quotes
// where there is such a row, or may be one behind the first megabyte.
func TestQuotedHeaderOfCSV(t *testing.T) {
	r, store := reader(t)
	columns := []feedmill.Column{{Name: "a", Type: columnar.TypeText, Nullable: true}, {Name: "b", Type: columnar.TypeInteger, Nullable: true}}
	some, other, none := []cell{"x", nil}, []cell{nil, big.NewRat(5, 1)}, []cell{nil, nil}
	many := func(n int, row []cell) (rows [][]cell) {
		for range n {
			rows = append(rows, row)
		}
		return rows
	}
	for name, test := range map[string]struct {
		rows   [][]cell
		header string
	}{
		"no row of nulls":              {[][]cell{some, other}, "a,b\r\n"},
		"no row":                       {nil, "a,b\r\n"},
		"a row of nulls at the end":    {[][]cell{some, none}, "\"a\",\"b\"\r\n"},
		"a row of nulls in the middle": {[][]cell{none, some}, "\"a\",\"b\"\r\n"},
		"a row of nulls far behind":    {append(many(5000, some), none), "\"a\",\"b\"\r\n"},
		"several chunks":               {many(5000, some), "a,b\r\n"},
		"large rows":                   {many(3, []cell{strings.Repeat("x", 1<<19), nil}), "\"a\",\"b\"\r\n"},
	} {
		v := (&table{columns: columns, rows: test.rows}).write(t, store, strings.ReplaceAll(name, " ", "-")+".parquet")
		got := read(t, r, v, feedmill.Query{}, wire.FormatCSV)
		if records, err := csv.NewReader(strings.NewReader(got)).ReadAll(); !strings.HasPrefix(got, test.header) || err != nil || len(records) != len(test.rows)+1 {
			t.Errorf("%s: %d records, %v: %.200q", name, len(records), err, got)
		}
	}
}

func TestFormats(t *testing.T) {
	r, store := reader(t)
	v := golden().write(t, store, "golden.parquet")
	if got := read(t, r, v, feedmill.Query{}, wire.FormatNDJSON); got != goldenNDJSON {
		t.Errorf("as NDJSON\n%s\nwant\n%s", got, goldenNDJSON)
	}
	lines := strings.Split(strings.TrimSuffix(goldenNDJSON, "\n"), "\n")
	if got, want := read(t, r, v, feedmill.Query{}, wire.FormatJSON), "["+strings.Join(lines, ",\n")+"]\n"; got != want {
		t.Errorf("as JSON\n%s\nwant\n%s", got, want)
	} else if !json.Valid([]byte(got)) {
		t.Error("that is no JSON")
	}
	texts := exactNumbers.ReplaceAllString(goldenNDJSON, `"$1":"$2"`)
	if got := read(t, r, v, feedmill.Query{}, wire.FormatTextNDJSON); got != texts || strings.Count(texts, `":"`) < strings.Count(goldenNDJSON, `":"`)+9 {
		t.Errorf("as NDJSON with numbers as text\n%s\nwant\n%s", got, texts)
	}
	lines = strings.Split(strings.TrimSuffix(texts, "\n"), "\n")
	if got, want := read(t, r, v, feedmill.Query{}, wire.FormatTextJSON), "["+strings.Join(lines, ",\n")+"]\n"; got != want {
		t.Errorf("as JSON with numbers as text\n%s\nwant\n%s", got, want)
	}
	got := read(t, r, v, feedmill.Query{}, wire.FormatCSV)
	if want := strings.ReplaceAll(goldenCSV, "\n", "\r\n"); strings.ReplaceAll(got, "\r\n", "\n") != goldenCSV {
		t.Errorf("as CSV\n%s\nwant\n%s", got, want)
	}
	if records, err := csv.NewReader(strings.NewReader(got)).ReadAll(); err != nil || len(records) != 5 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestNoRows(t *testing.T) {
	r, store := reader(t)
	v := (&table{columns: kinds[:2]}).write(t, store, "empty.parquet")
	for format, want := range map[wire.Format]string{wire.FormatJSON: "[]\n", wire.FormatNDJSON: "", wire.FormatCSV: "id,text\r\n"} {
		if got := read(t, r, v, feedmill.Query{}, format); got != want {
			t.Errorf("as %s: %q, want %q", format, got, want)
		}
	}
	s, err := ipc.NewReader(strings.NewReader(read(t, r, v, feedmill.Query{}, wire.FormatArrow)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if s.Next() || s.Err() != nil || s.Schema().NumFields() != 2 {
		t.Errorf("rows, or %v, or the columns %v", s.Err(), s.Schema())
	}
}

// The same rows are the same bytes, however DuckDB cuts them into chunks, and under
// nulls lies nothing of what was in its memory.
func TestArrowIsTheSameAgain(t *testing.T) {
	p, _ := pool(t)
	run := func(from string) string {
		request := wire.Request{SQL: "SELECT nullif(i, i // 3 * 3), CAST(nullif(i, i // 5 * 5) AS DECIMAL(9,0)), repeat('long ', 300) FROM " + from, Names: []string{"n", "d", "text"}, Format: wire.FormatArrow}
		var out strings.Builder
		if _, err := p.Run(t.Context(), request, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := run("range(200, 25000) t(i)")
	if run("range(25000) t(i) WHERE i >= 200") != first {
		t.Error("the same rows have other bytes")
	}
	s, err := ipc.NewReader(strings.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	batches := 0
	for ; s.Next(); batches++ {
		n, d := s.RecordBatch().Column(0).(*array.Int64), s.RecordBatch().Column(1).(*array.Decimal128)
		for i := range n.Len() {
			if n.IsNull(i) && n.Int64Values()[i] != 0 || d.IsNull(i) && d.Value(i) != (decimal128.Num{}) {
				t.Fatalf("row %d of batch %d has %d and %v under its nulls", i, batches, n.Int64Values()[i], d.Value(i))
			}
		}
	}
	if batches < 2 {
		t.Errorf("all rows are in %d batch", batches)
	}
}

// What the encoder wrote and DuckDB read and Arrow carried is what there was.
func TestArrowHasEveryValue(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, rapid.IntRange(1, 50).Draw(t, "rows"))
		// Pages and runs need many rows, which are drawn too slowly one by one.
		few, which := len(in.rows), make([]int, 0, 9000)
		for i := range few {
			which = append(which, i)
		}
		step := rapid.IntRange(1, 40).Draw(t, "step")
		for i := range rapid.SampledFrom([]int{0, 50, 100, 150, 200, 250, 300, 350, 400, 9000}).Draw(t, "more rows") {
			which = append(which, i*i/step%few)
			in.rows = append(in.rows, in.rows[which[len(which)-1]])
		}
		want := make([][]string, few)
		for i := range few {
			for c := range in.columns {
				want[i] = append(want[i], wanted(&in.columns[c], in.rows[i][c]))
			}
		}
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		s, err := ipc.NewReader(strings.NewReader(read(t, r, v, feedmill.Query{}, wire.FormatArrow)))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Release()
		row := 0
		for s.Next() {
			batch := s.RecordBatch()
			for i := range int(batch.NumRows()) {
				for c := range in.columns {
					if got, want := shown(batch.Column(c), i), want[which[row]][c]; got != want {
						t.Fatalf("row %d of %s is %s, want %s", row, in.columns[c].Name, got, want)
					}
				}
				row++
			}
		}
		if s.Err() != nil || row != len(in.rows) {
			t.Fatalf("%d rows of %d, %v", row, len(in.rows), s.Err())
		}
	})
}

func shown(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	switch a := a.(type) {
	case *array.Float64:
		return fmt.Sprintf("%x", math.Float64bits(a.Value(i)))
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Timestamp:
		return a.Value(i).ToTime(arrow.Microsecond).Format(time.RFC3339Nano)
	}
	return a.ValueStr(i)
}

func wanted(c *feedmill.Column, value cell) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case float64:
		return fmt.Sprintf("%x", math.Float64bits(value))
	case *big.Rat:
		return value.FloatString(c.Scale)
	case time.Time:
		if c.Type == columnar.TypeDate {
			return value.Format(time.DateOnly)
		}
		return value.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}

// Several row groups are read by several threads, and come in order all the same.
func TestRowsComeInSourceOrder(t *testing.T) {
	const rows = 300_000
	r, store := reader(t, func(c *lake.PoolConfig) { c.Threads = 4 })
	columns := []feedmill.Column{{Name: "id", Type: columnar.TypeInteger}, {Name: "text", Type: columnar.TypeText}}
	block := []columnar.Vector{{Type: columnar.TypeInteger, Len: rows}, {Type: columnar.TypeText, Len: rows, Offsets: []uint32{0}}}
	for i := range rows {
		block[0].Ints = append(block[0].Ints, int64(i))
		block[1].Bytes = fmt.Appendf(block[1].Bytes, "%d", i%7)
		block[1].Offsets = append(block[1].Offsets, uint32(len(block[1].Bytes)))
	}
	v, err := lake.Write(t.Context(), store, "big.parquet", typed(columns, block))
	if err != nil {
		t.Fatal(err)
	}
	three := []feedmill.Condition{{Name: "text", Filters: []feedmill.Filter{{Op: feedmill.OpEq, Values: []feedmill.FilterValue{{Text: "3"}}}}}}
	for _, test := range []struct {
		name        string
		where       []feedmill.Condition
		first, step int
	}{{"all", nil, 0, 1}, {"some", three, 3, 7}} {
		want := []byte("id\r\n")
		for i := test.first; i < rows; i += test.step {
			want = fmt.Appendf(want, "%d\r\n", i)
		}
		if got := read(t, r, &v, feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Where: test.where}, wire.FormatCSV); got != string(want) {
			t.Errorf("%s: other rows, or in another order", test.name)
		}
	}
	page, err := r.Read(t.Context(), &v, feedmill.Query{Limit: 10}, wire.FormatCSV, nil, new(strings.Builder))
	if err != nil || page.Rows != 10 || page.Next == nil {
		t.Errorf("%+v, %v", page, err)
	}
}

// A version that is read as Parquet and becomes a version again is the same.
func TestParquetOfParquet(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, rapid.IntRange(0, 100).Draw(t, "rows"))
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		again := *v
		again.Files = []feedmill.VersionFile{{Name: fmt.Sprintf("again%d.parquet", n), Rows: v.Rows}}
		copied := read(t, r, v, feedmill.Query{}, wire.FormatParquet)
		if err := os.WriteFile(filepath.Join(string(store), again.Files[0].Name), []byte(copied), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, want := read(t, r, &again, feedmill.Query{}, wire.FormatNDJSON), read(t, r, v, feedmill.Query{}, wire.FormatNDJSON); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if original, err := os.ReadFile(filepath.Join(string(store), v.Files[0].Name)); err != nil || copied != string(original) {
			t.Fatalf("the same rows have other bytes, %v", err)
		}
	})
}

func TestAggregates(t *testing.T) {
	r, store := reader(t)
	in := &table{
		columns: []feedmill.Column{kinds[1], kinds[3], kinds[4], kinds[6], kinds[8]},
		rows: [][]cell{
			{"b", big.NewRat(math.MaxInt64, 1), big.NewRat(9999, 100), 1.5, moment("2024-02-29")},
			{"a", big.NewRat(1, 1), nil, nil, nil},
			{"b", big.NewRat(math.MaxInt64, 1), big.NewRat(9999, 100), 2.5, moment("2024-02-28")},
		},
	}
	v := in.write(t, store, "g.parquet")
	q := feedmill.Query{Fields: []feedmill.Field{
		{Name: "text"},
		{Name: "integer", As: "total", Aggregate: feedmill.AggregateSum},
		{Name: "decimal", Aggregate: feedmill.AggregateSum},
		{Name: "number", Aggregate: feedmill.AggregateAvg},
		{Name: "date", As: "first", Aggregate: feedmill.AggregateMin},
	}}
	b := `{"text":"b","total":18446744073709551614,"decimal":199.98,"number":2,"first":"2024-02-28"}` + "\n"
	a := `{"text":"a","total":1,"decimal":null,"number":null,"first":null}` + "\n"
	if got := read(t, r, v, q, wire.FormatNDJSON); got != b+a {
		t.Errorf("groups in the order of their first rows:\n%s", got)
	}
	q.Sort = []feedmill.Sort{{Name: "total"}}
	if got := read(t, r, v, q, wire.FormatNDJSON); got != a+b {
		t.Errorf("groups by a total:\n%s", got)
	}
	q.Limit = 1
	var out strings.Builder
	page, err := r.Read(context.Background(), v, q, wire.FormatNDJSON, nil, &out)
	if err != nil || page.Next == nil {
		t.Fatal(page, err)
	}
	if page, err = r.Read(context.Background(), v, q, wire.FormatNDJSON, page.Next, &out); err != nil || page.Next != nil || out.String() != a+b {
		t.Errorf("in pages: %+v, %v\n%s", page, err, out.String())
	}
}

// A folder may have a name that is a pattern, and may be reached through a link.
func TestOddFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's [a] *?")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	v := golden().write(t, folder(dir), "golden.parquet")
	for _, dir := range []string{dir, link} {
		p, _ := pool(t, func(c *lake.PoolConfig) { c.Temp = dir })
		if got := read(t, lake.NewReader(folder(dir), p), v, feedmill.Query{}, wire.FormatNDJSON); got != goldenNDJSON {
			t.Error(got)
		}
	}
}
