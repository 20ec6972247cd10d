package decode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// laidOutSheet draws a sheet, row by row, with what is in each row: a row of the table, its names or
// something that is not part of it. A blank row is a row of nulls between two rows of the table.
func laidOutSheet(random *rand.Rand) (rows [][]string, data map[int]string, header int) {
	data = make(map[int]string)
	add := func(cells ...string) { rows = append(rows, cells) }
	for range random.IntN(4) {
		add([][]string{{"Sales report"}, {"All regions", "May"}, nil}[random.IntN(3)]...)
	}
	add("id", "name", "amount")
	header = len(rows)
	switch random.IntN(6) {
	case 0:
		add("-", "", "EUR")
	case 1:
		add("--", "----", "------")
	}
	repeats := 0
	for i := range 4 + random.IntN(30) {
		add(strconv.Itoa(i), fmt.Sprintf("n%d", i), fmt.Sprintf("%d.5", i))
		data[len(rows)] = strings.Join(rows[len(rows)-1], ",")
		switch random.IntN(12) {
		case 0:
			add()
			data[len(rows)] = ",,"
		case 1:
			if repeats++; repeats < 15 {
				add("id", "name", "amount")
			}
		}
	}
	for len(rows[len(rows)-1]) == 0 { // nothing of the table is behind it
		delete(data, len(rows))
		rows = rows[:len(rows)-1]
	}
	if random.IntN(3) == 0 {
		add()
		for range 1 + random.IntN(3) {
			note := "Source: accounts"
			if repeats == 0 && random.IntN(2) == 0 { // a header is text in the first column
				note = "as of May"
			}
			add(note)
		}
	}
	if random.IntN(3) == 0 {
		for _, row := range [][]string{nil, {"city", "people"}, {"Bern", "130000"}, {"Genf", "200000"}} {
			add(row...)
		}
	}
	return rows, data, header
}

// TestDroppedRowsLaw is a law: every row of a sheet that is not blank is the header, a row of the
// table, or in a warning with its number, in every kind of workbook.
func TestDroppedRowsLaw(t *testing.T) {
	for seed := range uint64(decodetest.LongOr(60, 2500)) {
		rows, data, header := laidOutSheet(rand.New(rand.NewPCG(seed, 11)))
		var want []string
		for line := range rows {
			if row, is := data[line+1]; is {
				want = append(want, row)
			}
		}
		for _, format := range decodetest.Workbooks {
			got, told, shown := readSheet(t, format, decodetest.Workbook(t, format, rows))
			for i, cells := range rows {
				line := i + 1
				_, is := data[line]
				if kept := is || line == header; len(cells) > 0 && kept == told[line] {
					t.Fatalf("%s %d: row %d, %q, is kept: %v, and in a warning: %v\n%q\n%s", format, seed, line, cells, kept, told[line], rows, shown)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s %d is\n%s\nwant\n%s\n%q\n%s", format, seed, strings.Join(got, "\n"), strings.Join(want, "\n"), rows, shown)
			}
		}
	}
}

// readSheet reads the rows of a workbook, and which rows of the sheet its warnings name.
func readSheet(t *testing.T, format string, data []byte) (rows []string, told map[int]bool, shown string) {
	t.Helper()
	table, err := Open(t.Context(), format, bytes.NewReader(data), Options{Rules: 2, Temp: t.TempDir()})
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	defer table.Close()
	err = table.Each(t.Context(), 1, func(c *columnar.Cells) error {
		for row := range c.Rows {
			var cells []string
			for column := range c.Columns {
				cells = append(cells, string(c.Text(c.At(row, column))))
			}
			rows = append(rows, strings.Join(cells, ","))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	warnings, err := table.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	return rows, linesOf(warnings), fmt.Sprintf("%+v", warnings)
}
