package decode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// laidOut draws a file, line by line, with what is in each line: a row, a name of the columns or
// something that is not part of the table.
func laidOut(random *rand.Rand) (lines []string, rows map[int]string, header int) {
	rows = make(map[int]string)
	add := func(text string) { lines = append(lines, text) }
	wide := random.IntN(4)
	for i := range random.IntN(4) {
		title := []string{"Sales report", "All regions", ""}[random.IntN(3)]
		if i == wide {
			title = "Acme,Report,EUR,unaudited,v2"
		}
		add(title)
	}
	add("id,name,amount")
	header = len(lines)
	if random.IntN(4) == 0 {
		add("-,,EUR")
	}
	blanks, repeats := 0, 0
	for i := range 4 + random.IntN(20) {
		row := fmt.Sprintf("%d,n%d,%d.5", i, i, i)
		add(row)
		rows[len(lines)] = row
		switch random.IntN(12) {
		case 0:
			if blanks++; blanks < 12 { // a warning lists 20 lines
				add("")
			}
		case 1:
			if repeats++; repeats < 15 {
				add([]string{"id,name,amount", `"id","name","amount"`}[random.IntN(2)])
			}
		}
	}
	last := len(lines)
	for range random.IntN(3) {
		add(",,")
	}
	if random.IntN(3) == 0 {
		add("")
		for range 1 + random.IntN(3) {
			note := "Source: accounts"
			if repeats == 0 && random.IntN(2) == 0 { // a header is text in the first column
				note = "as of May"
			}
			add(note)
		}
	}
	if random.IntN(3) == 0 {
		for _, line := range []string{"", "city,people", "Bern,130000", "Genf,200000"} {
			add(line)
		}
	}
	for range random.IntN(3) {
		add("")
	}
	for line := range rows {
		if line > last {
			delete(rows, line)
		}
	}
	return lines, rows, header
}

var lineRange = regexp.MustCompile(`(?i)lines? (\d+)(?: to (\d+))?`)

// linesOf are the lines that warnings name, each or as a range.
func linesOf(warnings []feedmill.Warning) map[int]bool {
	told := make(map[int]bool)
	for _, w := range warnings {
		for _, e := range w.Examples {
			told[int(e.Line)] = true
		}
		if m := lineRange.FindStringSubmatch(w.Detail); m != nil && m[2] != "" {
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			for line := from; line <= to; line++ {
				told[line] = true
			}
		}
	}
	return told
}

// TestDroppedLinesLaw is a law: every line of a CSV file is the header, a row, or in a warning with
// its number.
func TestDroppedLinesLaw(t *testing.T) {
	for seed := range uint64(decodetest.LongOr(400, 20_000)) {
		lines, rows, header := laidOut(rand.New(rand.NewPCG(seed, 9)))
		newline := []string{"\n", "\r\n"}[seed%2]
		text := strings.Join(lines, newline) + newline
		table, err := Open(t.Context(), "csv", bytes.NewReader([]byte(text)), Options{Rules: 2, Temp: t.TempDir()})
		if err != nil {
			t.Fatalf("file %d: %v\n%s", seed, err, text)
		}
		var got []string
		err = table.Each(t.Context(), 1, func(c *columnar.Cells) error {
			for row := range c.Rows {
				var cells []string
				for column := range c.Columns {
					cells = append(cells, string(c.Text(c.At(row, column))))
				}
				got = append(got, strings.Join(cells, ","))
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
		table.Close()
		told := linesOf(warnings)
		var want []string
		for i := range lines {
			line := i + 1
			row, is := rows[line]
			if is {
				want = append(want, row)
			}
			if kept := is || line == header; kept == told[line] {
				t.Fatalf("file %d: line %d, %q, is kept: %v, and in a warning: %v\n%s\n%+v", seed, line, lines[i], kept, told[line], text, warnings)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("file %d is\n%s\nwant\n%s\n%s\n%+v", seed, strings.Join(got, "\n"), strings.Join(want, "\n"), text, warnings)
		}
	}
}
