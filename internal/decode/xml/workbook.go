package xml

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// workbookSpace is the namespace of workbooks that Excel 2003 wrote as XML, and that much software
// still does.
const workbookSpace = "urn:schemas-microsoft-com:office:spreadsheet"

// OpenWorkbook opens a document that is a workbook, and returns nil where it is another document. Of the options the
// encodings and the folder apply.
func OpenWorkbook(ctx context.Context, src input.Source, options Options) (*Document, error) {
	head := newDocument(src, options)
	if named, err := head.mentions("Workbook"); !named || err != nil {
		return nil, err
	}
	d, err := OpenDocument(ctx, src, options)
	if err != nil {
		return nil, err
	}
	r := d.Reader(ctx)
	if kind, err := r.Next(); err == nil && kind == StartElement && r.Name().Local == "Workbook" && r.Name().Space == workbookSpace {
		return d, nil
	}
	return nil, d.Close() // what is wrong with it is said when it is read as a document
}

// sheet is the sheet of a workbook that version 1 of the rules reads: the first that has rows.
type sheet struct {
	// start is where its first row of data begins at the earliest, and end where the sheet ends.
	start, end int64
	names      []string
	width      int
}

// isWorkbook reports whether the document is a workbook with rows.
func (s *survey) isWorkbook() bool {
	root := s.document.children[0]
	return root.space == workbookSpace && root.local == "Workbook" && s.rowNode() != nil
}

// rowNode is the node of the rows.
func (s *survey) rowNode() *node {
	at := s.document.children[0]
	for _, name := range []string{"Worksheet", "Table", "Row"} {
		if at = at.child(name); at == nil {
			return nil
		}
	}
	return at
}

// openSheet reads the sheet of a workbook once for its header and its width.
func (t *Table) openSheet(ctx context.Context) error {
	rows := t.survey.rowNode()
	rows.record = true
	t.records = t.survey.recordNodes()
	t.sheet = &sheet{end: -1}
	r := &sheetReader{xml: t.Reader(ctx)}
	r.xml.DropBlank = true
	if err := r.scan(t.sheet); err != nil {
		return err
	}
	if t.sheet.width > input.MaxColumns {
		return input.Refuse("too-many-columns", "the sheet has more than %d columns, the maximum", input.MaxColumns)
	}
	t.shape = &shape{record: &field{column: -1}, names: append(t.sheet.names, make([]string, max(t.sheet.width-len(t.sheet.names), 0))...)}
	if t.sheet.names == nil {
		t.warnings = append(t.warnings, feedmill.Warning{
			Code: feedmill.WarnNoHeader, Count: 1, Detail: "The first row of the sheet contains data, so the columns are numbered. Add a header row in the workbook.",
		})
	}
	if sheets := rows.parent.parent.count; sheets > 1 {
		t.warnings = append(t.warnings, feedmill.Warning{
			Code: feedmill.WarnRecords, Count: sheets - 1, Detail: "The workbook has several sheets; the first one with rows was read. Move the sheet you need to the front of the workbook.",
		})
	}
	t.cutBlocks()
	return nil
}

// sheetCell is a cell of a row.
type sheetCell struct {
	column int
	kind   columnar.CellKind
	text   []byte
}

// sheetReader reads the rows of sheets.
type sheetReader struct {
	xml   *Reader
	cells []sheetCell
	texts []byte
}

// scan goes through the document up to the end of the first sheet that has rows.
func (r *sheetReader) scan(s *sheet) error {
	rows := 0
	for {
		kind, err := r.xml.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case kind == EndElement && r.xml.Depth() == 1 && rows > 0:
			s.end = r.xml.Offset()
			return nil
		case kind != StartElement || r.xml.Depth() != 4 || r.xml.Name().Local != "Row":
			continue
		}
		if err := r.row(); err != nil {
			return err
		}
		if len(r.cells) == 0 {
			continue
		}
		if rows++; rows == 1 {
			if s.names = r.header(); s.names != nil {
				s.start = r.xml.End()
			}
		}
		s.width = max(s.width, r.cells[len(r.cells)-1].column+1)
	}
}

// header is the names in a row where it has nothing but texts, or nil.
func (r *sheetReader) header() []string {
	names := make([]string, r.cells[len(r.cells)-1].column+1)
	for _, c := range r.cells {
		if c.kind != columnar.CellString {
			return nil
		}
		names[c.column] = string(c.text)
	}
	return names
}

// attribute is the value of an attribute of the element that starts, or nil.
func (r *sheetReader) attribute(local string) []byte {
	for _, a := range r.xml.Attributes() {
		if a.Name.Local == local && a.Name.Space == workbookSpace {
			return a.Value
		}
	}
	return nil
}

// children calls fn for each element of a name in the element whose tag was read,
// and passes the others over.
func (r *sheetReader) children(local string, fn func() error) error {
	for depth := r.xml.Depth(); ; {
		kind, err := r.xml.Next()
		if err != nil {
			return err
		}
		switch {
		case kind == EndElement && r.xml.Depth() < depth:
			return nil
		case kind != StartElement:
			continue
		case r.xml.Name().Local == local:
			err = fn()
		default:
			err = r.xml.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// number is the value of an attribute of the element that starts, or otherwise
// where it has none. One that is out of bounds would move the cell to a column that
// it is not in, so it is refused.
func (r *sheetReader) number(local string, otherwise, least int) (int, error) {
	text := r.attribute(local)
	if text == nil {
		return otherwise, nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < least || n > input.MaxColumns {
		return 0, r.xml.Fault(fmt.Sprintf("the %s of the cell must be a whole number from %d to %d", local, least, input.MaxColumns))
	}
	return n, nil
}

// row reads the cells of a row whose tag was read. The texts are there until the next row.
func (r *sheetReader) row() error {
	r.cells, r.texts = r.cells[:0], r.texts[:0]
	column := 0
	return r.children("Cell", func() error {
		index, err := r.number("Index", column+1, column+1)
		if err != nil {
			return err
		}
		across, err := r.number("MergeAcross", 0, 0)
		if err != nil {
			return err
		}
		if err := r.cell(index - 1); err != nil {
			return err
		}
		if column = index + across; column > input.MaxColumns {
			return r.xml.Fault("the sheet has more columns than the maximum")
		}
		return nil
	})
}

// cell reads a cell whose tag was read.
func (r *sheetReader) cell(column int) error {
	return r.children("Data", func() error {
		typ := string(r.attribute("Type"))
		start := len(r.texts)
		for inside := r.xml.Depth(); r.xml.Depth() >= inside; {
			kind, err := r.xml.Next()
			if err != nil {
				return err
			}
			if kind == Text {
				r.texts = append(r.texts, r.xml.Text()...)
			}
		}
		r.cells = append(r.cells, typedCell(column, typ, r.texts[start:]))
		return nil
	})
}

// typedCell is a cell of a type that a workbook names.
func typedCell(column int, typ string, text []byte) sheetCell {
	cell := sheetCell{column, columnar.CellPlain, text}
	switch typ {
	case "String":
		cell.kind = columnar.CellString
	case "Boolean":
		cell.kind = columnar.CellFalse
		if isTrue(text) {
			cell.kind = columnar.CellTrue
		}
		cell.text = nil
	case "DateTime":
		cell.kind, cell.text = columnar.CellDate, shortTime(text)
	case "Error":
		cell.kind = columnar.CellError
	}
	return cell
}

// shortTime leaves out what is nothing of a time: 2026-11-15T00:00:00.000 is a day.
func shortTime(text []byte) []byte {
	for _, end := range []string{".000", "T00:00:00"} {
		if n := len(text) - len(end); n > 0 && string(text[n:]) == end {
			text = text[:n]
		}
	}
	return text
}

// readSheetRow reads a row of the sheet into the run.
func (r *recordReader) readSheetRow() error {
	s := r.table.sheet
	at := r.offset()
	if at < s.start || s.end >= 0 && at >= s.end {
		return r.xml.Skip()
	}
	if err := r.run.begin(r); err != nil {
		return err
	}
	r.sheet.xml = r.xml
	if err := r.sheet.row(); err != nil {
		return err
	}
	if len(r.sheet.cells) == 0 {
		return nil
	}
	if err := r.run.openRow(r); err != nil {
		return err
	}
	for _, c := range r.sheet.cells {
		if c.column >= len(r.row) {
			return input.ErrChanged
		}
		if c.kind == columnar.CellError {
			r.cells.Errors++
		}
		if err := r.put(c.column, c.kind, c.text); err != nil {
			return err
		}
	}
	r.cells.Rows++
	return nil
}
