package json

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// jsonValue is a JSON value that a test made: a scalar by its text, a string,
// an array or an object whose names are all different.
type jsonValue struct {
	kind     byte // 's' string, 'v' other scalar, '[' array, '{' object
	text     string
	elements []jsonValue
	members  []jsonMember
}

type jsonMember struct {
	name  string
	value jsonValue
}

func genName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b", "c", "a.b", "", "value", "é", "a\"b", "a\\", "long_name_of_more_than_sixteen_bytes", "long_name_of_more_than_sixteen_bits"}),
		rapid.StringN(0, 8, 32),
	)
}

func genScalar() *rapid.Generator[jsonValue] {
	return rapid.Custom(func(t *rapid.T) jsonValue {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return jsonValue{kind: 's', text: rapid.String().Draw(t, "text")}
		case 1:
			return jsonValue{kind: 'v', text: rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")}
		default:
			return jsonValue{kind: 'v', text: rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,10})?([eE][+-]?[0-9]{1,4})?`).Draw(t, "number")}
		}
	})
}

func genValue(depth int) *rapid.Generator[jsonValue] {
	if depth == 0 {
		return genScalar()
	}
	return rapid.Custom(func(t *rapid.T) jsonValue {
		switch rapid.IntRange(0, 5).Draw(t, "shape") {
		case 0:
			return jsonValue{kind: '[', elements: rapid.SliceOfN(genValue(depth-1), 0, 3).Draw(t, "elements")}
		case 1:
			return genObject(depth-1).Draw(t, "object")
		default:
			return genScalar().Draw(t, "scalar")
		}
	})
}

func genObject(depth int) *rapid.Generator[jsonValue] {
	return rapid.Custom(func(t *rapid.T) jsonValue {
		value := jsonValue{kind: '{'}
		for _, name := range rapid.SliceOfNDistinct(genName(), 0, 5, rapid.ID).Draw(t, "names") {
			value.members = append(value.members, jsonMember{name, genValue(depth).Draw(t, "value")})
		}
		return value
	})
}

// jsonWriter writes values with blanks and escapes that mean nothing.
type jsonWriter struct {
	strings.Builder
	t *rapid.T
	// blanks are what may stand between tokens.
	blanks []string
	// arrays counts those that are open. Inside them, nothing is escaped that
	// need not be, because a cell keeps the escapes.
	arrays int
}

func (w *jsonWriter) blank() {
	w.WriteString(rapid.SampledFrom(w.blanks).Draw(w.t, "blank"))
}

func (w *jsonWriter) token(text string) {
	w.blank()
	w.WriteString(text)
	w.blank()
}

func (w *jsonWriter) value(v jsonValue) {
	switch v.kind {
	case 's':
		w.quoted(v.text)
	case 'v':
		w.token(v.text)
	case '[':
		w.token("[")
		w.arrays++
		for i, element := range v.elements {
			if i > 0 {
				w.token(",")
			}
			w.value(element)
		}
		w.arrays--
		w.token("]")
	case '{':
		w.token("{")
		for i, member := range v.members {
			if i > 0 {
				w.token(",")
			}
			w.quoted(member.name)
			w.token(":")
			w.value(member.value)
		}
		w.token("}")
	}
}

// quoted writes a string with some of its characters escaped.
func (w *jsonWriter) quoted(text string) {
	w.blank()
	w.WriteByte('"')
	escapeAll := w.arrays == 0 && rapid.IntRange(0, 9).Draw(w.t, "escape all") == 0
	for _, r := range text {
		switch {
		case r == '\n' && !escapeAll:
			w.WriteString(`\n`)
		case r == '"' && !escapeAll:
			w.WriteString(`\"`)
		case r < ' ' || r == '"' || r == '\\' || escapeAll:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(w, `\u%04x`, unit)
			}
		default:
			w.WriteRune(r)
		}
	}
	w.WriteByte('"')
	w.blank()
}

// render is what the cell of a value holds.
func (v jsonValue) render() string {
	switch v.kind {
	case 's':
		return strconv.Quote(v.text)
	case 'v':
		return v.text
	}
	var b strings.Builder
	v.compact(&b)
	return b.String()
}

// compact writes a value as plainly as can be, and as quoted does where it
// escapes nothing that need not be.
func (v jsonValue) compact(b *strings.Builder) {
	switch v.kind {
	case 's':
		b.WriteByte('"')
		for _, r := range v.text {
			switch {
			case r == '\n':
				b.WriteString(`\n`)
			case r == '"':
				b.WriteString(`\"`)
			case r < ' ' || r == '\\':
				fmt.Fprintf(b, `\u%04x`, r)
			default:
				b.WriteRune(r)
			}
		}
		b.WriteByte('"')
	case 'v':
		b.WriteString(v.text)
	case '[':
		b.WriteByte('[')
		for i, element := range v.elements {
			if i > 0 {
				b.WriteByte(',')
			}
			element.compact(b)
		}
		b.WriteByte(']')
	case '{':
		b.WriteByte('{')
		for i, member := range v.members {
			if i > 0 {
				b.WriteByte(',')
			}
			jsonValue{kind: 's', text: member.name}.compact(b)
			b.WriteByte(':')
			member.value.compact(b)
		}
		b.WriteByte('}')
	}
}

// flatten is the law: the columns of a record in the order of its text, each
// by the names that lead to it, and its cell.
func flatten(v jsonValue, path []string, put func(path []string, cell string)) {
	if v.kind != '{' || len(v.members) == 0 {
		put(path, v.render())
		return
	}
	for _, member := range v.members {
		flatten(member.value, append(slices.Clone(path), member.name), put)
	}
}

// flatTable makes the table of records that are objects.
func flatTable(records []jsonValue) jsonTable {
	table := jsonTable{rows: []string{}}
	columns := map[string]int{}
	var rows []numberedRow
	for _, record := range records {
		row := make([]string, len(table.names))
		for i := range row {
			row[i] = missing
		}
		if len(record.members) > 0 {
			flatten(record, nil, func(path []string, cell string) {
				key := fmt.Sprintf("%q", path)
				column, ok := columns[key]
				if !ok {
					column = len(columns)
					columns[key] = column
					table.names = append(table.names, strings.Join(path, "."))
					row = append(row, "")
				}
				row[column] = cell
			})
		}
		rows = append(rows, numberedRow{cells: row})
	}
	if len(columns) == 0 && len(records) > 0 {
		table.names = []string{valueName}
	}
	table.rows = renderRows(rows, len(table.names))
	return table
}

// TestJSONReadsWhatWasWritten writes random records in random shapes and
// expects the table that flattening them gives.
func TestJSONReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := rapid.SliceOfN(genObject(3), 1, 8).Draw(rt, "records")
		shape := rapid.SampledFrom([]string{"array", "inside", "deep", "sequence", "lines"}).Draw(rt, "shape")
		w := &jsonWriter{t: rt, blanks: []string{"", "", "", " ", "\t", "\r\n "}}
		format := "json"
		options := Options{}
		switch shape {
		case "array", "inside", "deep":
			before, after := "[", "]"
			switch shape {
			case "inside":
				before, after = `{"n":[1,{"x":[]}],"data":[`, `],"more":{"y":[{"z":1}]}}`
				options.Path = rapid.SampledFrom([]string{"$.data[*]", "$['data'][:]", "$.data[?@ == @]", "$['data','data'][*]"}).Draw(rt, "path")
			case "deep":
				before, after = `{"n":[1],"r":{"s":{"t":{"u":[`, `]}}}}`
			}
			w.WriteString(before)
			for i, record := range records {
				if i > 0 {
					w.token(",")
				}
				w.value(record)
			}
			w.WriteString(after)
			if strings.Contains(options.Path, ",") {
				records = append(records, records...)
			}
		case "sequence":
			// A single object with an array of objects in it would have its
			// records there.
			records = append(records, jsonValue{kind: '{'})
			for _, record := range records {
				w.value(record)
			}
		case "lines":
			format = "ndjson"
			w.blanks = []string{"", "", " ", "\t", "\r"}
			for _, record := range records {
				w.value(record)
				w.WriteString("\n")
			}
		}
		got, err := readJSON(t, openerOf(format), []byte(w.String()), options)
		if err != nil {
			rt.Fatalf("%s: %v", w.String(), err)
		}
		if want := flatTable(records); got.String() != want.String() {
			rt.Fatalf("%s\ngives\n%v\nwant\n%v", w.String(), got, want)
		}
	})
}

// explodedTable makes the table of records whose member called lines is
// exploded: a row for each element of it, with everything else repeated.
func explodedTable(records []jsonValue) jsonTable {
	table := jsonTable{rows: []string{}}
	columns := map[string]int{}
	column := func(path []string) int {
		key := fmt.Sprintf("%q", path)
		if _, ok := columns[key]; !ok {
			columns[key] = len(columns)
			table.names = append(table.names, strings.Join(path, "."))
		}
		return columns[key]
	}
	var rows []map[int]string
	for _, record := range records {
		around := map[int]string{}
		var elements []map[int]string
		for _, member := range record.members {
			if member.name != "lines" {
				flatten(member.value, []string{member.name}, func(path []string, cell string) { around[column(path)] = cell })
				continue
			}
			inside := []jsonValue{member.value}
			if member.value.kind == '[' {
				inside = member.value.elements
			} else if member.value.text == "null" && member.value.kind == 'v' {
				inside = nil
			}
			for _, element := range inside {
				cells := map[int]string{}
				flatten(element, []string{"lines"}, func(path []string, cell string) { cells[column(path)] = cell })
				elements = append(elements, cells)
			}
		}
		if len(elements) == 0 {
			elements = append(elements, nil)
		}
		for _, element := range elements {
			row := maps.Clone(around)
			maps.Copy(row, element)
			rows = append(rows, row)
		}
	}
	if len(columns) == 0 {
		table.names = []string{valueName}
	}
	for _, row := range rows {
		var cells []string
		for i := range table.names {
			cells = append(cells, cmp.Or(row[i], missing))
		}
		table.rows = append(table.rows, strings.Join(cells, " "))
	}
	return table
}

// TestJSONExplodesWhatWasWritten writes random records with a member that is
// exploded and expects the rows that its elements give.
func TestJSONExplodesWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := rapid.SliceOfN(genObject(2), 1, 6).Draw(rt, "records")
		for i := range records {
			if rapid.IntRange(0, 3).Draw(rt, "without lines") == 0 {
				continue
			}
			lines := jsonMember{"lines", jsonValue{kind: '[', elements: rapid.SliceOfN(genValue(2), 0, 4).Draw(rt, "elements")}}
			if rapid.IntRange(0, 3).Draw(rt, "no array") == 0 {
				lines.value = genValue(2).Draw(rt, "value")
			}
			members := slices.DeleteFunc(records[i].members, func(m jsonMember) bool { return m.name == "lines" })
			at := rapid.IntRange(0, len(members)).Draw(rt, "place")
			records[i].members = slices.Insert(members, at, lines)
		}
		w := &jsonWriter{t: rt, blanks: []string{"", "", " "}}
		for _, record := range records {
			w.value(record)
			w.WriteString("\n")
		}
		got, err := readJSON(t, OpenLines, []byte(w.String()), Options{Explode: "lines"})
		if err != nil {
			rt.Fatalf("%s: %v", w.String(), err)
		}
		want := explodedTable(records)
		if !slices.ContainsFunc(want.names, func(name string) bool { return name == "lines" || strings.HasPrefix(name, "lines.") }) {
			want.warnings = []feedmill.Warning{input.NothingExploded("lines")}
		}
		if got.String() != want.String() {
			rt.Fatalf("%s\ngives\n%v\nwant\n%v", w.String(), got, want)
		}
	})
}
