package json

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// limitCase has data that just fits a limit, and data that does not.
type limitCase struct {
	name, fits, passes, format string
	options                    Options
	want                       string
}

// limitCases are those of the limits that can be other than usual.
func limitCases(l *limits) []limitCase {
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	// texts is a record whose only cell has so many bytes.
	texts := func(n int) string {
		each := text(1021) + ","
		most := strings.Repeat(each, n/len(each)-1)
		return "[[" + most + text(n-len(most)-4) + "]]"
	}
	members := func(part ...int) string {
		var b strings.Builder
		for i, size := range part {
			fmt.Fprintf(&b, `,"%c":%s`, 'a'+i, text(size))
		}
		return "{" + b.String()[1:] + "}"
	}
	almost := l.field - l.field/16
	scale := usual.record / l.record
	options := func(path string) Options {
		return Options{Path: path, limits: l, blockBytes: usualBlockBytes / scale, readBytes: usualReadBytes / scale}
	}
	// grown is a record with so many cells of numbers, which become ten times as long.
	grown := func(numbers, cells int) string {
		var b strings.Builder
		for i := range cells {
			fmt.Fprintf(&b, `,"c%d":[%s1e39]`, i, strings.Repeat("1e39,", numbers-1))
		}
		return "[{" + b.String()[1:] + "}]"
	}
	sorted := options("")
	sorted.Rules = 2
	return []limitCase{
		{"length of a string", `[` + text(l.field) + `]`, `[` + text(l.field+1) + `]`, "json", options(""), fmt.Sprintf("(byte 2): the string is longer than %d bytes, the maximum", l.field)},
		{"length of an array in a cell", `[{"a":` + texts(l.field)[1:len(texts(l.field))-1] + `}]`, `[{"a":` + texts(l.field + 1)[1:len(texts(l.field+1))-1] + `}]`, "json", options(""), "the maximum for a cell"},
		{"length of an array in a cell as it is stored", grown(l.field/41, 1), grown(l.field/41+1, 1), "json", sorted, "the maximum for a cell"},
		{"length of arrays in a record as they are stored", grown(l.field/41, l.record/l.field), grown(l.field/41, (l.record+maxGrown)/l.field+1), "json", sorted, "when their numbers are written without exponents"},
		{"length of a record", `[` + members(almost, almost, almost, almost) + `]`, `[` + members(almost, almost, almost, almost, l.record/10) + `]`, "json", options(""), fmt.Sprintf("(byte 1): the record is longer than %d bytes, the maximum; set path to select smaller records", l.record)},
		{"length of a line", members(almost, almost, almost, almost), "1\n" + members(almost, almost, almost, almost, almost), "ndjson", options(""), fmt.Sprintf("(byte 2): the line is longer than %d bytes, the maximum", l.record)},
		{"size of a document in memory", `[]` + strings.Repeat(" ", l.tree-2), `[]` + strings.Repeat(" ", l.tree-1), "json", options("$..x"), fmt.Sprintf("the document is larger than %d bytes", l.tree)},
	}
}

// small are limits that are reached quickly.
var small = limits{field: usual.field / 64, record: usual.record / 64, tree: usual.tree / 64, emptyCells: 1 << 20, exploded: 1 << 12}

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
	elements := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	cases := append(limitCases(&small), []limitCase{
		{"depth of a line", nested(1000), nested(1001), "ndjson", Options{}, "(byte 1000): arrays and objects are nested more than 1000 levels deep"},
		{"depth of objects", objects(1000), objects(1001), "ndjson", Options{}, "(byte 4000): arrays and objects are nested more than 1000 levels deep"},
		{"depth of a record", "[" + nested(1000) + "]", "[" + nested(1001) + "]", "json", Options{}, "(byte 1001): arrays and objects are nested more than 1000 levels deep"},
		{"depth around the records", objects(999), objects(1001), "json", Options{Path: "$.x"}, "(byte 4000): arrays and objects are nested more than 1000 levels deep"},
		{"depth in memory", nested(1000), nested(1001), "json", Options{Path: "$..x"}, "(byte 1000): arrays and objects are nested more than 1000 levels deep"},
		{"columns", record(input.MaxColumns), record(input.MaxColumns + 1), "ndjson", Options{}, "more than 10000 columns"},
		{"length of a name", `{"a":{` + text(1022) + `:1}}`, `{"a":{` + text(1023) + `:1}}`, "ndjson", Options{}, "(byte 6): the column name is 1025 bytes long; the maximum is 1024"},
		{"values in memory", elements(small.nodes() - 1), elements(small.nodes()), "json", Options{Path: "$..x", limits: &small}, "there are more than 2097152"},
		{"exploded values", `{"a":` + elements(small.exploded/2) + `}`, `{"a":` + elements(small.exploded/2+1) + `}`, "ndjson", Options{Explode: "a", limits: &small}, "the maximum for explode"},
		{"empty cells", record(1000) + strings.Repeat("\n{}", 1000), record(1000) + strings.Repeat("\n{}", 3000), "ndjson", Options{limits: &small}, "almost all cells are empty or repeated"},
		{"repeated names on the way", "{" + strings.Repeat(`"a":1,`, maxSuperseded) + `"a":[{}]}`, "{" + strings.Repeat(`"a":1,`, maxSuperseded+1) + `"a":[{}]}`, "json", Options{Path: "$.a[*]"}, "more than 65536 times"},
	}...)
	if decodetest.Long() {
		cases = append(cases, limitCases(&usual)...)
		cases = append(cases, limitCase{"exploded values, just", `{"a":` + elements(usual.exploded/2) + `}`, `{"a":` + elements(usual.exploded/2+1) + `}`, "ndjson", Options{Explode: "a"}, "the maximum for explode"})
		cases = append(cases, limitCase{"values in memory, just", elements(jsonpath.MaxNodes - 1), elements(jsonpath.MaxNodes), "json", Options{Path: "$..x"}, "there are more than 2097152"})
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			if err := drainJSON(t, openerOf(test.format), test.fits, test.options); err != nil {
				t.Errorf("what fits is refused: %.300s", err.Error())
			}
			decodetest.MustRefuse(t, drainJSON(t, openerOf(test.format), test.passes, test.options), test.want)
		})
	}
}

// The usual limits are what the refusals of the API say.
func TestUsualLimits(t *testing.T) {
	want := limits{field: 16 << 20, record: 64 << 20, tree: 32 << 20, emptyCells: 1 << 25, exploded: 1 << 21}
	if usual != want {
		t.Errorf("%+v, want %+v", usual, want)
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
	const repeats, block = 1 << 10, 16 << 10
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
	line := `{"a":"` + strings.Repeat("x", 120) + "\"}\n"
	lines := input.ChunkSize/len(line) + 1
	data := strings.Repeat(line, lines) + `{"a":}`
	decodetest.MustRefuse(t, drainJSON(t, OpenLines, data, Options{}), fmt.Sprintf("line %d, column 6 (byte %d)", lines+1, lines*len(line)+5))
}
