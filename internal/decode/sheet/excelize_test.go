package sheet

import (
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// TestExcelizeWrote reads a workbook with every kind of cell that the library excelize writes.
func TestExcelizeWrote(t *testing.T) {
	f := excelize.NewFile()
	defer f.Close()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	style := func(s excelize.Style) int {
		t.Helper()
		id, err := f.NewStyle(&s)
		check(err)
		return id
	}
	elapsed, money := "[h]:mm:ss", `[$€-407] #,##0.00;[Red]-[$€-407] #,##0.00`
	day, percent := style(excelize.Style{NumFmt: 14}), style(excelize.Style{NumFmt: 10})
	span, euros := style(excelize.Style{CustomNumFmt: &elapsed}), style(excelize.Style{CustomNumFmt: &money})
	at := time.Date(2024, 2, 29, 13, 30, 15, 0, time.UTC)
	rows := [][]any{
		{"text", "number", "day", "more"},
		{"00123", 42, at.Truncate(24 * time.Hour), 0.125},
		{" space ", -1.5, at, true},
		{"", 123456789012345, nil, 36 * time.Hour},
		{"=no formula", 0.1, at.Truncate(24 * time.Hour), false},
	}
	for i, row := range rows {
		cell, err := excelize.CoordinatesToCellName(2, i+3)
		check(err)
		check(f.SetSheetRow("Sheet1", cell, &row))
	}
	check(f.SetCellValue("Sheet1", "B1", "A title"))
	check(f.SetCellStyle("Sheet1", "D4", "D4", day))
	check(f.SetCellStyle("Sheet1", "D7", "D7", day))
	check(f.SetCellStyle("Sheet1", "E4", "E4", percent))
	check(f.SetCellStyle("Sheet1", "E6", "E6", span))
	check(f.SetCellRichText("Sheet1", "B8", []excelize.RichTextRun{{Text: "rich "}, {Text: "text", Font: &excelize.Font{Bold: true}}}))
	check(f.SetCellValue("Sheet1", "C8", 9.99))
	check(f.SetCellStyle("Sheet1", "C8", "C8", euros))
	check(f.SetCellHyperLink("Sheet1", "B8", "https://example.com", "External"))
	check(f.SetCellFormula("Sheet1", "E8", "=1+1"))
	check(f.SetCellValue("Sheet1", "D8", "hidden below"))
	check(f.MergeCell("Sheet1", "D8", "E8"))
	check(f.SetDefinedName(&excelize.DefinedName{Name: "Part", RefersTo: "Sheet1!$B$3:$C$4"}))
	check(f.AddTable("Sheet1", &excelize.Table{Range: "B3:E7", Name: "Sales"}))
	_, err := f.NewSheet("Hidden")
	check(err)
	check(f.SetSheetVisible("Hidden", false))
	check(f.SetCellValue("Hidden", "A1", "x"))
	check(f.SetCellValue("Hidden", "A2", 7))
	check(f.AddChartSheet("Chart", &excelize.Chart{Type: excelize.Col, Series: []excelize.ChartSeries{{Values: "Sheet1!$C$4:$C$7"}}}))
	_, err = f.NewSheet("Stream")
	check(err)
	w, err := f.NewStreamWriter("Stream")
	check(err)
	check(w.SetRow("A1", []any{"a", "b"}))
	check(w.SetRow("A2", []any{"inline", 1.25}))
	check(w.Flush())
	data, err := f.WriteToBuffer()
	check(err)
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{}, `["text" "number" "day" "more"] 5
  '00123 | 42 | @2024-02-29 | ~12.5%
  ' space  | -1.5 | @2024-02-29T13:30:15 | TRUE
  ' | 123456789012345 |  | '36:00:00
  '=no formula | 0.1 | @2024-02-29 | FALSE
  'rich text | 9.99 | 'hidden below | ` + "\n"},
		{Options{Path: "Part"}, "[\"text\" \"number\"] 1\n  '00123 | 42\n"},
		{Options{Path: "sales", Header: -1}, "  '=no formula | 0.1 | @2024-02-29 | FALSE\n"},
		{Options{Sheet: 2}, "[\"x\"] 1\n  7\n"},
		{Options{Sheet: 3}, "[\"a\" \"b\"] 1\n  'inline | 1.25\n"},
		{Options{Sheet: 4}, "1 Sheet1, 2 Hidden, 3 Stream.}]"},
	} {
		if got := shownTable(t, "xlsx", data.Bytes(), test.options); !strings.HasSuffix(got, test.want) {
			t.Errorf("%+v is\n%s\nwant\n%s", test.options, got, test.want)
		}
	}
}
