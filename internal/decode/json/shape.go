package json

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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
)

// keyName is the column of the names of members that are rows.
const keyName = "_key"

// reshape writes the rows of a table in another shape as objects, and makes those
// what is read. It reports false where there is no such table.
func (j *Table) reshape(ctx context.Context, place recordPlace) (bool, error) {
	size := j.src.Size() - j.start
	if size > int64(j.limits.tree) {
		j.notes = append(j.notes, place.tooLarge(j.limits.tree))
		return false, nil
	}
	// What is copied without a close look must be sound.
	if err := firstFault(ctx, j.source, nil); err != (*dataFault)(nil) {
		return false, err
	}
	data := make([]byte, size+textPadding)
	if err := input.ReadFull(j.src, data[:size], j.start); err != nil {
		return false, fmt.Errorf("read JSON: %w", err)
	}
	t := &reshaper{ctx: ctx, data: data, size: int(size), left: maxReshaped(size)}
	at, ok := t.follow(skipSpace(data, 0), place.steps[:len(place.steps)-1])
	if !ok {
		return false, nil
	}
	var write func()
	switch place.shape {
	case shapeArrays:
		around := -1
		if last := len(place.steps) - 2; last >= 0 {
			around, _ = t.follow(skipSpace(data, 0), place.steps[:last])
		}
		write = t.arrays(at, around)
	case shapeKeyed:
		write = t.keyed(at)
	}
	if write == nil || ctx.Err() != nil {
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
	j.src, j.start, j.shaped, j.notes = written, 0, place.steps, t.warnings
	j.steps = []jsonpath.Step{jsonpath.AllStep()}
	return true, nil
}

// maxReshaped is how many bytes the rows of a document can come to when they are
// written as objects: each of them has all names.
func maxReshaped(size int64) int64 { return 16*size + 64<<20 }

// tooLarge says that a table in another shape is left as it is.
func (p *recordPlace) tooLarge(limit int) feedmill.Warning {
	what, instead := "the rows are arrays", "they are read as JSON in one column"
	if p.shape == shapeKeyed {
		what, instead = "the document is an object of objects", "it is read as one record"
	}
	return feedmill.Warning{
		Code: feedmill.WarnShape, Count: 1,
		Detail: fmt.Sprintf("%s, which a document of up to %d bytes is read as a table of; this one is longer, so %s; have the source write an object for each row, or CSV", what, limit, instead),
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
	// begun says that the row has a member, left is how many bytes may still be
	// written, and fault why no more are.
	begun bool
	left  int64
	fault error
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
// Around is the object that the array of them is in, or -1.
func (t *reshaper) arrays(at, around int) func() {
	width, rows, fine := 0, 0, true
	var first []string
	header := true
	fine = t.children(at, func(_ []byte, start, end int) bool {
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
	names, keys := t.besides(around, width, rows)
	skip := 0
	if names == nil {
		if header = header && len(first) > 0 && rows > 1; header {
			names, skip = first, 1
		} else {
			t.warnings = append(t.warnings, feedmill.Warning{
				Code: feedmill.WarnNoHeader, Count: 1, FirstRow: 1, Detail: "the rows are arrays, and the first holds values and no names, so the columns have none",
			})
		}
	}
	quoted := quotedNames(uniqueNames(names, width))
	return func() {
		row := 0
		t.children(at, func(_ []byte, start, _ int) bool {
			if row++; row <= skip {
				return true
			}
			t.open(row - skip)
			if number := row - 1 - skip; number < len(keys) {
				t.member(quotedKey, t.data[keys[number]:t.end(int(keys[number]))])
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
		t.write("]")
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
		t.fault = input.Refuse("document-too-large", "with their names the rows come to more than %d bytes; have the source write shorter names", maxReshaped(int64(t.size)))
		return
	}
	_, _ = t.out.WriteString(text)
}

// besides are the names of the columns that stand beside the rows, and where the keys
// of the rows are, where there are any but their numbers.
func (t *reshaper) besides(around, width, rows int) (names []string, keys []int32) {
	if around < 0 || t.data[around] != '{' {
		return nil, nil
	}
	t.children(around, func(name []byte, start, _ int) bool {
		key, _ := text(name)
		switch strings.ToLower(key) {
		case "columns", "cols", "fields", "header", "headers", "names", "column_names", "columnnames", "columnheaders":
			if list := t.listed(start); len(list) >= width {
				names = list
			}
		case "index":
			var list []int32
			counting := true
			t.children(start, func(_ []byte, s, e int) bool {
				counting = counting && string(t.data[s:e]) == strconv.Itoa(len(list))
				list = append(list, int32(s))
				return len(list) <= rows
			})
			if len(list) == rows && !counting {
				keys = list
			}
		}
		return true
	})
	return names, keys
}

// listed are the names in an array of them, or of objects that have one each.
func (t *reshaper) listed(at int) (names []string) {
	if t.data[at] != '[' {
		return nil
	}
	fine := t.children(at, func(_ []byte, start, end int) bool {
		name, ok := text(t.data[start:end])
		if t.data[start] == '{' {
			t.children(start, func(key []byte, s, e int) bool {
				if key, _ := text(key); slices.Contains([]string{"name", "id", "field", "label", "title", "key"}, strings.ToLower(key)) && !ok {
					name, ok = text(t.data[s:e])
				}
				return true
			})
		}
		names = append(names, name)
		return ok && len(names) <= input.MaxColumns
	})
	if !fine {
		return nil
	}
	return names
}

// uniqueNames are names for so many columns, none of which stands twice: one
// object cannot have two members of a name.
func uniqueNames(names []string, width int) []string {
	out := make([]string, 0, width)
	used := make(map[string]bool, width)
	for i := range max(width, len(names)) {
		name := ""
		if i < len(names) {
			name = names[i]
		} else if len(names) > 0 {
			name = "_extra_" + strconv.Itoa(i+1-len(names))
		}
		if name == "" {
			name = "column_" + strconv.Itoa(i+1)
		}
		free := name
		for n := 2; used[free]; n++ {
			free = name + "_" + strconv.Itoa(n)
		}
		used[free] = true
		out = append(out, free)
	}
	return out
}
