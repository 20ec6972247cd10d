package json

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/jstext"
)

// tableShape is how a table is written whose rows are no objects.
type tableShape uint8

const (
	shapeObjects tableShape = iota
	// shapeArrays has an array for each row, and the names in the first or
	// beside them.
	shapeArrays
	// shapeKeyed has a member for each row, or for each column.
	shapeKeyed
	// shapeColumns has an array for each column.
	shapeColumns
)

// keyName is the column of the names of members that are rows.
const keyName = "_key"

// reshape writes the rows of a table in another shape as objects, and makes those
// what is read. It reports false where there is no such table.
func (j *Table) reshape(ctx context.Context, place recordPlace) (bool, error) {
	// What is copied without a close look must be sound.
	if err := firstFault(ctx, j.source, nil); err != (*dataFault)(nil) {
		return false, err
	}
	size := j.src.Size() - j.start
	t := &reshaper{ctx: ctx, left: maxReshaped(size), most: maxReshaped(size), set: j.path != nil && !j.doubtful}
	var write func()
	if size <= int64(j.limits.tree) {
		data := make([]byte, size+textPadding)
		if err := input.ReadFull(j.src, data[:size], j.start); err != nil {
			return false, fmt.Errorf("read JSON: %w", err)
		}
		write = t.held(data, place)
	} else if write = t.streamed(j.source, place); t.unheld {
		j.notes = append(j.notes, place.tooLarge(j.limits.tree))
	}
	switch {
	case t.fault != nil:
		return false, t.fault
	case write == nil || ctx.Err() != nil:
		return false, ctx.Err()
	}
	written, err := j.spool.Write(func(w io.Writer) error {
		t.out = bufio.NewWriterSize(w, 256<<10)
		write()
		if t.fault != nil {
			return t.fault
		}
		return t.out.Flush()
	})
	if t.fault != nil {
		err = t.fault
	}
	if err != nil {
		return false, err
	}
	j.src, j.start, j.shaped, j.others, j.notes = written, 0, place.steps, place.others, t.warnings
	j.steps = []jsonpath.Step{jsonpath.AllStep()}
	return true, nil
}

// held returns what writes the rows of a document that is in memory, with padding
// behind it; nil where they are no table.
func (t *reshaper) held(data []byte, place recordPlace) func() {
	t.data, t.size = data, len(data)-textPadding
	at, ok := t.follow(skipSpace(data, 0), place.steps[:len(place.steps)-1])
	if !ok {
		return nil
	}
	rows := func(fn func(name []byte, start, end int) bool) bool { return t.children(at, fn) }
	switch place.shape {
	case shapeKeyed:
		return t.keyed(rows, true)
	case shapeColumns:
		return t.columnArrays(rows)
	}
	around := -1
	if last := len(place.steps) - 2; last >= 0 {
		around, _ = t.follow(skipSpace(data, 0), place.steps[:last])
	}
	return t.arrays(rows, &reshaper{data: data, size: t.size}, around)
}

// tableRows goes through the rows of a table, with the name of each where it has one,
// until fn returns false. It reports whether all were visited. What fn is given is in the
// data of the reshaper until it returns.
type tableRows func(fn func(name []byte, start, end int) bool) bool

// maxReshaped is how many bytes the rows of a document can come to when they are
// written as objects: each of them has all names.
func maxReshaped(size int64) int64 { return min(16*size+64<<20, 8<<30) }

// tooLarge says that a table in another shape is left as it is.
func (p *recordPlace) tooLarge(limit int) feedmill.Warning {
	what, instead := "The rows are arrays", "the arrays are in one JSON column"
	switch p.shape {
	case shapeKeyed:
		what, instead = "The document is an object of objects", "it was read as one record"
	case shapeColumns:
		what, instead = "The document has an array for each column", "it was read as one record"
	}
	return feedmill.Warning{
		Code: feedmill.WarnShape, Count: 1,
		Detail: fmt.Sprintf("%s. Feedmill converts this layout to rows up to %d bytes; the document is larger, so %s. Use one object per row, or CSV, at the source.", what, limit, instead),
	}
}

// reshaper writes a table as an array of objects.
type reshaper struct {
	ctx context.Context // of the one document that it is
	// data has size bytes and zeros behind them.
	data     []byte
	size     int
	warnings []feedmill.Warning

	out *bufio.Writer
	// begun says that the row has a member, left is how many bytes of the most may
	// still be written, and fault why no more are.
	begun      bool
	left, most int64
	fault      error
	// set reports that the user has set the path of the table.
	set bool
	// unheld says that there is a table which could be written if its document were
	// in memory.
	unheld bool
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// end is where the value at i ends.
func (t *reshaper) end(i int) int {
	var s skipper
	s.skip(t.data, t.size, &i)
	return i
}

// children calls fn with the name and the range of each member or element of the
// value at i, until it returns false. It reports whether all were visited.
func (t *reshaper) children(i int, fn func(name []byte, start, end int) bool) bool {
	object := t.data[i] == '{'
	for i = skipSpace(t.data, i+1); i < t.size && t.data[i] != '}' && t.data[i] != ']'; {
		var name []byte
		if object {
			end := t.end(i)
			name = t.data[i:end]
			i = skipSpace(t.data, end)
			if i >= t.size || t.data[i] != ':' {
				return false
			}
			i = skipSpace(t.data, i+1)
		}
		end := t.end(i)
		if end <= i || !fn(name, i, end) {
			return false
		}
		if i = skipSpace(t.data, end); i < t.size && t.data[i] == ',' {
			i = skipSpace(t.data, i+1)
		}
	}
	return true
}

// text is what a JSON string says.
func text(quoted []byte) (string, bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), true
	}
	unquoted, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return string(quoted[1 : len(quoted)-1]), true
	}
	return string(unquoted), true
}

// follow is where steps lead to, from the value at i.
func (t *reshaper) follow(i int, steps []jsonpath.Step) (int, bool) {
	for k := range steps {
		wanted, named := steps[k].Name()
		found := -1
		index := int64(0)
		t.children(i, func(name []byte, start, _ int) bool {
			if key, ok := text(name); named && ok && key == wanted || !named && steps[k].Element(index) {
				found = start
			}
			index++
			return true
		})
		if found < 0 {
			return 0, false
		}
		i = found
	}
	return i, true
}

// arrays returns what writes rows that are arrays, nil where they are no table.
// Beside has the object that the array of them is in, at around, which is -1 for none.
func (t *reshaper) arrays(each tableRows, beside *reshaper, around int) func() {
	width, rows := 0, 0
	var first []string
	header := true
	fine := each(func(_ []byte, start, _ int) bool {
		if t.data[start] != '[' {
			return t.data[start] == 'n'
		}
		n := 0
		t.children(start, func(_ []byte, s, e int) bool {
			if rows == 0 {
				name, ok := text(t.data[s:e])
				header = header && ok && name != ""
				first = append(first, name)
			}
			n++
			return n <= input.MaxColumns
		})
		width = max(width, n)
		rows++
		return width <= input.MaxColumns
	})
	if !fine || rows == 0 || width == 0 {
		return nil
	}
	names, keys := beside.besides(around, width, rows)
	skip := 0
	if names == nil {
		if header = header && len(first) > 0; header {
			names, skip = first, 1
		} else {
			t.warnings = append(t.warnings, feedmill.Warning{
				Code: feedmill.WarnNoHeader, Count: 1, FirstRow: 1, Detail: "The rows are arrays and the first row contains values, not names, so the columns are numbered. Add a row of names at the source, or rename the columns.",
			})
		}
	}
	quoted := quotedNames(uniqueNames(names, width))
	return func() {
		row := 0
		each(func(_ []byte, start, _ int) bool {
			if row++; row <= skip {
				return true
			}
			t.open(row - skip)
			if number := row - 1 - skip; number < len(keys) {
				t.member(quotedKey, beside.data[keys[number]:beside.end(int(keys[number]))])
			}
			column := 0
			if t.data[start] == '[' {
				t.children(start, func(_ []byte, s, e int) bool {
					t.member(quoted[column], t.data[s:e])
					column++
					return true
				})
			}
			return t.shut()
		})
		t.finish(row - skip)
	}
}

var quotedKey = jstext.AppendString(nil, keyName)

func quotedNames(names []string) [][]byte {
	quoted := make([][]byte, len(names))
	for i, name := range names {
		quoted[i] = jstext.AppendString(nil, name)
	}
	return quoted
}

// open begins a row; the first one begins the table, too.
func (t *reshaper) open(row int) {
	before := ",\n{"
	if row == 1 {
		before = "[{"
	}
	t.write(before)
	t.begun = false
}

// finish ends the table, which has so many rows.
func (t *reshaper) finish(rows int) {
	if rows == 0 {
		t.write("[")
	}
	t.write("]")
}

// shut ends a row, and reports whether there can be another.
func (t *reshaper) shut() bool {
	t.write("}")
	if t.fault == nil {
		t.fault = t.ctx.Err()
	}
	return t.fault == nil
}

// member adds a member, whose name is in quotes.
func (t *reshaper) member(name, value []byte) {
	if t.begun {
		t.write(",")
	}
	t.begun = true
	t.write(string(name))
	t.write(":")
	t.write(string(value))
}

// write writes a text. An error stays with the writer until its end.
func (t *reshaper) write(text string) {
	if t.left -= int64(len(text)); t.left < 0 {
		t.fault = input.Refuse("document-too-large", "the rows with their column names are longer than %d bytes, the maximum; use shorter names at the source", t.most)
		return
	}
	_, _ = t.out.WriteString(text)
}
