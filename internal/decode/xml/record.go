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
				err = r.xml.Skip()
			case next.record && r.table.sheet != nil:
				last = next
				err = r.readSheetRow()
			case next.record:
				last = next
				err = r.readRecord()
			default:
				stack = append(stack, around{at, r.keeps})
				r.keeps = r.keepsSpace(r.keeps)
				at, last = next, nil
			}
			if err != nil {
				return err
			}
		case EndElement:
			last = at
			top := stack[len(stack)-1]
			at, r.keeps, stack = top.spot, top.keeps, stack[:len(stack)-1]
		}
	}
}

// readRecord reads a record whose tag was read.
func (r *recordReader) readRecord() error {
	if err := r.run.begin(r); err != nil {
		return err
	}
	r.texts, r.mixed, r.group, r.groups = r.texts[:0], 0, 0, 0
	r.items.reset()
	if r.explosion != nil {
		r.explosion.Begin()
	} else if err := r.run.openRow(r); err != nil {
		return err
	}
	if err := r.element(r.record); err != nil {
		return err
	}
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

// element reads an element whose tag was read into the row.
func (r *recordReader) element(s *spot) error {
	f := s.field
	keeps, isNil := r.keeps, false
	for i, a := range r.xml.Attributes() {
		known := r.attribute(s, i, a.Name)
		switch {
		case known == nil:
			return input.ErrChanged
		case known.kind == dataAttribute:
			if err := r.put(known.column, columnar.CellPlain, a.Value); err != nil {
				return err
			}
		case known.kind == nilAttribute:
			isNil = says(a.Value)
		case known.kind == spaceAttribute:
			r.keeps = string(a.Value) == "preserve"
		}
	}
	if text, ok := r.xml.TextOnly(); ok {
		if r.mixed > 0 {
			r.texts = append(r.texts, text...)
		}
		err := r.putText(f, text, isNil)
		r.keeps = keeps
		return err
	}
	err := r.content(s, isNil)
	r.keeps = keeps
	return err
}

// content reads what is in an element up to its end.
func (r *recordReader) content(s *spot, isNil bool) error {
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
			if err := r.below(child); err != nil {
				return err
			}
			last = child
		case EndElement:
			if f.mixed {
				r.mixed--
			}
			text := r.texts[start:]
			if !own && !(r.keeps && len(f.children) == 0) {
				text = nil
			}
			if r.mixed == 0 {
				r.texts = r.texts[:start]
			}
			return r.putText(f, text, isNil)
		}
	}
}

// below reads an element in another one.
func (r *recordReader) below(s *spot) error {
	switch f := s.field; {
	case f.nested:
		return r.nested(s)
	case f.level == 0:
		return r.element(s)
	}
	around, ok := r.explosion.Enter(s.field.level)
	if !ok {
		return r.failExploded()
	}
	group, roots := r.group, len(r.items.roots)
	r.groups++
	r.group = r.groups
	if err := r.element(s); err != nil {
		return err
	}
	if err := r.endNested(roots); err != nil {
		return err
	}
	r.group = group
	r.explosion.Leave(around)
	return nil
}

// putText puts the text of an element into its column.
func (r *recordReader) putText(f *field, text []byte, isNil bool) error {
	if f.column < 0 {
		return nil
	}
	if isNil {
		return r.putCell(f.column, columnar.NewCell(columnar.CellNull, 0, 0))
	}
	if !r.keeps {
		text = trimBlank(text)
	}
	if len(text) == 0 && !f.plain() {
		return nil
	}
	return r.put(f.column, columnar.CellPlain, text)
}

// put puts a text into a column.
func (r *recordReader) put(column int, kind columnar.CellKind, text []byte) error {
	if len(text) > input.MaxFieldBytes {
		return r.table.failAt(r.offset(), "the text is longer than %d bytes, which is too long for a cell", input.MaxFieldBytes)
	}
	start := len(r.cells.Data)
	r.cells.Data = append(r.cells.Data, text...)
	return r.putCell(column, columnar.NewCell(kind, start, len(r.cells.Data)))
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
	return r.table.failAt(r.offset(), "the record has more than %d values, which is too many to explode; a path can select them as records", input.MaxExploded)
}

// offset is where in the data the reader is.
func (r *recordReader) offset() int64 { return r.xml.Offset() + r.run.shift }
