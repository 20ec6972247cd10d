package json

import (
	"strconv"

	"github.com/feedmill/feedmill/internal/jstext"
)

// keyedMember is a member of an object of objects.
type keyedMember struct {
	name  string
	start int
}

// keyed writes an object of objects: each member is a row, with its name in a
// column of its own, or a column where the names in it count the rows.
func (t *reshaper) keyed(at int) bool {
	var members []keyedMember
	known := map[string]int{}
	counting := true
	rows, nulls := 0, 0
	fine := t.children(at, func(name []byte, start, _ int) bool {
		key, _ := text(name)
		members = append(members, keyedMember{key, start})
		if t.data[start] != '{' {
			nulls++
			return t.data[start] == 'n' // a row of nothing but its name
		}
		n := 0
		all := t.children(start, func(inner []byte, _, _ int) bool {
			word, _ := text(inner)
			counting = counting && word == strconv.Itoa(n)
			known[word]++
			n++
			return true
		})
		rows = max(rows, n)
		return all
	})
	if !fine || len(members)-nulls < 2 || rows == 0 {
		return false
	}
	if counting {
		return t.columns(members, rows)
	}
	shared := false
	for _, count := range known {
		if count*2 < len(members)-nulls {
			return false
		}
		shared = shared || count > 1
	}
	if !shared {
		return false // the members have nothing in common
	}
	t.out = append(t.out, '[')
	for row, m := range members {
		t.open(row + 1)
		key := keyName
		if known[keyName] > 0 {
			key = keyName + "_2"
		}
		t.member(key, jstext.AppendString(nil, m.name))
		if t.data[m.start] != '{' {
			t.out = append(t.out, '}')
			continue
		}
		t.children(m.start, func(inner []byte, s, e int) bool {
			t.out = append(append(append(t.out, ','), inner...), ':')
			t.out = append(t.out, t.data[s:e]...)
			return true
		})
		t.out = append(t.out, '}')
	}
	t.out = append(t.out, ']')
	return true
}

// columns writes members that are columns, whose names count the rows.
func (t *reshaper) columns(members []keyedMember, rows int) bool {
	cells := make([][][]byte, len(members))
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
		if t.data[m.start] != '{' {
			continue
		}
		t.children(m.start, func(_ []byte, s, e int) bool {
			cells[i] = append(cells[i], t.data[s:e])
			return true
		})
	}
	names = uniqueNames(names, len(names))
	t.out = append(t.out, '[')
	for row := range rows {
		t.open(row + 1)
		for i := range cells {
			if row < len(cells[i]) {
				t.member(names[i], cells[i][row])
			}
		}
		t.out = append(t.out, '}')
	}
	t.out = append(t.out, ']')
	return true
}
