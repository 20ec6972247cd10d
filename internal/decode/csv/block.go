package csv

import (
	"bytes"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// recordBlock scans runs of whole records, one after the other, and keeps its
// memory between them.
type recordBlock struct {
	dialect Dialect
	// columns is how many the table has, as far as is known.
	columns int
	// header is the lines of the header, and base is where data begins in the text.
	header [][]byte
	base   int64
	odd    raggedness

	data []byte
	ends []uint32
	// quotes are those of all quoted fields so far, escaped those fields
	// that have doubled quotes, and returns the carriage returns at the ends of lines.
	quotes, returns int
	escaped         []int

	rows    int
	regular bool // every record has as many fields as there are columns
	ragged  raggedness
	cells   columnar.Cells
}

// scan finds the records of data, which begins and ends where a record does. It
// reports whether they are well formed; where not, data must be read again,
// by [tolerantReader].
func (b *recordBlock) scan(data []byte) bool {
	quotes := 0
	if b.dialect.Quote != 0 {
		quotes = bytes.Count(data, []byte{b.dialect.Quote})
	}
	if len(data) > 2*input.ChunkSize && bytes.Count(data, []byte{b.dialect.Delimiter}) > maxRunCells {
		return false // the other scanner takes less memory for records of many fields
	}
	b.data, b.quotes, b.returns, b.escaped, b.ragged = data, 0, 0, b.escaped[:0], raggedness{}
	b.ends = b.dialect.fieldEnds(data, quotes > 0, b.ends[:0])
	if len(data) > 0 && (len(b.ends) == 0 || int(b.ends[len(b.ends)-1]) != len(data)-1) {
		return false // the last record does not end: a quote is open
	}
	var fine bool
	if b.regular, fine = b.rectangle(quotes > 0); !b.regular {
		b.quotes, b.returns, b.escaped = 0, 0, b.escaped[:0]
		fine = b.countRows(quotes > 0)
	}
	return fine && b.quotes == quotes && b.onlyLineReturns()
}

// rectangle makes the cells of a block whose records all have as many fields
// as there are columns, and of which none can be a header that stands again.
func (b *recordBlock) rectangle(quoted bool) (regular, fine bool) {
	if len(b.ends)%b.columns != 0 {
		return false, false
	}
	if cap(b.cells.Cell) < len(b.ends) {
		b.cells.Cell = make([]columnar.Cell, len(b.ends)+len(b.ends)/4)
	}
	cells := b.cells.Cell[:len(b.ends)]
	newline, quote, data := b.dialect.Newline, b.dialect.Quote, b.data
	start := uint32(0)
	last := b.columns - 1
	for row := 0; row < len(cells); row += b.columns {
		if b.mayBeHeader(start) {
			return false, false
		}
		ends := b.ends[row : row+b.columns]
		out := cells[row : row+b.columns]
		for column, end := range ends[:last] {
			if data[end] == newline {
				return false, false
			}
			if quoted && data[start] == quote {
				cell, ok := b.quotedCell(row+column, int(start), int(end))
				if !ok {
					return true, false
				}
				out[column] = cell
			} else {
				out[column] = columnar.NewCell(columnar.CellPlain, int(start), int(end))
			}
			start = end + 1
		}
		end := ends[last]
		if data[end] != newline {
			return false, false
		}
		stop := b.trimReturn(int(start), int(end))
		out[last] = columnar.NewCell(columnar.CellPlain, int(start), stop)
		if quoted && data[start] == quote {
			cell, ok := b.quotedCell(row+last, int(start), stop)
			if !ok {
				return true, false
			}
			out[last] = cell
		}
		start = end + 1
	}
	b.rows = len(cells) / b.columns
	b.cells.Columns, b.cells.Cell = b.columns, cells
	return true, true
}

// trimReturn is the end of a field without the carriage return of its line end.
func (b *recordBlock) trimReturn(start, end int) int {
	if end > start && b.data[end-1] == '\r' && b.data[end] == '\n' {
		b.returns++
		return end - 1
	}
	return end
}

// quotedCell is the cell of a field that begins with a quote. It reports false
// where the quotes are not well formed.
func (b *recordBlock) quotedCell(index, start, end int) (columnar.Cell, bool) {
	quote := b.dialect.Quote
	if end-start < 2 || b.data[end-1] != quote {
		return 0, false
	}
	start, end = start+1, end-1
	b.quotes += 2
	if first := bytes.IndexByte(b.data[start:end], quote); first >= 0 {
		for i := start + first; i < end; i++ {
			if b.data[i] != quote {
				continue
			}
			if i+1 == end || b.data[i+1] != quote {
				return 0, false
			}
			b.quotes += 2
			i++
		}
		b.escaped = append(b.escaped, index)
	}
	return columnar.NewCell(columnar.CellQuoted, start, end), true
}

// unescape undoes the doubled quotes of a quoted cell, where it stands.
func unescape(data []byte, cell columnar.Cell, quote byte) columnar.Cell {
	start, end := cell.Range()
	to := int(start)
	for from := to; from < int(end); from++ {
		data[to] = data[from]
		to++
		if data[from] == quote {
			from++
		}
	}
	return columnar.NewCell(cell.Kind(), int(start), to)
}

// onlyLineReturns reports whether every carriage return outside of quotes
// belongs to the end of a line.
func (b *recordBlock) onlyLineReturns() bool {
	if b.dialect.Newline == '\r' {
		return true
	}
	found := bytes.Count(b.data, []byte{'\r'})
	if found == b.returns {
		return true
	}
	start := uint32(0)
	for _, end := range b.ends {
		if field := b.data[start:end]; len(field) > 0 && field[0] != b.dialect.Quote {
			if at := bytes.IndexByte(field, '\r'); at >= 0 && (at < len(field)-1 || b.data[end] != '\n') {
				return false
			}
		}
		start = end + 1
	}
	return true
}

// emit gives the records to fn as runs of bounded size. The first is the number
// of the first record in the data; the width is how many columns a consumer will
// make of them.
func (b *recordBlock) emit(first int64, width int, fn func(*columnar.Cells) error) error {
	if !b.regular {
		return b.emitRagged(first, width, fn)
	}
	for _, index := range b.escaped {
		b.cells.Cell[index] = unescape(b.data, b.cells.Cell[index], b.dialect.Quote)
	}
	step := max(1, maxRunCells/max(width, b.columns))
	for row := 0; row < b.rows; row += step {
		rows := min(step, b.rows-row)
		run := columnar.Cells{
			First: first + int64(row), Rows: rows, Columns: b.columns,
			Data: b.data, Cell: b.cells.Cell[row*b.columns : (row+rows)*b.columns],
		}
		if err := fn(&run); err != nil {
			return err
		}
	}
	return nil
}
