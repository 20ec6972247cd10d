package worker_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/lake/worker"
)

func TestWorkbook(t *testing.T) {
	r, store := reader(t)
	in := golden()
	in.rows = append(in.rows,
		[]cell{"=1+1", big.NewRat(999_999_999_999_999, 1), big.NewRat(0, 1), big.NewRat(123_456_789_012_345, 1000), 0.1, true, moment("1900-02-28"), moment("1900-02-28T23:59:59.999999Z"), "1"},
		[]cell{"_x0041_ \r", big.NewRat(-1_000_000_000_000_000, 1), big.NewRat(-1, 1), big.NewRat(1_234_567_890_123_456, 1000), 5e-324, true, moment("1900-03-01"), moment("1900-03-01T00:00:00Z"), "[]"},
		[]cell{"0012", big.NewRat(-7, 1), big.NewRat(-1, 1), big.NewRat(0, 1), math.Inf(-1), true, moment("2024-02-29"), moment("2200-01-01T00:00:00.000001Z"), "[]"},
		[]cell{"é", big.NewRat(0, 1), nil, nil, math.MaxFloat64, nil, nil, moment("9999-12-31T23:59:59.999Z"), nil},
	)
	v := in.write(t, store, "golden.parquet")
	body := read(t, r, v, feedmill.Query{}, wire.FormatXLSX)
	b := openBook(t, body)
	if !slices.Equal(b.names, []string{"Data"}) {
		t.Errorf("the sheets %v", b.names)
	}
	const wide, seconds, millis = " as 0.00000000000000000000", " as yyyy-mm-dd hh:mm:ss", " as yyyy-mm-dd hh:mm:ss.000"
	want := [][]string{
		{`"te\"xt"`, `"integer"`, `"decimal"`, `"wide"`, `"number"`, `"boolean"`, `"date"`, `"timestamp"`, `"json"`},
		{`"a, \"b\"\n\tc\x01 é"`, `"-9223372036854775808"`, "-0.005 as 0.000", "-0.00000000000000000005" + wide, "1e+21 as General", "TRUE", `"0001-01-01"`, "2024-02-29T12:30:00.123456Z" + millis, `"{\"a\":\n [1, \"x\\ny\"]}"`},
		{"", "", "", "", "", "", "", "", ""},
		{`""`, "0 as 0", "9.999 as 0.000", "3.00000000000000000000" + wide, `"NaN"`, "FALSE", "9999-12-31T00:00:00Z as yyyy-mm-dd", "1969-12-31T23:59:59.5Z" + millis, `"null"`},
		{`" x "`, `"9223372036854775807"`, "1.000 as 0.000", "-1.00000000000000000000" + wide, "-1.5e-7 as General", "FALSE", "1970-01-01T00:00:00Z as yyyy-mm-dd", "1970-01-01T00:00:00Z" + seconds, `"\"é\""`},
		{`"=1+1"`, "999999999999999 as 0", "0.000 as 0.000", "123456789012.34500000000000000000" + wide, "0.1 as General", "TRUE", `"1900-02-28"`, `"1900-02-28T23:59:59.999999Z"`, `"1"`},
		{`"_x0041_ \r"`, `"-1000000000000000"`, "-1.000 as 0.000", `"1234567890123.45600000000000000000"`, `"5e-324"`, "TRUE", "1900-03-01T00:00:00Z as yyyy-mm-dd", "1900-03-01T00:00:00Z" + seconds, `"[]"`},
		{`"0012"`, "-7 as 0", "-1.000 as 0.000", "0.00000000000000000000" + wide, `"-Inf"`, "TRUE", "2024-02-29T00:00:00Z as yyyy-mm-dd", `"2200-01-01T00:00:00.000001Z"`, `"[]"`},
		{`"é"`, "0 as 0", "", "", "1.7976931348623157e+308 as General", "", "", "9999-12-31T23:59:59.999Z" + millis, ""},
	}
	got := b.table(t, "Data", len(in.columns))
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for k := range in.columns {
			if got[i][k] != want[i][k] {
				t.Errorf("row %d of %q is %s, want %s", i+1, in.columns[k].Name, got[i][k], want[i][k])
			}
		}
	}
	s := b.sheets["Data"]
	if s.Pane.Rows != 1 || s.Pane.State != "frozen" {
		t.Errorf("the header moves: %+v", s.Pane)
	}
	for i, c := range s.Rows[0].Cells {
		if !b.styles[c.Style].bold {
			t.Errorf("the header of column %d is not bold", i+1)
		}
	}
	for i, w := range s.Widths {
		if w.Width < 9 || w.Width > 60 || in.columns[i].Type == columnar.TypeTimestamp && w.Width < 23 {
			t.Errorf("column %d is %v wide", i+1, w.Width)
		}
	}
	if len(s.Widths) != len(in.columns) {
		t.Errorf("%d widths", len(s.Widths))
	}
}

// Every value is on the sheet, exactly or as text.
func TestWorkbookHasEveryValue(t *testing.T) {
	r, store := reader(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawTable(t, rapid.IntRange(0, 150).Draw(t, "rows"))
		n++
		v := in.write(t, store, fmt.Sprintf("t%d.parquet", n))
		b := openBook(t, read(t, r, v, feedmill.Query{}, wire.FormatXLSX))
		got := b.table(t, "Data", len(in.columns))
		if len(got) != len(in.rows)+1 {
			t.Fatalf("%d rows of %d", len(got)-1, len(in.rows))
		}
		for i, row := range in.rows {
			for k := range in.columns {
				if got, want := got[i+1][k], sheetValue(&in.columns[k], row[k]); got != want {
					t.Fatalf("row %d of %s is %s, want %s", i, in.columns[k].Name, got, want)
				}
			}
		}
	})
}

func sheetValue(c *feedmill.Column, value cell) string {
	switch value := value.(type) {
	case nil:
		return ""
	case bool:
		return strings.ToUpper(fmt.Sprint(value))
	case float64:
		if math.IsInf(value, 0) || math.IsNaN(value) {
			return strconv.Quote(strconv.FormatFloat(value, 'f', -1, 64))
		}
		text := strconv.FormatFloat(value, 'g', -1, 64)
		if value == 100 {
			text = "100"
		}
		return text + " as General"
	case *big.Rat:
		text := value.FloatString(c.Scale)
		if len(strings.Trim(text, "-")) > 15 && c.Scale == 0 {
			return strconv.Quote(text)
		}
		return text + " as 0" + strings.Repeat(".", min(1, c.Scale)) + strings.Repeat("0", c.Scale)
	case time.Time:
		text := value.Format(time.RFC3339Nano) + " as yyyy-mm-dd"
		if c.Type == columnar.TypeTimestamp {
			text += " hh:mm:ss"
		}
		if value.Nanosecond() != 0 {
			text += ".000"
		}
		return text
	}
	return strconv.Quote(value.(string))
}

// The same rows are the same bytes, however many threads find them and however
// few of them each finds.
func TestWorkbookIsTheSameAgain(t *testing.T) {
	const rows = 150_000
	alone, store := reader(t, func(c *lake.PoolConfig) { c.Threads = 1 })
	several, _ := pool(t, func(c *lake.PoolConfig) { c.Temp, c.Threads = string(store), 4 })
	block := []columnar.Vector{{Type: columnar.TypeInteger, Len: rows}}
	for i := range rows {
		block[0].Ints = append(block[0].Ints, int64(i))
	}
	v, err := lake.Write(t.Context(), store, "big.parquet", typed([]feedmill.Column{{Name: "n", Type: columnar.TypeInteger}}, block))
	if err != nil {
		t.Fatal(err)
	}
	q := feedmill.Query{Where: []feedmill.Condition{{Name: "n", Filters: []feedmill.Filter{{Op: feedmill.OpGte, Values: []feedmill.FilterValue{{Text: "200"}}}}}}}
	first := read(t, alone, &v, q, wire.FormatXLSX)
	for range 3 {
		if read(t, lake.NewReader(store, several), &v, q, wire.FormatXLSX) != first {
			t.Error("the same rows have other bytes")
		}
	}
	// The same rows once more, but in chunks of other sizes.
	p, _ := pool(t)
	request := wire.Request{SQL: "SELECT i FROM range(150000) t(i) WHERE i >= 200", Names: []string{"n"}, Format: wire.FormatXLSX}
	var out strings.Builder
	if _, err := p.Run(t.Context(), request, &out); err != nil || out.String() != first {
		t.Errorf("the same rows from elsewhere have other bytes, or %v", err)
	}
}

// More rows than a sheet holds are on several.
func TestWorkbookOfSeveralSheets(t *testing.T) {
	if worker.SheetRows != 1_048_576 {
		t.Errorf("a sheet has %d rows", worker.SheetRows)
	}
	most := worker.SheetRows
	p, _ := pool(t, func(c *lake.PoolConfig) {
		if os.Getenv("FEEDMILL_LONG") == "" {
			most = worker.SmallSheet
			c.Args = []string{"feedmill", "small", "sheets"}
		}
	})
	request := wire.Request{SQL: fmt.Sprintf("SELECT i FROM range(%d + 1) t(i)", most), Names: []string{"n"}, Format: wire.FormatXLSX}
	var out bytes.Buffer
	if _, err := p.Run(t.Context(), request, &out); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	const header = `<sheetData><row r="1"><c r="A1" s="1" t="inlineStr"><is><t>n</t></is></c></row>`
	const end = `</sheetData></worksheet>`
	for path, want := range map[string]struct {
		rows        int
		first, last string
	}{
		"xl/worksheets/sheet1.xml": {most, `<row r="2"><c r="A2" s="3"><v>0</v></c></row>`, fmt.Sprintf(`<row r="%d"><c r="A%[1]d" s="3"><v>%d</v></c></row>`, most, most-2)},
		"xl/worksheets/sheet2.xml": {3, fmt.Sprintf(`<row r="2"><c r="A2" s="3"><v>%d</v></c></row>`, most-1), fmt.Sprintf(`<row r="3"><c r="A3" s="3"><v>%d</v></c></row>`, most)},
		"xl/workbook.xml":          {0, `<sheet name="Data" sheetId="1" r:id="rId1"/>`, `<sheet name="Data 2" sheetId="2" r:id="rId2"/></sheets></workbook>`},
	} {
		part, err := z.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		first, last := want.first, want.last
		if want.rows > 0 {
			first, last = header+first, last+end
		}
		if n := bytes.Count(text, []byte("<row ")); n != want.rows || !bytes.Contains(text, []byte(first)) || !bytes.HasSuffix(text, []byte(last)) {
			t.Errorf("%s has %d rows: %.600s … %s", path, n, text, text[max(0, len(text)-200):])
		}
	}
}

// A text that no cell can hold is cut, and the workbook says so.
func TestWorkbookOfLongText(t *testing.T) {
	r, store := reader(t)
	in := &table{columns: kinds[:2], rows: [][]cell{
		{new(big.Rat), strings.Repeat("é", 32_767)},
		{new(big.Rat), strings.Repeat("a", 32_768)},
	}}
	for range 100 {
		in.rows = append(in.rows, []cell{new(big.Rat), strings.Repeat("b", 40_000)})
	}
	b := openBook(t, read(t, r, in.write(t, store, "long.parquet"), feedmill.Query{}, wire.FormatXLSX))
	if !slices.Equal(b.names, []string{"Data", "Notes"}) {
		t.Fatalf("the sheets %v", b.names)
	}
	rows := b.sheets["Data"].Rows
	if got := rows[1].Cells[1].Text; got != in.rows[0][1] {
		t.Errorf("a text that fits has %d bytes", len(got))
	}
	if got, want := rows[2].Cells[1].Text, strings.Repeat("a", 32_767-28)+"… [cut: see the sheet Notes]"; got != want {
		t.Errorf("a text that does not fit has %d bytes and ends with %q", len(got), got[len(got)-40:])
	}
	notes := b.table(t, "Notes", 1)
	if len(notes) != 102 || notes[1][0] != `"'Data'!B3: the text has 32768 characters; only its beginning fits into the cell."` || notes[101][0] != `"And 1 more."` {
		t.Errorf("%d notes, from %v to %v", len(notes), notes[1], notes[len(notes)-1])
	}
}
