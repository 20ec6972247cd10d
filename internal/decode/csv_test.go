package decode

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// quotedEmpty stands for the text of an empty quoted cell.
const quotedEmpty = "«»"

// table is a CSV file as it was read: names, rows and what was warned of. A
// missing cell is "∅".
type table struct {
	names    []string
	rows     [][]string
	warnings []string
}

func cellText(cells *columnar.Cells, cell columnar.Cell) string {
	switch {
	case cell.Kind() == columnar.CellMissing:
		return "∅"
	case cell.Kind() == columnar.CellQuoted && cell.Empty():
		return quotedEmpty
	}
	return string(cells.Text(cell))
}

// openTable is what every decoder opens.
type openTable interface {
	Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error
	Rows() int64
	Names() []string
}

// readRows reads all records of an open table.
func readRows(t testing.TB, c openTable) [][]string {
	t.Helper()
	var mu sync.Mutex
	rows := map[int64][]string{}
	err := c.Each(t.Context(), 3, func(cells *columnar.Cells) error {
		mu.Lock()
		defer mu.Unlock()
		for row := range cells.Rows {
			number := cells.First + int64(row)
			if rows[number] != nil {
				return fmt.Errorf("row %d was given twice", number)
			}
			out := make([]string, cells.Columns)
			for column := range out {
				out[column] = cellText(cells, cells.At(row, column))
			}
			rows[number] = out
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(rows)) != c.Rows() {
		t.Fatalf("%d rows were given of %d", len(rows), c.Rows())
	}
	out := make([][]string, len(rows))
	width := len(c.Names())
	for number, row := range rows {
		for len(row) < width {
			row = append(row, "∅")
		}
		out[number] = row
	}
	return out
}

func openCSV(t testing.TB, data string, options ...CSVOptions) (*CSV, error) {
	t.Helper()
	text, err := OpenText(t.Context(), strings.NewReader(data), t.TempDir())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = text.Close() })
	options = append(options, CSVOptions{})
	return OpenCSV(t.Context(), text, options[0])
}

// openChunks opens data whose chunks are of another size than usual.
func openChunks(t testing.TB, data string, chunk int64) (*CSV, error) {
	t.Helper()
	c, err := openCSV(t, data)
	if err == nil {
		c.text.survey, err = surveyText(t.Context(), c.text.Source, chunk, false)
	}
	return c, err
}

// readCSV reads data twice and holds the two readings against each other.
func readCSV(t testing.TB, data string) table {
	t.Helper()
	c, err := openCSV(t, data)
	if err != nil {
		t.Fatal(err)
	}
	out := table{rows: readRows(t, c)}
	if again := readRows(t, c); !slices.EqualFunc(again, out.rows, slices.Equal) {
		t.Fatalf("the second reading differs: %s", cmp.Diff(out.rows, again))
	}
	out.names = c.Names()
	warnings, err := c.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		out.warnings = append(out.warnings, fmt.Sprintf("%s %d %d", w.Code, w.Count, w.FirstRow))
	}
	return out
}

func TestCSVIsEmpty(t *testing.T) {
	for _, in := range []string{"", "\n", "\r\n\r\n", "\ufeff", strings.Repeat("\n", 3*tailBytes)} {
		if _, err := openCSV(t, in); err != ErrNoData {
			t.Errorf("%d bytes: %v", len(in), err)
		}
	}
}

// What stands anywhere in a long file is noticed and put right there alone.
func TestCSVBreaksFarIn(t *testing.T) {
	line := "12345,some text,\"quoted, text\",2026-01-01\n"
	var in bytes.Buffer
	in.WriteString("id,a,b,c\n")
	for in.Len() < 2*chunkSize+100 {
		in.WriteString(line)
	}
	before := (in.Len() - 9) / len(line)
	in.WriteString("1,5\" pipe,x,y\n")
	for in.Len() < 5*chunkSize {
		in.WriteString(line)
	}
	got := readCSV(t, in.String())
	want := []string{fmt.Sprintf("broken-quote 1 %d", before+1)}
	if !slices.Equal(got.warnings, want) {
		t.Errorf("warnings %q, want %q", got.warnings, want)
	}
	for i, row := range got.rows {
		if want := []string{"12345", "some text", "quoted, text", "2026-01-01"}; i != before && !slices.Equal(row, want) {
			t.Fatalf("row %d is %q", i, row)
		}
	}
	if want := []string{"1", `5" pipe`, "x", "y"}; !slices.Equal(got.rows[before], want) {
		t.Errorf("row %d is %q", before, got.rows[before])
	}
}

func TestCSVWarningHasPosition(t *testing.T) {
	c, err := openCSV(t, "a,b\nx,y\nz,5\" pipe\n")
	if err != nil {
		t.Fatal(err)
	}
	readRows(t, c)
	warnings, err := c.Warnings()
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Detail, "line 3, column 4 (byte 11)") {
		t.Errorf("warnings %+v, %v", warnings, err)
	}
}

// rowsOf is the text of the cells of a run, without those that are missing.
func rowsOf(cells *columnar.Cells) (rows [][]string) {
	for row := range cells.Rows {
		var out []string
		for column := range cells.Columns {
			if cell := cells.At(row, column); cell.Kind() != columnar.CellMissing {
				out = append(out, cellText(cells, cell))
			}
		}
		rows = append(rows, out)
	}
	return rows
}

func collect(rows *[][]string) func(*columnar.Cells) error {
	return func(cells *columnar.Cells) error {
		*rows = append(*rows, rowsOf(cells)...)
		return nil
	}
}

// What the beginning of a file is like is not what all of it is like.
func TestCSVBeginsLate(t *testing.T) {
	remark := strings.Repeat("a remark without end ", 2000) + "\n"
	before := strings.Repeat(remark, 2*headBytes/len(remark)) + "\n"
	rows := strings.Repeat("1;x;2026-01-01\n", 10_000)
	c, err := openCSV(t, before+"id;name;day\n"+rows)
	if err != nil {
		t.Fatal(err)
	}
	if got := readRows(t, c); len(got) != 10_000 || !slices.Equal(c.Names(), []string{"id", "name", "day"}) {
		t.Errorf("%d rows of %q", len(got), c.Names())
	}
	warnings, err := c.Warnings()
	if err != nil || len(warnings) != 1 || warnings[0].Code != feedmill.WarnPreamble {
		t.Errorf("warnings %v, error %v", warnings, err)
	}
}

// A table that begins too late is not found, and is not lost either.
func TestCSVBeginsTooLate(t *testing.T) {
	line := strings.Repeat("line ", 200) + "\n"
	lines := farHeadBytes/len(line) + 1
	c, err := openCSV(t, "title\n"+strings.Repeat(line, lines)+"id,name\n1,x\n")
	if err != nil {
		t.Fatal(err)
	}
	rows := readRows(t, c)
	if !slices.Equal(c.Names(), []string{"title", "_extra_1"}) || len(rows) != lines+2 || !slices.Equal(rows[lines+1], []string{"1", "x"}) {
		t.Errorf("%d rows of %q, the last %q", len(rows), c.Names(), rows[len(rows)-1])
	}
}
