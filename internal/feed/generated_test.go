package feed

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/feedmill/feedmill"
)

// generated is a file that a program or an analyst might have written, with the table that is
// meant by it. What writes it shares nothing with what reads it.
type generated struct {
	data          string
	columns, rows []string
	// told are the codes of warnings that must be there.
	told []string
}

// writer draws files.
type writer struct {
	*rand.Rand
	delimiter, quote, newline, encoding string
	comma                               bool // before fractions
	letters                             string
}

func pick[T any](r *rand.Rand, among ...T) T { return among[r.IntN(len(among))] }

func newWriter(seed uint64) *writer {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 38))}
	w.delimiter, w.quote = pick(w.Rand, ",", ";", "\t", "|"), pick(w.Rand, `"`, `"`, `"`, "'")
	w.newline, w.encoding = pick(w.Rand, "\n", "\r\n"), pick(w.Rand, "utf-8", "utf-8", "utf-8", "utf-16le", "windows-1252", "windows-1251")
	w.letters = map[string]string{"windows-1252": "Zoë Müller", "windows-1251": "Москва"}[w.encoding]
	w.comma = pick(w.Rand, false, false, true)
	return w
}

// column draws a column: its type, a name, and the values of its rows as they are written
// and as they are meant.
func (w *writer) column(kind string, rows int) (written, meant []string) {
	for i := range rows {
		var text, value string
		switch kind {
		case "integer":
			value = fmt.Sprint(w.IntN(900))
			text = value
		case "decimal":
			whole, cents := w.IntN(9000), w.IntN(100)
			if i == 0 {
				cents = 25 + w.IntN(5) // a fraction of two digits proves the separator
			}
			value = fmt.Sprintf("%d.%02d", whole, cents)
			text = value
			if w.comma {
				text = strings.Replace(value, ".", ",", 1)
			}
		case "date":
			year, month, day := 1990+w.IntN(40), 1+w.IntN(12), 1+w.IntN(28)
			if i == 0 {
				day = 13 + w.IntN(15) // proves where the day is
			}
			value = fmt.Sprintf("%d-%02d-%02d", year, month, day)
			text = value
			if w.comma {
				text = fmt.Sprintf("%02d.%02d.%d", day, month, year)
			}
		case "boolean":
			value = pick(w.Rand, "true", "false")
			text = value
		default:
			value = w.words(1 + w.IntN(3))
			if w.IntN(6) == 0 {
				value += pick(w.Rand, w.delimiter, w.quote+"x"+w.quote, ", and", "; or", ` "so" called`, " it's")
			}
			if w.letters != "" {
				value += " " + w.letters
			}
			text = value
		}
		if w.IntN(12) == 0 && kind != "text" && i > 1 {
			text, value = "", "~"
		}
		written, meant = append(written, text), append(meant, value)
	}
	return written, meant
}

var vocabulary = strings.Fields("alpha bravo delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango victor")

func (w *writer) words(n int) string {
	var all []string
	for range n {
		all = append(all, pick(w.Rand, vocabulary...))
	}
	return strings.Join(all, " ")
}

func (w *writer) line(cells []string) string {
	out := slices.Clone(cells)
	for i, cell := range out {
		if strings.Contains(cell, w.delimiter) || strings.Contains(cell, w.quote) || w.quote == "'" && cell != "" && strings.Trim(cell, "0123456789.,-") != "" {
			out[i] = w.quote + strings.ReplaceAll(cell, w.quote, w.quote+w.quote) + w.quote
		}
	}
	return strings.Join(out, w.delimiter)
}

// table draws a table with names of a kind, of which the first column may be of text.
func (w *writer) table(names []string) (lines, columns, rows []string, textFirst bool) {
	kinds := []string{pick(w.Rand, "integer", "text", "date"), pick(w.Rand, "decimal", "integer", "date", "boolean")}
	for len(kinds) < 2+w.IntN(4) {
		kinds = append(kinds, pick(w.Rand, "integer", "decimal", "date", "text", "text", "boolean"))
	}
	count := 3 + w.IntN(25)
	cells, values := make([][]string, count), make([][]string, count)
	for j, kind := range kinds {
		written, meant := w.column(kind, count)
		columns = append(columns, names[j]+":"+kind)
		for i := range count {
			cells[i], values[i] = append(cells[i], written[i]), append(values[i], meant[i])
		}
	}
	lines = []string{w.line(names[:len(kinds)])}
	for i := range count {
		if cells[i][0] == "" { // a row begins with a value
			cells[i][0], values[i][0] = cells[0][0], values[0][0]
		}
		lines, rows = append(lines, w.line(cells[i])), append(rows, strings.Join(values[i], " | "))
	}
	return lines, columns, rows, kinds[0] == "text"
}

// file draws a file: titles, a table, notes, and perhaps another table.
func (w *writer) file() (g generated) {
	var lines []string
	if w.IntN(3) == 0 {
		for range 1 + w.IntN(3) {
			lines = append(lines, "Report of "+w.words(2))
		}
		if w.IntN(2) == 0 {
			lines = append(lines, "")
		}
		g.told = append(g.told, feedmill.WarnPreamble)
	}
	table, columns, rows, textFirst := w.table([]string{"ident", "value", "third part", "fourth", "Fifth", "sixth"})
	lines, g.columns, g.rows = append(lines, table...), columns, rows
	if w.IntN(3) == 0 {
		lines = append(lines, "")
		for range 1 + w.IntN(3) {
			note := "Source: " + w.words(2)
			if !textFirst && w.IntN(2) == 0 {
				note = "as of " + w.words(2)
			}
			lines = append(lines, note)
		}
		g.told = append(g.told, feedmill.WarnFooter)
	}
	if w.IntN(4) == 0 {
		other, _, _, _ := w.table([]string{"Region", "Head", "more", "still more", "last", "lastly"})
		lines = append(append(lines, ""), other...)
		g.told = append(g.told, feedmill.WarnSecondTable)
	}
	g.data = strings.Join(lines, w.newline) + w.newline
	if w.encoding != "utf-8" {
		encoding, err := htmlindex.Get(w.encoding)
		if err != nil {
			panic(err)
		}
		if g.data, err = encoding.NewEncoder().String(g.data); err != nil {
			panic(err)
		}
	}
	return g
}

// Of files that nobody has tuned the reader to, 99 of 100 are read as they are meant, and none
// is read otherwise in silence.
func TestGeneratedFiles(t *testing.T) {
	files, right := 400, 0
	if os.Getenv("FEEDMILL_LONG") != "" {
		files = 20_000
	}
	for seed := range files {
		w := newWriter(uint64(seed))
		g := w.file()
		c := officeCase{format: "csv", data: g.data, rules: feedmill.RulesCurrent}
		columns, rows, warnings, err := c.read(t)
		for i := range columns {
			columns[i], _, _ = strings.Cut(columns[i], "(") // without how dates are written
		}
		told := true
		for _, code := range g.told {
			told = told && slices.Contains(warnings, code)
		}
		same := err == nil && slices.Equal(columns, g.columns) && slices.Equal(rows, g.rows)
		switch {
		case same && told:
			right++
		case err == nil && (len(warnings) == 0 || same):
			t.Errorf("file %d, %+v, is read otherwise in silence: %q\n%s\nwant\n%s\nwarnings %q, want %q", seed, *w, g.data, strings.Join(append([]string{fmt.Sprint(columns)}, rows...), "\n"), strings.Join(append([]string{fmt.Sprint(g.columns)}, g.rows...), "\n"), warnings, g.told)
		default:
			t.Logf("file %d is read otherwise: %v\n%.600q\n%s\nwant\n%s\nwarnings %q, want %q", seed, err, g.data, strings.Join(append([]string{fmt.Sprint(columns)}, rows...), "\n"), strings.Join(append([]string{fmt.Sprint(g.columns)}, g.rows...), "\n"), warnings, g.told)
		}
	}
	if right*100 < files*99 {
		t.Errorf("%d of %d files are read as they are meant", right, files)
	}
}
