package csv

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// table is a CSV file as it was read: names, rows and what was warned of. A
// missing cell is "∅".
type table struct {
	names    []string
	rows     [][]string
	warnings []string
}

func openCSV(t testing.TB, data string, options ...Options) (*Table, error) {
	t.Helper()
	options = append(options, Options{})
	options[0].Temp = t.TempDir()
	c, err := Open(t.Context(), strings.NewReader(data), options[0])
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// openChunks opens data whose chunks are of another size than usual.
func openChunks(t testing.TB, data string, chunk int64) (*Table, error) {
	t.Helper()
	limits := usual
	limits.chunk = chunk
	return openCSV(t, data, Options{limits: &limits})
}

// readCSV reads data twice and holds the two readings against each other.
func readCSV(t testing.TB, data string, options ...Options) table {
	t.Helper()
	c, err := openCSV(t, data, options...)
	if err != nil {
		t.Fatal(err)
	}
	out := table{rows: decodetest.Rows(t, c)}
	if again := decodetest.Rows(t, c); !slices.EqualFunc(again, out.rows, slices.Equal) {
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
	for _, in := range []string{"", "\n", "\r\n\r\n", "\ufeff", strings.Repeat("\n", 3*int(usual.tail))} {
		if _, err := openCSV(t, in); err != input.ErrNoData {
			t.Errorf("%d bytes: %v", len(in), err)
		}
	}
}

// What stands anywhere in a long file is noticed and put right there alone.
func TestCSVBreaksFarIn(t *testing.T) {
	line := "12345,some text,\"quoted, text\",2026-01-01\n"
	var in bytes.Buffer
	in.WriteString("id,a,b,c\n")
	for in.Len() < 2*int(small.chunk)+100 {
		in.WriteString(line)
	}
	before := (in.Len() - 9) / len(line)
	in.WriteString("1,5\" pipe,x,y\n")
	for in.Len() < 5*int(small.chunk) {
		in.WriteString(line)
	}
	got := readCSV(t, in.String(), Options{limits: &small})
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
	decodetest.Rows(t, c)
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
				out = append(out, decodetest.CellText(cells, cell))
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
	remark := strings.Repeat("a remark without end ", 60) + "\n"
	before := strings.Repeat(remark, 2*int(small.head)/len(remark)) + "\n"
	rows := strings.Repeat("1;x;2026-01-01\n", 1_000)
	c, err := openCSV(t, before+"id;name;day\n"+rows, Options{limits: &small})
	if err != nil {
		t.Fatal(err)
	}
	if got := decodetest.Rows(t, c); len(got) != 1_000 || !slices.Equal(c.Names(), []string{"id", "name", "day"}) {
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
	lines := int(small.farHead)/len(line) + 1
	c, err := openCSV(t, "title\n"+strings.Repeat(line, lines)+"id,name\n1,x\n", Options{limits: &small})
	if err != nil {
		t.Fatal(err)
	}
	rows := decodetest.Rows(t, c)
	if !slices.Equal(c.Names(), []string{"title", "_extra_1"}) || len(rows) != lines+2 || !slices.Equal(rows[lines+1], []string{"1", "x"}) {
		t.Errorf("%d rows of %q, the last %q", len(rows), c.Names(), rows[len(rows)-1])
	}
}
