package json

import (
	"strconv"

	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/jstext"
)

// keyedShape is what is known of an object of objects.
type keyedShape struct {
	// members are counted, of which nulls have nothing but their names, and rows is
	// how many names the largest has.
	members, nulls, rows int
	// counting says that the names in all of them count from 0 on.
	counting bool
	// known counts the names in them; many says that there are too many.
	known map[string]int
	many  bool
}

// add looks at the value of one more member.
func (k *keyedShape) add(t *reshaper, at int) bool {
	k.members++
	if t.data[at] != '{' {
		k.nulls++
		return t.data[at] == 'n'
	}
	n := 0
	all := t.children(at, func(inner []byte, _, _ int) bool {
		if k.counting || !k.many {
			word, _ := text(inner)
			k.counting = k.counting && word == strconv.Itoa(n)
			if !k.many {
				k.known[word]++
				k.many = len(k.known) > input.MaxColumns
			}
		}
		n++
		return true
	})
	k.rows = max(k.rows, n)
	return all
}

// shared reports whether each name in the members stands in at least half of the
// objects, and one in several.
func (k *keyedShape) shared() (shared bool) {
	for _, count := range k.known {
		if count*2 < k.members-k.nulls {
			return false
		}
		shared = shared || count > 1
	}
	return shared && !k.many
}

// keyed returns what writes an object of objects: each member is a row, with its name in
// a column of its own, or a column where the names in it count the rows. It is nil where
// the members have nothing in common, and where they are columns of a document that is
// not held.
func (t *reshaper) keyed(each tableRows, held bool) func() {
	k := keyedShape{counting: true, known: make(map[string]int)}
	fine := each(func(_ []byte, start, _ int) bool { return k.add(t, start) })
	switch {
	case !fine || k.members == k.nulls || k.rows == 0:
		return nil
	case k.members-k.nulls == 1 && t.set:
		// Somebody has said that the members are records.
	case k.members-k.nulls < 2:
		return nil
	case k.counting && k.members <= input.MaxColumns:
		if t.unheld = !held; t.unheld {
			return nil
		}
		return func() { t.columns(each, k.rows) }
	case !k.shared():
		return nil
	}
	key := keyName
	if k.known[keyName] > 0 {
		key = keyName + "_2"
	}
	quoted := jstext.AppendString(nil, key)
	return func() {
		row := 0
		each(func(name []byte, start, _ int) bool {
			row++
			t.open(row)
			word, _ := text(name)
			t.member(quoted, jstext.AppendString(nil, word))
			if t.data[start] == '{' {
				t.children(start, func(inner []byte, s, e int) bool {
					t.member(inner, t.data[s:e])
					return true
				})
			}
			return t.shut()
		})
		t.write("]")
	}
}

// columns writes members that are columns, whose names count the rows.
func (t *reshaper) columns(each tableRows, rows int) {
	var cells [][]int32
	var names []string
	each(func(name []byte, start, _ int) bool {
		word, _ := text(name)
		var column []int32
		if t.data[start] == '{' {
			t.children(start, func(_ []byte, s, _ int) bool {
				column = append(column, int32(s))
				return true
			})
		}
		names, cells = append(names, word), append(cells, column)
		return true
	})
	t.rowsOf(names, cells, rows)
}

// rowsOf writes columns row by row; cells are where the values of each begin.
func (t *reshaper) rowsOf(names []string, cells [][]int32, rows int) {
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
	t.finish(rows)
}
