package sheet

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
)

// officeRow is a row of the table that LibreOffice writes in all its formats.
func officeRow(i int) (values []string, cells string) {
	day := time.Date(1955+i, time.Month(1+i%12), 1+i%28, 0, 0, 0, 0, time.UTC)
	at := day.Add(time.Duration(i*997+1) * time.Second)
	amount, share, price := float64(i*i)/8, float64(i)/80, float64(11*i)/10
	name := fmt.Sprintf("%05d", i)
	if i%3 == 0 {
		name = fmt.Sprintf("Łódź %d & <中>", i)
	}
	number := func(style, kind string, n float64) string {
		return fmt.Sprintf(`<table:table-cell table:style-name="%s" office:value-type="%s" office:value="%s"/>`, style, kind, appendNumber(nil, n))
	}
	cells = number("n", "float", float64(i)) +
		`<table:table-cell office:value-type="string"><text:p>` + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(name) + `</text:p></table:table-cell>` +
		number("n", "float", amount) + number("p", "percentage", share) + number("c", "currency", price) +
		`<table:table-cell table:style-name="d" office:value-type="date" office:date-value="` + day.Format(time.DateOnly) + `"/>` +
		`<table:table-cell table:style-name="dt" office:value-type="date" office:date-value="` + at.Format("2006-01-02T15:04:05") + `"/>` +
		fmt.Sprintf(`<table:table-cell table:style-name="t" office:value-type="time" office:time-value="PT%02dH%02dM00S"/>`, 20+i, i%60) +
		fmt.Sprintf(`<table:table-cell table:style-name="b" office:value-type="boolean" office:boolean-value="%t"/>`, i%2 == 0)
	note := ""
	if i%4 == 0 {
		note = "'two\\nlines"
		cells += `<table:table-cell office:value-type="string"><text:p>two</text:p><text:p>lines</text:p></table:table-cell>`
	} else {
		cells += `<table:table-cell/>`
	}
	cells += fmt.Sprintf(`<table:table-cell table:style-name="n" table:formula="of:=[.A%d]*2" office:value-type="float" office:value="%d"/>`, i+2, 2*i)
	// Money of two currencies, ids of 15 digits, numbers that a float has not exactly, texts that look like
	// something else, errors, and cells that are merged with the one at their left.
	money, style := "€", "c"
	if i%2 == 0 {
		money, style = "CHF", "f"
	}
	id, small := 123456789012345+i, float64(i)/1e9
	text := []string{"1e5", "TRUE", "=1+1", "2024-01-01", "#N/A", "_x0041_"}[i%6]
	cells += number(style, "currency", price) + number("n", "float", float64(id)) + number("n", "float", small) + `<table:table-cell office:value-type="string"><text:p>` + text + `</text:p></table:table-cell>`
	failed := "!#DIV/0!"
	if i%7 == 0 {
		cells += `<table:table-cell table:formula="of:=1/0" office:value-type="float" office:value="0"/>`
	} else {
		failed = string(appendNumber(nil, float64(i)/10))
		cells += number("n", "float", float64(i)/10)
	}
	right := "2"
	if i%5 == 0 {
		right = ""
		cells += `<table:table-cell table:number-columns-spanned="2" office:value-type="float" office:value="1"/><table:covered-table-cell office:value-type="float" office:value="9"/>`
	} else {
		cells += number("n", "float", 1) + number("n", "float", 2)
	}
	truth := map[bool]string{true: "TRUE", false: "FALSE"}[i%2 == 0]
	return []string{
		fmt.Sprint(i), "'" + name, string(appendNumber(nil, amount)), "~" + string(appendPercent(nil, share)), string(appendNumber(nil, price)), "@" + day.Format(time.DateOnly),
		"@" + at.Format("2006-01-02T15:04:05"), fmt.Sprint(3600*(20+i) + 60*(i%60)), truth, note, fmt.Sprint(2 * i),
		"~" + money + " " + string(appendNumber(nil, price)), fmt.Sprint(id), string(appendNumber(nil, small)), "'" + text, failed, "1", right,
	}, cells
}

const officeRows = 60

// officeTable is the table as a flat OpenDocument, and what must come of it.
func officeTable() (document, want string) {
	var rows, shown strings.Builder
	names := []string{"id", "name", "amount", "share", "price", "day", "at", "span", "ok", "note", "twice", "money", "number", "small", "text", "failed", "left", "right"}
	rows.WriteString("<table:table-row>")
	for _, name := range names {
		rows.WriteString(`<table:table-cell office:value-type="string"><text:p>` + name + `</text:p></table:table-cell>`)
	}
	rows.WriteString("</table:table-row>")
	formats := make([]string, len(names))
	formats[slices.Index(names, "price")], formats[slices.Index(names, "span")] = "€", "s"
	fmt.Fprintf(&shown, "%q %d %q\n", names, officeRows, formats)
	for i := range officeRows {
		values, cells := officeRow(i)
		rows.WriteString("<table:table-row>" + cells + "</table:table-row>\n")
		shown.WriteString("  " + strings.Join(values, " | ") + "\n")
	}
	style := func(name, data string) string {
		return `<style:style style:name="` + name + `" style:family="table-cell" style:data-style-name="` + data + `"/>`
	}
	part := func(name string) string { return `<number:` + name + ` number:style="long"/>` }
	day := part("year") + `<number:text>-</number:text>` + part("month") + `<number:text>-</number:text>` + part("day")
	clock := part("hours") + `<number:text>:</number:text>` + part("minutes") + `<number:text>:</number:text>` + part("seconds")
	return `<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" ` +
		`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" ` +
		`xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:automatic-styles>` +
		`<number:number-style style:name="N"><number:number number:min-integer-digits="1"/></number:number-style>` +
		`<number:percentage-style style:name="P"><number:number number:decimal-places="2" number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>` +
		`<number:currency-style style:name="C"><number:currency-symbol>€</number:currency-symbol><number:number number:decimal-places="2" number:min-integer-digits="1"/></number:currency-style>` +
		`<number:currency-style style:name="F"><number:currency-symbol>CHF</number:currency-symbol><number:number number:decimal-places="2" number:min-integer-digits="1"/></number:currency-style>` +
		`<number:date-style style:name="D">` + day + `</number:date-style><number:date-style style:name="DT">` + day + `<number:text> </number:text>` + clock + `</number:date-style>` +
		`<number:time-style style:name="T" number:truncate-on-overflow="false">` + clock + `</number:time-style><number:boolean-style style:name="B"><number:boolean/></number:boolean-style>` +
		style("n", "N") + style("p", "P") + style("c", "C") + style("f", "F") + style("d", "D") + style("dt", "DT") + style("t", "T") + style("b", "B") +
		`</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="Data">` + rows.String() + `</table:table></office:spreadsheet></office:body></office:document>`, shown.String()
}

// shownWhole shows all rows of a workbook.
func shownWhole(t *testing.T, format string, data []byte) string {
	t.Helper()
	table, err := open(format, data, Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var out strings.Builder
	for _, w := range table.warnings {
		fmt.Fprintf(&out, "! %s\n", w.Detail)
	}
	fmt.Fprintf(&out, "%q %d%s\n", table.Names(), table.Rows(), shownFormats(table))
	err = table.Read(t.Context(), 0, table.Blocks(), func(c *columnar.Cells) error {
		for row := range c.Rows {
			var cells []string
			for column := range c.Columns {
				cell := c.At(row, column)
				cells = append(cells, kinds[cell.Kind()]+strings.ReplaceAll(string(c.Text(cell)), "\n", `\n`))
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

// convert has LibreOffice write a file in other formats. It starts once for each, with one profile.
func convert(t *testing.T, file string, formats ...string) map[string][]byte {
	t.Helper()
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("soffice is not there")
		}
		t.Skip("LibreOffice is not there")
	}
	folder := t.TempDir()
	written := make(map[string][]byte)
	for _, format := range formats {
		out, err := exec.CommandContext(t.Context(), soffice, "-env:UserInstallation=file://"+filepath.Join(folder, "profile"), "--headless", "--convert-to", cmp.Or(map[string]string{"xml": "xml:MS Excel 2003 XML"}[format], format), "--outdir", folder, file).CombinedOutput()
		data, missing := os.ReadFile(filepath.Join(folder, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))+"."+format))
		if err != nil || missing != nil {
			t.Fatalf("%v %v: %s", err, missing, out)
		}
		written[format] = data
	}
	return written
}

// asExcel2003 is what must come of the table in the XML of Excel 2003, for which LibreOffice writes fewer formats: none of
// durations and none of currencies but the euro. Errors are texts.
func asExcel2003(want string) string {
	lines := strings.Split(strings.Replace(want, `"s"`, `""`, 1), "\n")
	for i, line := range lines[1 : len(lines)-1] {
		values := strings.Split(line, " | ")
		seconds, _ := strconv.Atoi(values[7])
		values[7] = fmt.Sprintf("'%02d:%02d:00", seconds/3600, seconds/60%60)
		values[11] = values[11][strings.IndexByte(values[11], ' ')+1:]
		values[15] = strings.Replace(values[15], "!", "'", 1)
		lines[i+1] = strings.Join(values, " | ")
	}
	return strings.Join(lines, "\n")
}

// TestLibreOffice reads what LibreOffice has made of the table once, and where it is there, what it
// makes of it now.
func TestLibreOffice(t *testing.T) {
	document, want := officeTable()
	formats := []string{"xlsx", "xls", "ods", "xml"}
	check := func(t *testing.T, format string, data []byte) {
		t.Helper()
		// OpenDocument has the currency as its code, too.
		lines := strings.Split(strings.ReplaceAll(shownWhole(t, format, data), "EUR", "€"), "\n")
		want := want
		if format == "xml" {
			want = asExcel2003(want)
		}
		for i, line := range strings.Split(want, "\n") {
			if i >= len(lines) || lines[i] != line {
				t.Fatalf("%s has %d lines, and the line %d is\n%s\nwant\n%s", format, len(lines), i+1, strings.Join(lines[i:min(i+1, len(lines))], ""), line)
			}
		}
		if want := strings.Count(want, "\n") + 1; len(lines) != want {
			t.Errorf("%s has %d lines, want %d", format, len(lines), want)
		}
	}
	golden := func(format string) string { return filepath.Join("testdata", "office", "table."+format) }
	t.Run("now", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "table.fods")
		if err := os.WriteFile(file, []byte(document), 0o644); err != nil {
			t.Fatal(err)
		}
		for format, data := range convert(t, file, formats...) {
			if *update {
				if err := os.WriteFile(golden(format), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			check(t, format, data)
		}
	})
	t.Run("once", func(t *testing.T) {
		for _, format := range formats {
			data, err := os.ReadFile(golden(format))
			if err != nil {
				t.Fatal(err)
			}
			check(t, format, data)
		}
	})
}
