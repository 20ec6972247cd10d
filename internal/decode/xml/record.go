package xml

import (
	"io"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// recordReader makes cells of records, as one goroutine of a pass over the data.
type recordReader struct {
	table *Table
	xml   *Reader
	// way leads to the records, and record is one.
	way, record *spot
	scratch     []byte
	// large is called before much is held.
	large func() error
	// open are the elements of the record that are open.
	open   []openSpot
	follow follower[spot]

	cells columnar.Cells
	row   []columnar.Cell
	// texts has the text of the elements that are open and whose text is not in one
	// piece, and mixed counts those of them whose text is all that is in them.
	texts []byte
	mixed int
	// keeps says that white space is kept here.
	keeps     bool
	items     items
	explosion *input.Explosion
	// group is the element that becomes rows and that nested ones now belong to, of so many in
	// the record; 0 is the record.
	group, groups int32

	sheet sheetReader
	run   run
}

// openSpot is an element of a record that is open.
type openSpot struct {
	spot *spot
	// last is the child that began last.
	last *spot
	// start is where its text begins, and own says that some of it is its own.
	start                int
	own, isNil, wasKept  bool
	around, group, roots int // what an element that becomes rows stands in
}

// read reads all records of the document that is the reader's.
func (r *recordReader) read() error {
	type around struct {
		spot  *spot
		keeps bool
	}
	var stack []around
	at, last := r.way, (*spot)(nil)
	for {
		kind, err := r.xml.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case StartElement:
			next := r.child(at, last, r.xml.Name())
			switch {
			case next == nil:
				r.follow.cancel()
				err = r.xml.Skip()
			case next.record && r.table.sheet != nil:
				last = next
				err = r.readSheetRow()
			case next.record:
				last = next
				err = r.readRecord()
			default:
				r.follow.cancel()
				stack = append(stack, around{at, r.keeps})
				r.keeps = r.keepsSpace(r.keeps)
				at, last = next, nil
			}
			if err != nil {
				return err
			}
		case EndElement:
			r.follow.cancel()
			last = at
			top := stack[len(stack)-1]
			at, r.keeps, stack = top.spot, top.keeps, stack[:len(stack)-1]
		}
	}
}

// keepsSpace reports whether white space is kept in the element that starts, which an
// attribute may say.
func (r *recordReader) keepsSpace(around bool) bool {
	for _, a := range r.xml.Attributes() {
		if a.Name.Space == xmlSpace && a.Name.Local == "space" {
			return string(a.Value) == "preserve"
		}
	}
	return around
}

// readRecord reads a record whose tag was read, and those that follow it without anything else
// between them.
func (r *recordReader) readRecord() error {
	if err := r.beginRecord(); err != nil {
		return err
	}
	if err := r.enter(r.record); err != nil {
		return err
	}
	for len(r.open) > 0 {
		kind, err := r.xml.Next()
		if err != nil {
			return err
		}
		switch kind {
		case Text:
			top, text := &r.open[len(r.open)-1], r.xml.Text()
			top.own = top.own || !isBlank(text)
			r.texts = append(r.texts, text...)
			r.follow.cancel()
		case StartElement:
			top := &r.open[len(r.open)-1]
			child := r.child(top.spot, top.last, r.xml.Name())
			if child == nil {
				return input.ErrChanged
			}
			top.last = child
			if child.field.nested {
				r.follow.cancel()
				err = r.nested(child)
			} else {
				err = r.enter(child)
			}
		case EndElement:
			r.follow.end()
			err = r.leave()
		}
		if err != nil {
			return err
		}
	}
	return r.endRecord()
}

// beginRecord makes ready for a record.
func (r *recordReader) beginRecord() error {
	if err := r.run.begin(r); err != nil {
		return err
	}
	r.texts, r.mixed, r.group, r.groups = r.texts[:0], 0, 0, 0
	r.items.reset()
	if r.explosion != nil {
		r.explosion.Begin()
		return nil
	}
	return r.run.openRow(r)
}

// endRecord makes the rows of a record that has ended.
func (r *recordReader) endRecord() error {
	if err := r.endNested(0); err != nil {
		return err
	}
	if r.explosion == nil {
		r.cells.Rows++
		return nil
	}
	var failed error
	r.explosion.Rows(r.cells.Columns, func(row []columnar.Cell) bool {
		if failed = r.run.openRow(r); failed != nil {
			return false
		}
		copy(r.row, row)
		r.cells.Rows++
		return true
	})
	return failed
}

// enter reads the beginning of an element whose tag was read, and all of it where that is only text,
// and then what follows as far as it is what followed before.
func (r *recordReader) enter(s *spot) error {
	if err := r.push(s); err != nil {
		return err
	}
	if attributes := r.xml.Attributes(); len(attributes) > 0 {
		r.follow.cancel()
		if err := r.readAttributes(s, attributes); err != nil {
			return err
		}
	}
	r.follow.begin(s)
	followed := r.follow.passage(r.xml)
	text, ok := r.xml.TextOnly()
	if !ok {
		return nil
	}
	r.follow.remember(followed)
	if err := r.leaf(text); err != nil {
		return err
	}
	return r.passAlong(s)
}

// readAttributes reads the attributes of the element that is open last.
func (r *recordReader) readAttributes(s *spot, attributes []Attribute) error {
	top := &r.open[len(r.open)-1]
	for i, a := range attributes {
		known := r.attribute(s, i, a.Name)
		switch {
		case known == nil:
			return input.ErrChanged
		case known.kind == dataAttribute:
			if err := r.put(known.column, columnar.CellPlain, a.Value); err != nil {
				return err
			}
		case known.kind == nilAttribute:
			top.isNil = isTrue(a.Value)
		case known.kind == spaceAttribute:
			r.keeps = string(a.Value) == "preserve"
		}
	}
	return nil
}

// push opens an element.
func (r *recordReader) push(s *spot) error {
	open := openSpot{spot: s, start: len(r.texts), wasKept: r.keeps}
	if s.field.level > 0 {
		around, ok := r.explosion.Enter(s.field.level)
		if !ok {
			return r.failExploded()
		}
		open.around, open.group, open.roots = around, int(r.group), len(r.items.roots)
		r.groups++
		r.group = r.groups
	}
	if s.field.mixed {
		r.mixed++
	}
	r.open = append(r.open, open)
	return nil
}

// leaf closes the element that is open last and has nothing but a text.
func (r *recordReader) leaf(text []byte) error {
	top := &r.open[len(r.open)-1]
	if top.spot.field.mixed {
		r.mixed--
	}
	if r.mixed > 0 {
		r.texts = append(r.texts, text...)
	}
	return r.pop(top, text)
}

// leave closes the element that is open last.
func (r *recordReader) leave() error {
	top := &r.open[len(r.open)-1]
	f := top.spot.field
	if f.mixed {
		r.mixed--
	}
	text := r.texts[top.start:]
	if !top.own && !(r.keeps && len(f.children) == 0) {
		text = nil
	}
	if r.mixed == 0 {
		r.texts = r.texts[:top.start]
	}
	return r.pop(top, text)
}

// pop closes the element that is open last and has a text.
func (r *recordReader) pop(top *openSpot, text []byte) error {
	if f := top.spot.field; f.column >= 0 {
		if err := r.putText(f, text, top.isNil); err != nil {
			return err
		}
	}
	r.keeps = top.wasKept
	if top.spot.field.level > 0 {
		if err := r.endNested(top.roots); err != nil {
			return err
		}
		r.group = int32(top.group)
		r.explosion.Leave(top.around)
	}
	r.open = r.open[:len(r.open)-1]
	return nil
}

// putText puts the text of an element into its column.
func (r *recordReader) putText(f *field, text []byte, isNil bool) error {
	if isNil {
		return r.putCell(f.column, columnar.NewCell(columnar.CellNull, 0, 0))
	}
	if !r.keeps {
		text = trimBlank(text)
	}
	if len(text) == 0 && !f.alone {
		return nil
	}
	if len(text) == 0 && f.says != "" {
		return r.put(f.column, columnar.CellPlain, []byte(f.says))
	}
	return r.put(f.column, columnar.CellPlain, text)
}

// put puts a text into a column.
func (r *recordReader) put(column int, kind columnar.CellKind, text []byte) error {
	if len(text) > maxFieldBytes {
		return r.table.failAt(r.offset(), "the text is longer than %d bytes, the maximum for a cell", maxFieldBytes)
	}
	start := len(r.cells.Data)
	if start+len(text) > input.LargeBytes {
		if err := r.large(); err != nil {
			return err
		}
	}
	r.cells.Data = append(r.cells.Data, text...)
	cell := columnar.NewCell(kind, start, len(r.cells.Data))
	if r.explosion == nil {
		r.row[column] = cell
		return nil
	}
	return r.putCell(column, cell)
}

func (r *recordReader) putCell(column int, cell columnar.Cell) error {
	if r.explosion == nil {
		r.row[column] = cell
		return nil
	}
	if !r.explosion.Put(column, cell) {
		return r.failExploded()
	}
	return nil
}

func (r *recordReader) failExploded() error {
	return r.table.failAt(r.offset(), "the record has more than %d values, the maximum for explode; set path to read them as records", input.MaxExploded)
}

// offset is where in the data the reader is.
func (r *recordReader) offset() int64 { return r.xml.Offset() + r.run.shift }
