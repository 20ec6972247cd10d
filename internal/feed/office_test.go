package feed

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
)

// officeCase is a small file as somebody's program writes it, the table that a
// careful analyst wants of it, and the warnings that must stand.
type officeCase struct {
	name, format, data string
	options            feedmill.ReadingOptions
	rules              feedmill.Rules
	columns, rows      []string
	warnings           string
}

// TestOfficeFiles reads the files of testdata/office: each has many cases of one
// family. A case begins with === and its name, then the data, then --- with the
// columns, a line for each row, and the warnings after !!!. Escapes such as \xe9 stand
// for bytes that are no text.
func TestOfficeFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/office/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	cases := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n=== ")[1:] {
			c := parseOfficeCase(t, part)
			cases++
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+c.name, func(t *testing.T) { c.check(t) })
		}
	}
	if cases < 250 {
		t.Errorf("there are %d cases", cases)
	}
}

func parseOfficeCase(t *testing.T, part string) (c officeCase) {
	t.Helper()
	head, rest, _ := strings.Cut(part, "\n")
	c.name, c.format = strings.TrimSpace(head), "csv"
	if name, options, ok := strings.Cut(head, " ["); ok {
		c.name = name
		for _, option := range strings.Fields(strings.TrimSuffix(options, "]")) {
			key, value, _ := strings.Cut(option, "=")
			if key == "format" {
				c.format = value
			} else {
				*c.options.Option(key) = value
			}
		}
	}
	data, want, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		t.Fatalf("%s: nothing is wanted", c.name)
	}
	c.data = unescaped(t, data+"\n")
	want, c.warnings, _ = strings.Cut(strings.TrimRight(want, "\n")+"\n", "!!!")
	c.warnings = strings.TrimSpace(c.warnings)
	lines := strings.Split(strings.TrimSuffix(want, "\n"), "\n")
	c.columns, c.rows = strings.Split(lines[0], " | "), lines[1:]
	return c
}

// unescaped undoes \x.., \t, \r and \\.
func unescaped(t *testing.T, text string) string {
	t.Helper()
	out, err := strconv.Unquote(`"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(text) + `"`)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return out
}

func (c *officeCase) check(t *testing.T) {
	columns, rows, warnings, err := c.read(t)
	if err != nil {
		columns = []string{"error " + err.Error()}
	}
	if len(columns) == 1 && len(c.columns) == 1 && strings.HasPrefix(c.columns[0], "error ") {
		if !strings.Contains(columns[0], strings.TrimPrefix(c.columns[0], "error ")) {
			t.Errorf("%s", columns[0])
		}
		return
	}
	got := strings.Join(append([]string{strings.Join(columns, " | ")}, rows...), "\n")
	want := strings.Join(append([]string{strings.Join(c.columns, " | ")}, c.rows...), "\n")
	if got != want || strings.Join(warnings, ", ") != c.warnings {
		t.Errorf("got\n%s\n!!! %s\nwant\n%s\n!!! %s", got, strings.Join(warnings, ", "), want, c.warnings)
	}
}

// read reads the data as an upload is read.
func (c *officeCase) read(t *testing.T) (columns, rows, warnings []string, err error) {
	reading := feedmill.Reading{Format: c.format, ReadingOptions: c.options, Rules: c.rules}
	table, err := decode.Open(t.Context(), c.format, strings.NewReader(c.data), decode.Options{ReadingOptions: c.options, Rules: c.rules, Temp: t.TempDir()})
	if err != nil {
		return nil, nil, nil, err
	}
	found, err := inferTable(t.Context(), table, reading)
	if err != nil {
		return nil, nil, nil, err
	}
	defer found.Close()
	for _, column := range found.schema.Columns {
		text := column.Name + ":" + string(column.Type)
		if column.Format != "" {
			text += "(" + column.Format + ")"
		}
		if column.Description != "" {
			text += "[" + column.Description + "]"
		}
		columns = append(columns, text)
	}
	for _, w := range found.warnings {
		text := w.Code
		if w.Column != "" {
			text += " " + w.Column
		}
		warnings = append(warnings, text)
		if w.Count == 0 || w.Detail == "" {
			t.Errorf("the warning says nothing: %+v", w)
		}
	}
	for run, err := range found.schema.Load(t.Context(), found, model.Loading{}).Runs {
		if err != nil {
			return nil, nil, nil, err
		}
		for row := range run[0].Len {
			var cells []string
			for i := range run {
				cells = append(cells, cellText(&run[i], row))
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
	}
	return columns, rows, warnings, nil
}

// cellText is a value as the cases write it.
func cellText(v *columnar.Vector, row int) string {
	if v.Null(row) {
		return "~"
	}
	switch v.Type {
	case columnar.TypeText, columnar.TypeJSON:
		return strings.ReplaceAll(string(v.Text(row)), "\n", "⏎")
	case columnar.TypeBoolean:
		return strconv.FormatBool(v.Ints[row] == 1)
	case columnar.TypeNumber:
		return strconv.FormatFloat(v.Floats[row], 'g', -1, 64)
	case columnar.TypeDate, columnar.TypeTimestamp:
		return momentText(v, row)
	}
	if v.Precision > columnar.NarrowDigits {
		return v.Wide[row].Decimal(v.Scale)
	}
	return columnar.Int128Of(v.Ints[row]).Decimal(v.Scale)
}

func momentText(v *columnar.Vector, row int) string {
	if v.Type == columnar.TypeDate {
		return time.Unix(v.Ints[row]*24*3600, 0).UTC().Format(time.DateOnly)
	}
	return time.UnixMicro(v.Ints[row]).UTC().Format(time.RFC3339Nano)
}

// texts reads every cell as the text that it is.
func (c *officeCase) texts(t *testing.T) (rows [][]string, err error) {
	table, err := decode.Open(t.Context(), c.format, strings.NewReader(c.data), decode.Options{Rules: c.rules, Temp: t.TempDir()})
	if err != nil {
		return nil, err
	}
	found, err := inferTable(t.Context(), table, feedmill.Reading{Format: c.format, Rules: c.rules, Text: true})
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for run, err := range found.schema.Load(t.Context(), found, model.Loading{}).Runs {
		if err != nil {
			return nil, err
		}
		for row := range run[0].Len {
			var cells []string
			for i := range run {
				cells = append(cells, string(run[i].Text(row)))
			}
			rows = append(rows, cells)
		}
	}
	return rows, nil
}

// counted is how many columns and rows there are, with all that the warnings say.
func (c *officeCase) counted(t *testing.T) (columns int, rows int64, warnings []feedmill.Warning, err error) {
	table, err := decode.Open(t.Context(), c.format, strings.NewReader(c.data), decode.Options{Temp: t.TempDir()})
	if err != nil {
		return 0, 0, nil, err
	}
	found, err := inferTable(t.Context(), table, feedmill.Reading{Format: c.format})
	if err != nil {
		return 0, 0, nil, err
	}
	defer found.Close()
	return len(found.schema.Columns), table.Rows(), found.warnings, nil
}
