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
	t := &reshaper{data: data, size: int(size)}
	at, ok := t.follow(skipSpace(data, 0), place.steps[:len(place.steps)-1])
	if !ok {
		return false, nil
	}
	switch place.shape {
	case shapeArrays:
		around := -1
		if last := len(place.steps) - 2; last >= 0 {
			around, _ = t.follow(skipSpace(data, 0), place.steps[:last])
		}
		ok = t.arrays(at, around)
	case shapeKeyed:
		ok = t.keyed(at)
	}
	if !ok || ctx.Err() != nil {
		return false, ctx.Err()
	}
	written, err := j.spool.Write(func(w io.Writer) error {
		out := bufio.NewWriter(w)
		if _, err := out.Write(t.out); err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil {
		return false, err
	}
	j.src, j.start, j.shaped, j.notes = written, 0, place.steps, t.warnings
	j.steps = []jsonpath.Step{jsonpath.AllStep()}
	return true, nil
}

// reshaper writes a table as an array of objects.
type reshaper struct {
	// data has size bytes and zeros behind them.
	data     []byte
	size     int
	out      []byte
	warnings []feedmill.Warning
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

// arrays writes rows that are arrays. Around is the object that the array of them
// is in, or -1.
func (t *reshaper) arrays(at, around int) bool {
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
			return true
		})
		width = max(width, n)
		rows++
		return true
	})
	if !fine || rows == 0 || width == 0 || width > input.MaxColumns {
		return false
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
	names = uniqueNames(names, width)
	t.out = append(t.out, '[')
	row := 0
	t.children(at, func(_ []byte, start, _ int) bool {
		if row++; row <= skip {
			return true
		}
		t.open(row - skip)
		if number := row - 1 - skip; number < len(keys) {
			t.member(keyName, []byte(keys[number]))
		}
		column := 0
		if t.data[start] == '[' {
			t.children(start, func(_ []byte, s, e int) bool {
				t.member(names[column], t.data[s:e])
				column++
				return true
			})
		}
		t.out = append(t.out, '}')
		return true
	})
	t.out = append(t.out, ']')
	return true
}

func (t *reshaper) open(row int) {
	if row > 1 {
		t.out = append(t.out, ",\n"...)
	}
	t.out = append(t.out, '{')
}

func (t *reshaper) member(name string, value []byte) {
	if t.out[len(t.out)-1] != '{' {
		t.out = append(t.out, ',')
	}
	t.out = append(jstext.AppendString(t.out, name), ':')
	t.out = append(t.out, value...)
}

// besides are the names of the columns that stand beside the rows, and the keys of
// the rows, where there are any but their numbers.
func (t *reshaper) besides(around, width, rows int) (names, keys []string) {
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
			var list []string
			counting := true
			t.children(start, func(_ []byte, s, e int) bool {
				counting = counting && string(t.data[s:e]) == strconv.Itoa(len(list))
				list = append(list, string(t.data[s:e]))
				return true
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
		return ok
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
