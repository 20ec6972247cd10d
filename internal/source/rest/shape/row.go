package shape

import (
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// rowMaker writes rows, an object a line.
type rowMaker struct {
	out   []byte
	taken map[string]bool
	// only are the members of a row that marks a deletion, nil for any other row.
	only map[string]bool
}

func (w *rowMaker) reset() {
	w.out = append(w.out[:0], '{')
	if w.taken == nil {
		w.taken = make(map[string]bool)
	}
	clear(w.taken)
}

// set adds a member, unless there is one of that name.
func (w *rowMaker) set(name string, raw []byte) {
	if !w.taken[name] {
		w.taken[name] = true
		w.add(name, raw)
	}
}

// add adds a member.
func (w *rowMaker) add(name string, raw []byte) {
	if w.only != nil && !w.only[name] {
		return
	}
	if len(w.out) > 1 {
		w.out = append(w.out, ',')
	}
	w.out = append(append(w.out, find.Quote(name)...), ':')
	w.out = append(w.out, find.OneLine(raw)...)
}

func (w *rowMaker) end() []byte {
	if w.only != nil {
		w.add(spec.DeletedMark, []byte("true"))
	}
	w.out = append(w.out, '}', '\n')
	return w.out
}
