package json

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// TestJSONLimits has for each limit data that just fits and data that does not.
func TestJSONLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"":`, n) + "1" + strings.Repeat("}", n) }
	record := func(columns int) string {
		var b strings.Builder
		for i := range columns {
			fmt.Fprintf(&b, `,"c%d":1`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	// texts is a record whose only cell has so many bytes.
	texts := func(n int) string {
		each := text(1021) + ","
		most := strings.Repeat(each, n/len(each)-1)
		return "[[" + most + text(n-len(most)-4) + "]]"
	}
	elements := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	for _, test := range []struct {
		name, fits, passes, format string
		options                    Options
		want                       string
	}{
		{"depth of a line", nested(1000), nested(1001), "ndjson", Options{}, "(byte 1000): more than 1000 arrays and objects stand in each other"},
		{"depth of objects", objects(1000), objects(1001), "ndjson", Options{}, "(byte 4000): more than 1000"},
		{"depth of a record", "[" + nested(1000) + "]", "[" + nested(1001) + "]", "json", Options{}, "(byte 1001): more than 1000"},
		{"depth around the records", objects(999), objects(1001), "json", Options{Path: "$.x"}, "(byte 4000): more than 1000"},
		{"depth in memory", nested(1000), nested(1001), "json", Options{Path: "$..x"}, "(byte 1000): more than 1000"},
		{"columns", record(input.MaxColumns), record(input.MaxColumns + 1), "ndjson", Options{}, "more than 10000 columns"},
		{"length of a name", `{"a":{` + text(1022) + `:1}}`, `{"a":{` + text(1023) + `:1}}`, "ndjson", Options{}, "(byte 6): the name of the column is 1025 bytes long, more than 1024"},
		{"length of a string", `[` + text(input.MaxFieldBytes) + `]`, `[` + text(input.MaxFieldBytes+1) + `]`, "json", Options{}, "(byte 2): the string is longer than 16777216 bytes"},
		{"length of an array in a cell", texts(input.MaxFieldBytes), texts(input.MaxFieldBytes + 1), "json", Options{}, "too long for a cell"},
		{"length of a record", `[{"a":` + text(15<<20) + `,"b":` + text(15<<20) + `}]`, `[{"a":` + text(15<<20) + `,"b":` + text(15<<20) + `,"c":` + text(3<<20) + `}]`, "json", Options{}, "(byte 1): the record is longer than 33554432 bytes; a path can say where smaller ones are"},
		{"length of a line", `{"a":` + text(15<<20) + `,"b":` + text(15<<20) + `}`, "1\n" + `{"a":` + text(15<<20) + `,"b":` + text(15<<20) + `,"c":` + text(15<<20) + `}`, "ndjson", Options{}, "(byte 2): the line is longer than 33554432 bytes"},
		{"size of a document in memory", `[]` + strings.Repeat(" ", maxTreeBytes-2), `[]` + strings.Repeat(" ", maxTreeBytes-1), "json", Options{Path: "$..x"}, "the document is larger than 33554432 bytes"},
		{"values in memory", elements(1<<21 - 1), elements(1 << 21), "json", Options{Path: "$..x"}, "there are more than 2097152"},
		{"exploded values", `{"a":` + elements(input.MaxExploded/2) + `}`, `{"a":` + elements(input.MaxExploded/2+1) + `}`, "ndjson", Options{Explode: "a"}, "too many to explode"},
		{"empty cells", record(1000) + strings.Repeat("\n{}", 1000), record(1000) + strings.Repeat("\n{}", 3000), "ndjson", Options{emptyCells: 1 << 20}, "almost all cells are empty or repeated"},
		{"repeated names on the way", "{" + strings.Repeat(`"a":1,`, maxSuperseded) + `"a":[{}]}`, "{" + strings.Repeat(`"a":1,`, maxSuperseded+1) + `"a":[{}]}`, "json", Options{Path: "$.a[*]"}, "more than 65536 times"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := drainJSON(t, openerOf(test.format), test.fits, test.options); err != nil {
				t.Errorf("what fits is refused: %.300s", err.Error())
			}
			decodetest.MustRefuse(t, drainJSON(t, openerOf(test.format), test.passes, test.options), test.want)
		})
	}
}

// drainJSON reads all records and drops them.
func drainJSON(t *testing.T, open jsonOpener, data string, options Options) error {
	t.Helper()
	j, err := open(t.Context(), strings.NewReader(data), options)
	if err != nil {
		return err
	}
	return j.Each(t.Context(), 2, func(*columnar.Cells) error { return nil })
}

// endless is a document that repeats its middle part, too large for memory.
type endless struct {
	head, middle, tail string
	repeats            int64
}

func (e *endless) Size() int64 {
	return int64(len(e.head)) + e.repeats*int64(len(e.middle)) + int64(len(e.tail))
}

func (e *endless) ReadAt(p []byte, offset int64) (n int, err error) {
	body := int64(len(e.head)) + e.repeats*int64(len(e.middle))
	for n < len(p) {
		at := offset + int64(n)
		switch {
		case at < int64(len(e.head)):
			n += copy(p[n:], e.head[at:])
		case at < body:
			n += copy(p[n:], e.middle[(at-int64(len(e.head)))%int64(len(e.middle)):])
		case at < e.Size():
			n += copy(p[n:], e.tail[at-body:])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

// TestJSONMemoryIsBounded reads documents of which only a small part may ever
// be in memory, and holds the sizes of the blocks against that.
func TestJSONMemoryIsBounded(t *testing.T) {
	record := `{"a":1,"text":"` + strings.Repeat("x", 1000) + `"}`
	const repeats, block = 4 << 10, 64 << 10
	for _, test := range []struct {
		name    string
		open    jsonOpener
		data    endless
		options Options
		rows    int64
	}{
		{"lines", OpenLines, endless{"", record + "\n", "", repeats}, Options{}, repeats},
		{"array", Open, endless{"[", record + ",", record + "]", repeats}, Options{}, repeats + 1},
		{"inside", Open, endless{`{"x":{"data":[`, record + ",", record + "]}}", repeats}, Options{}, repeats + 1},
		{"beside", Open, endless{`{"y":[`, record + ",", record + `],"x":[1,2]}`, repeats}, Options{Path: "$.x[*]"}, 2},
		{"few among many", Open, endless{`[`, `{"x":1,"y":` + record + `},`, `{"x":2}]`, repeats}, Options{Path: "$[*].x"}, repeats + 1},
		{"blanks", Open, endless{`[1,`, strings.Repeat(" ", 1000), `2]`, repeats}, Options{}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.blockBytes, test.options.readBytes = block, block/4
			j, err := test.open(t.Context(), &test.data, test.options)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				err = j.Each(t.Context(), 2, func(cells *columnar.Cells) error {
					if len(cells.Data) > 2*block {
						return fmt.Errorf("a block of %d bytes", len(cells.Data))
					}
					return nil
				})
				if err != nil || j.Rows() != test.rows {
					t.Fatalf("%d rows, want %d, error %v", j.Rows(), test.rows, err)
				}
			}
		})
	}
}

func TestJSONPositionFarIn(t *testing.T) {
	data := bytes.Repeat([]byte("{\"a\":1}\n"), input.ChunkSize/2)
	data = append(data, "{\"a\":}"...)
	decodetest.MustRefuse(t, drainJSON(t, OpenLines, string(data), Options{}), fmt.Sprintf("line %d, column 6 (byte %d)", input.ChunkSize/2+1, 8*input.ChunkSize/2+5))
}
