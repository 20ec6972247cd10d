package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// shape is what a table is like: how large it is, and how it is written.
type shape struct {
	format              string
	rows, columns, cell int
	// depth is how many objects contain a value of JSON or XML.
	depth      int
	alphabet   string
	compressed bool
	seed       uint64
}

// shapeTypes are those of the formats.
var shapeTypes = map[string]string{"csv": "text/csv", "ndjson": "application/x-ndjson", "json": "application/json", "xml": "application/xml"}

// drawShape draws a table of about so many bytes at most.
func drawShape(r *rand.Rand, bytes int) shape {
	s := shape{
		format:     []string{"csv", "ndjson", "json", "xml"}[r.IntN(4)],
		alphabet:   []string{"y", "abcdefghijklmnopqrstuvwxyz0123456789", "a\"b\nc", "äöü€😀 "}[r.IntN(4)],
		compressed: r.IntN(2) == 0, seed: r.Uint64(),
	}
	// Sizes of every order are equally likely.
	s.cell = 1 << r.IntN(25)
	s.columns = 1 << r.IntN(8)
	s.cell = min(s.cell, bytes, 70<<20/s.columns)
	s.rows = max(1, min(bytes/(s.cell*s.columns), 1<<r.IntN(20)))
	if s.format != "csv" {
		s.depth = r.IntN(6)
	}
	return s
}

func (s shape) String() string {
	return fmt.Sprintf("%s of %d rows × %d columns × %d bytes, depth %d, of %q, compressed: %v, seed %d", s.format, s.rows, s.columns, s.cell, s.depth, s.alphabet, s.compressed, s.seed)
}

// open is the data, as it is made.
func (s shape) open() io.Reader {
	from, to := io.Pipe()
	go func() {
		out := io.Writer(to)
		var packed *gzip.Writer
		if s.compressed {
			packed, _ = gzip.NewWriterLevel(to, gzip.BestSpeed) // the level is one of them
			out = packed
		}
		w := bufio.NewWriterSize(out, 64<<10)
		s.write(w)
		err := w.Flush()
		if packed != nil && err == nil {
			err = packed.Close()
		}
		to.CloseWithError(err)
	}()
	return from
}

func (s shape) write(w *bufio.Writer) {
	r := rand.New(rand.NewPCG(s.seed, 0))
	letters := []rune(s.alphabet)
	var some strings.Builder
	for some.Len() < 4096 {
		some.WriteRune(letters[r.IntN(len(letters))])
	}
	before, between, after := "", "\n", ""
	switch s.format {
	case "csv":
		for c := range s.columns {
			fmt.Fprintf(w, "%sc%d", strings.Repeat(",", min(c, 1)), c)
		}
		before = "\n"
		between = "\n"
	case "json":
		before, between, after = "[", ",", "]"
	case "xml":
		before, after = "<rows>", "</rows>"
	}
	w.WriteString(before)
	for row := range s.rows {
		if row > 0 {
			w.WriteString(between)
		}
		s.row(w, row, some.String())
	}
	w.WriteString(after)
}

func (s shape) row(w *bufio.Writer, row int, some string) {
	switch s.format {
	case "csv":
	case "xml":
		w.WriteString("<row>")
	default:
		w.WriteString("{")
	}
	for c := range s.columns {
		name := fmt.Sprintf("c%d", c)
		switch s.format {
		case "csv":
			w.WriteString(strings.Repeat(",", min(c, 1)) + `"`)
			s.text(w, row, some, strings.NewReplacer(`"`, `""`))
			w.WriteString(`"`)
		case "xml":
			w.WriteString(strings.Repeat("<d>", s.depth) + "<" + name + ">")
			s.text(w, row, some, strings.NewReplacer("<", "&lt;"))
			w.WriteString("</" + name + ">" + strings.Repeat("</d>", s.depth))
		default:
			w.WriteString(strings.Repeat(",", min(c, 1)) + `"` + name + `":` + strings.Repeat(`{"d":`, s.depth) + `"`)
			s.text(w, row, some, strings.NewReplacer(`"`, `\"`, "\n", `\n`))
			w.WriteString(`"` + strings.Repeat("}", s.depth))
		}
	}
	switch s.format {
	case "csv":
	case "xml":
		w.WriteString("</row>")
	default:
		w.WriteString("}")
	}
}

// text writes a cell, which is another one in every row.
func (s shape) text(w *bufio.Writer, row int, some string, escape *strings.Replacer) {
	head := fmt.Sprintf("x%d ", row)
	w.WriteString(head[:min(len(head), max(s.cell, 2))])
	some = escape.Replace(some)
	for left := s.cell - len(head); left > 0; left -= len(some) {
		if _, err := w.WriteString(some); err != nil {
			return
		}
	}
}
