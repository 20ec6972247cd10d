package json

import (
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// columnLists are what an array is called that names the columns of rows beside it, and
// indexName one of the keys of the rows.
var columnLists = []string{"columns", "cols", "fields", "header", "headers", "names", "column_names", "columnnames", "columnheaders"}

const indexName = "index"

// besides are the names of the columns that stand beside the rows, and where the keys
// of the rows are, where there are any but their numbers.
func (t *reshaper) besides(around, width, rows int) (names []string, keys []int32) {
	if around < 0 || t.data[around] != '{' {
		return nil, nil
	}
	t.children(around, func(name []byte, start, _ int) bool {
		key, _ := text(name)
		switch key = strings.ToLower(key); {
		case slices.Contains(columnLists, key):
			if list := t.listed(start); len(list) >= width {
				names = list
			}
		case key == indexName:
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
