package xml

import (
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// items are the elements of a record that become JSON, which is written when all of
// them are known, because elements of one name need not follow each other.
type items struct {
	all        []item
	attributes []itemAttribute
	texts      []byte
	// roots are the first items of each field whose JSON is a cell.
	roots []int32
}

// item is an element. The numbers of others are -1 where there are none.
type item struct {
	spot *spot
	// first is the first element in it, next the one that follows it, and same the
	// next one of the same name; later says that one of the same name is before it.
	first, last, next, same int32
	later, null             bool
	text, attributes        textRange
}

type textRange struct{ start, end int }

type itemAttribute struct {
	name  string
	value textRange
}

func (t *items) reset() {
	t.all, t.attributes, t.texts, t.roots = t.all[:0], t.attributes[:0], t.texts[:0], t.roots[:0]
}

// add adds an item to the one around, which is -1 for the row.
func (t *items) add(s *spot, around int32, group int32) int32 {
	i := int32(len(t.all))
	it := item{spot: s, first: -1, last: -1, next: -1, same: -1}
	if s.item >= 0 && int(s.item) < len(t.all) && s.around == group && t.all[s.item].spot == s {
		t.all[s.item].same = i
		it.later = true
	}
	s.item, s.around = i, group
	t.all = append(t.all, it)
	if around < 0 {
		if !it.later {
			t.roots = append(t.roots, i)
		}
		return i
	}
	parent := &t.all[around]
	if parent.last < 0 {
		parent.first = i
	} else {
		t.all[parent.last].next = i
	}
	parent.last = i
	return i
}

// keep keeps a text.
func (t *items) keep(text []byte) textRange {
	start := len(t.texts)
	t.texts = append(t.texts, text...)
	return textRange{start, len(t.texts)}
}

// nested reads an element that becomes JSON of its own, in the row or in the element that becomes a
// row.
func (r *recordReader) nested(s *spot) error {
	return r.item(s, -1, -1-r.group)
}

// item reads an element into an item of the one around.
func (r *recordReader) item(s *spot, around, group int32) error {
	i := r.items.add(s, around, group)
	keeps := r.keeps
	from := len(r.items.attributes)
	for k, a := range r.xml.Attributes() {
		known := r.attribute(s, k, a.Name)
		switch {
		case known == nil:
			return input.ErrChanged
		case known.kind == dataAttribute:
			r.items.attributes = append(r.items.attributes, itemAttribute{known.name, r.items.keep(a.Value)})
		case known.kind == nilAttribute:
			r.items.all[i].null = isTrue(a.Value)
		case known.kind == spaceAttribute:
			r.keeps = string(a.Value) == "preserve"
		}
	}
	r.items.all[i].attributes = textRange{from, len(r.items.attributes)}
	err := r.itemContent(s, i)
	r.keeps = keeps
	return err
}

// itemContent reads what is in an element that becomes JSON, up to its end.
func (r *recordReader) itemContent(s *spot, i int32) error {
	if text, ok := r.xml.TextOnly(); ok {
		if r.mixed > 0 {
			r.texts = append(r.texts, text...)
		}
		r.itemText(i, text)
		return nil
	}
	f, start, own := s.field, len(r.texts), false
	if f.mixed {
		r.mixed++
	}
	var last *spot
	for {
		kind, err := r.xml.Next()
		if err != nil {
			return err
		}
		switch kind {
		case Text:
			text := r.xml.Text()
			own = own || !isBlank(text)
			r.texts = append(r.texts, text...)
		case StartElement:
			child := r.child(s, last, r.xml.Name())
			if child == nil {
				return input.ErrChanged
			}
			if err := r.item(child, i, i); err != nil {
				return err
			}
			last = child
		case EndElement:
			if f.mixed {
				r.mixed--
			}
			if own || r.keeps && len(f.children) == 0 {
				r.itemText(i, r.texts[start:])
			}
			if r.mixed == 0 {
				r.texts = r.texts[:start]
			}
			return nil
		}
	}
}

func (r *recordReader) itemText(i int32, text []byte) {
	if !r.keeps {
		text = trimBlank(text)
	}
	r.items.all[i].text = r.items.keep(text)
}

// endNested writes the JSON of the fields that began behind the first so many.
func (r *recordReader) endNested(roots int) error {
	for _, i := range r.items.roots[roots:] {
		f := r.items.all[i].spot.field
		start := len(r.cells.Data)
		if f.repeats {
			r.cells.Data = r.items.appendArray(r.cells.Data, i)
		} else {
			r.cells.Data = r.items.appendValue(r.cells.Data, i)
		}
		end := len(r.cells.Data)
		if end-start > maxFieldBytes {
			return r.table.failAt(r.offset(), "the JSON of %s is longer than %d bytes, the maximum for a cell", f.way, maxFieldBytes)
		}
		cell := columnar.NewCell(columnar.CellJSON, start, end)
		if r.cells.Data[start] == 'n' {
			cell = columnar.NewCell(columnar.CellNull, 0, 0)
		}
		if err := r.putCell(f.column, cell); err != nil {
			return err
		}
	}
	r.items.roots = r.items.roots[:roots]
	return nil
}

// appendArray appends an item and the others of its name.
func (t *items) appendArray(to []byte, i int32) []byte {
	to = append(to, '[')
	for comma := false; i >= 0; i = t.all[i].same {
		if comma {
			to = append(to, ',')
		}
		to = t.appendValue(to, i)
		comma = true
	}
	return append(to, ']')
}

// appendValue appends an item: null where nothing is in it, its text where it can have nothing
// else, and else an object.
func (t *items) appendValue(to []byte, i int32) []byte {
	it := &t.all[i]
	empty := it.text.start == it.text.end
	switch {
	case !it.null && empty && it.spot.field.says != "":
		return append(to, it.spot.field.says...)
	case it.null, empty && it.first < 0 && it.attributes.start == it.attributes.end:
		return append(to, "null"...)
	case it.spot.field.alone:
		return appendString(to, t.texts[it.text.start:it.text.end])
	}
	opening := byte('{')
	for _, a := range t.attributes[it.attributes.start:it.attributes.end] {
		to = append(append(append(to, opening, '"', '@'), a.name...), '"', ':')
		to = appendString(to, t.texts[a.value.start:a.value.end])
		opening = ','
	}
	if !empty {
		to = append(to, opening)
		to = append(to, `"#text":`...)
		to = appendString(to, t.texts[it.text.start:it.text.end])
		opening = ','
	}
	for k := it.first; k >= 0; k = t.all[k].next {
		child := &t.all[k]
		if child.later {
			continue
		}
		to = append(append(append(to, opening, '"'), child.spot.name...), '"', ':')
		if child.spot.field.repeats {
			to = t.appendArray(to, k)
		} else {
			to = t.appendValue(to, k)
		}
		opening = ','
	}
	return append(to, '}')
}

// appendString appends a text as a JSON string. XML has no control characters but three.
func appendString(to, text []byte) []byte {
	to = append(to, '"')
	start := 0
	for i, c := range text {
		if c != '"' && c != '\\' && c >= ' ' {
			continue
		}
		to = append(to, text[start:i]...)
		switch c {
		case '\n':
			c = 'n'
		case '\r':
			c = 'r'
		case '\t':
			c = 't'
		}
		to = append(to, '\\', c)
		start = i + 1
	}
	return append(append(to, text[start:]...), '"')
}
