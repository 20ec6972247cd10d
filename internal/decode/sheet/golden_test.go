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
	fmt.Fprintf(&out, "%q %d\n", table.Names(), table.Rows())
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

// TestReadxl reads every sheet of the workbooks that the package readxl is tested with, each of which
// has a trap in it.
func TestReadxl(t *testing.T) {
	corpora := cmp.Or(os.Getenv("FEEDMILL_CORPORA"), "../../../../shared/corpora")
	files, err := filepath.Glob(filepath.Join(corpora, "readxl", "sheets", "*.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the workbooks of readxl are not in " + corpora)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for sheet := 1; ; sheet++ {
			table, err := Open(t.Context(), "xlsx", bytes.NewReader(data), Options{Sheet: sheet, Temp: t.TempDir()})
			if err != nil {
				if sheet == 1 {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			fmt.Fprintf(&out, "-- %s\n%s", table.found.Sheets[sheet-1].Name, show(t, table))
			if err := table.Close(); err != nil {
				t.Fatal(err)
			}
		}
		golden := filepath.Join("testdata", "readxl", strings.TrimSuffix(filepath.Base(name), ".xlsx")+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != out.String() {
			t.Errorf("%s is\n%s\nwant\n%s", name, out.String(), want)
		}
	}
}
