package sheet

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
)

var update = flag.Bool("update", false, "write the golden files")

// kinds are how cells are shown: what they are, and their text.
var kinds = map[columnar.CellKind]string{
	columnar.CellMissing: "", columnar.CellPlain: "~", columnar.CellString: "'", columnar.CellNumber: "", columnar.CellTrue: "TRUE",
	columnar.CellFalse: "FALSE", columnar.CellDate: "@", columnar.CellError: "!",
}

// show writes a table: its warnings, its names and its first rows.
func show(t *testing.T, table *Table) string {
	t.Helper()
	var out strings.Builder
	for _, w := range table.warnings {
		fmt.Fprintf(&out, "! %s %d: %s\n", w.Code, w.Count, w.Detail)
	}
	fmt.Fprintf(&out, "%q %d%s\n", table.Names(), table.Rows(), shownFormats(table))
	err := table.Read(t.Context(), 0, table.Blocks(), func(c *columnar.Cells) error {
		for row := range c.Rows {
			if number := c.First + int64(row); number >= 8 && number < table.Rows()-2 {
				continue
			}
			var cells []string
			for column := range min(c.Columns, 12) {
				cell := c.At(row, column)
				cells = append(cells, kinds[cell.Kind()]+strings.Trim(fmt.Sprintf("%q", c.Text(cell)), `"`))
			}
			out.WriteString("  " + strings.Join(cells, " | ") + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// shownFormats are the formats of a table, where it has any.
func shownFormats(table *Table) string {
	if formats := table.Formats(); strings.Join(formats, "") != "" {
		return fmt.Sprintf(" %q", formats)
	}
	return ""
}

// readxl are the workbooks of a format that the package readxl is tested with, each of which has a trap in it.
func readxl(t *testing.T, format string) []string {
	t.Helper()
	corpora := cmp.Or(os.Getenv("FEEDMILL_CORPORA"), "../../../../shared/corpora")
	files, err := filepath.Glob(filepath.Join(corpora, "readxl", "sheets", "*."+format))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the workbooks of readxl are not in " + corpora)
	}
	return files
}

// showAll shows every sheet of a workbook, or why it is refused.
func showAll(t *testing.T, format string, data []byte) string {
	t.Helper()
	var out strings.Builder
	for sheet := 1; ; sheet++ {
		table, err := Open(t.Context(), format, bytes.NewReader(data), Options{Sheet: sheet, Temp: t.TempDir()})
		if err != nil {
			if sheet == 1 {
				return err.Error() + "\n"
			}
			return out.String()
		}
		fmt.Fprintf(&out, "-- %s\n%s", table.found.Sheets[sheet-1].Name, show(t, table))
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkGolden compares a text with that of a file, which it writes if told to.
func checkGolden(t *testing.T, name, text string) {
	t.Helper()
	golden := filepath.Join("testdata", "readxl", name+".txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != text {
		t.Errorf("%s is\n%s\nwant\n%s", name, text, want)
	}
}

func TestReadxl(t *testing.T) {
	for _, name := range readxl(t, "xlsx") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkGolden(t, strings.TrimSuffix(filepath.Base(name), ".xlsx"), showAll(t, "xlsx", data))
	}
}

// different are the workbooks that hold something else than their twins, by their own records.
var different = map[string]string{
	"iris-excel-xls": "some numbers are 0.30000000000000004, and in the twin 0.3",
	"geometry":       "the last sheet of the twin has a cell in the column AKE, for which there is no room in xls",
}

// TestReadxlTwins reads the workbooks of Excel 97 to 2003. One that has a twin in xlsx has the tables of its
// twin, and the others have a golden file of their own.
func TestReadxlTwins(t *testing.T) {
	for _, name := range readxl(t, "xls") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := showAll(t, "xls", data)
		own := strings.TrimSuffix(filepath.Base(name), ".xls")
		stem, marked := strings.CutSuffix(own, "-xls")
		if marked {
			stem += "-xlsx"
		}
		twin, err := os.ReadFile(filepath.Join("testdata", "readxl", stem+".txt"))
		if err != nil || different[own] != "" {
			checkGolden(t, own+".xls", got)
		} else if string(twin) != got {
			t.Errorf("%s is\n%s\nits twin is\n%s", name, got, twin)
		}
	}
}
