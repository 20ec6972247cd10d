package json

import (
	"strconv"

	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/jstext"
)

// keyedMember is a member of an object of objects: where its name is, and its value.
type keyedMember struct{ name, value int32 }

// keyed returns what writes an object of objects: each member is a row, with its name in
// a column of its own, or a column where the names in it count the rows. It is nil where
// the members have nothing in common.
func (t *reshaper) keyed(at int) func() {
	var members []keyedMember
	counting := true
	rows, nulls := 0, 0
	fine := t.children(at, func(name []byte, start, _ int) bool {
		members = append(members, keyedMember{int32(cap(t.data) - cap(name)), int32(start)})
		if t.data[start] != '{' {
			nulls++
			return t.data[start] == 'n' // a row of nothing but its name
		}
		n := 0
		all := t.children(start, func(inner []byte, _, _ int) bool {
			if counting {
				word, _ := text(inner)
				counting = word == strconv.Itoa(n)
			}
			n++
			return true
		})
		rows = max(rows, n)
		return all
	})
	switch {
	case !fine || len(members)-nulls < 2 || rows == 0:
		return nil
	case counting && len(members) <= input.MaxColumns:
		return func() { t.columns(members, rows) }
	}
	known, shared := t.inner(members, len(members)-nulls)
	if !shared {
		return nil
	}
	key := keyName
	if known[keyName] > 0 {
		key = keyName + "_2"
	}
	quoted := jstext.AppendString(nil, key)
	return func() {
		for row, m := range members {
			t.open(row + 1)
			name, _ := text(t.data[m.name:t.end(int(m.name))])
			t.member(quoted, jstext.AppendString(nil, name))
			if t.data[m.value] == '{' {
				t.children(int(m.value), func(inner []byte, s, e int) bool {
					t.member(inner, t.data[s:e])
					return true
				})
			}
			if !t.shut() {
				return
			}
		}
		t.write("]")
	}
}

// inner counts the names in members, and reports whether each stands in at least half
// of the objects, and one in several.
func (t *reshaper) inner(members []keyedMember, objects int) (known map[string]int, shared bool) {
	known = make(map[string]int)
	for _, m := range members {
		if t.data[m.value] != '{' {
			continue
		}
		few := t.children(int(m.value), func(inner []byte, _, _ int) bool {
			word, _ := text(inner)
			known[word]++
			return len(known) <= input.MaxColumns
		})
		if !few {
			return nil, false
		}
	}
	for _, count := range known {
		if count*2 < objects {
			return nil, false
		}
		shared = shared || count > 1
	}
	return known, shared
}

// columns writes members that are columns, whose names count the rows.
func (t *reshaper) columns(members []keyedMember, rows int) {
	cells := make([][]int32, len(members))
	names := make([]string, len(members))
	for i, m := range members {
		names[i], _ = text(t.data[m.name:t.end(int(m.name))])
		if t.data[m.value] != '{' {
			continue
		}
		t.children(int(m.value), func(_ []byte, s, _ int) bool {
			cells[i] = append(cells[i], int32(s))
			return true
		})
	}
	quoted := quotedNames(uniqueNames(names, len(names)))
	for row := range rows {
		t.open(row + 1)
		for i := range cells {
			if row < len(cells[i]) {
				start := int(cells[i][row])
				t.member(quoted[i], t.data[start:t.end(start)])
			}
		}
		if !t.shut() {
			return
		}
	}
	t.write("]")
}
