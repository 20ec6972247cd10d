package sheet

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// xlsBook is a workbook of Excel 97 to 2003: records of BIFF8 in the stream Workbook of a compound file.
type xlsBook struct {
	data     input.Source
	list     []feedmill.Sheet
	starts   []int64 // where the sheets begin
	position []int   // of each sheet of the workbook among the worksheets, or -1
	ranges
	from1904 bool
	formats  []numberFormat
	strings  *stringTable
	// unreadable counts the numbers of the sheet that was read whose format cannot be read.
	unreadable int64
}

func openXLS(ctx context.Context, data input.Source) (*xlsBook, error) {
	records, err := workbookStream(data)
	if err != nil {
		return nil, err
	}
	b := &xlsBook{data: records, ranges: make(ranges)}
	if err := b.readGlobals(ctx, data.Size()); err != nil {
		return nil, err
	}
	if len(b.list) == 0 {
		return nil, input.Refuse("invalid-workbook", "the workbook has no worksheet")
	}
	return b, checkSheets(b.list)
}

var errOlder = input.Refuse("older-workbook", "the workbook is from Excel 95 or older, which is not supported; save it as xlsx, or as xls for Excel 97 to 2003")

// workbookStream finds the records of a workbook. Some programs write them without a compound file around
// them, as the first versions did.
func workbookStream(data input.Source) (input.Source, error) {
	head := make([]byte, min(data.Size(), 8))
	if err := input.ReadFull(data, head, 0); err != nil {
		return nil, err
	}
	switch {
	case len(head) == 0:
		return nil, input.ErrNoData
	case isOlderBOF(head):
		return nil, errOlder
	case isBOF(head):
		return data, nil
	case string(head) != compoundMark:
		return nil, input.Refuse("invalid-workbook", "the data is not an Excel 97 to 2003 workbook; it is not a compound file")
	}
	file, err := openCompound(data)
	if err != nil {
		return nil, err
	}
	if e, ok := file.find("Workbook"); ok {
		return file.open(e)
	}
	if _, ok := file.find("EncryptedPackage"); ok {
		return nil, errEncrypted
	}
	e, ok := file.find("Book")
	if !ok {
		return nil, input.Refuse("invalid-workbook", "the data is a compound file but not a workbook; it has no stream Workbook")
	}
	return file.open(e) // whose version is told from its records
}

// isBOF reports whether data begins with the first record of a workbook, and isOlderBOF with that of one of
// the years before 1993.
func isBOF(head []byte) bool { return len(head) > 3 && string(head[:2]) == "\x09\x08" && head[3] == 0 }

func isOlderBOF(head []byte) bool {
	return len(head) > 3 && head[0] == 9 && (head[1] == 0 || head[1] == 2 || head[1] == 4) && head[2] >= 4 && head[2] <= 16 && head[3] == 0
}

// The kinds of streams and of sheets.
const (
	biff8        = 0x0600
	worksheet    = 0
	builtinName  = 0x0020
	supBookSelf  = 0x0401
	maxXFs       = 1 << 16
	maxNames     = 1 << 16
	maxLocations = 1 << 16
)

// readGlobals reads what stands before the sheets.
func (b *xlsBook) readGlobals(ctx context.Context, size int64) error {
	r := newBiffReader(b.data, 0)
	if !r.next() || r.id != recordBOF || len(r.data) < 4 {
		if r.err != nil {
			return r.err
		}
		return r.wrong("a workbook must start with another record")
	}
	if binary.LittleEndian.Uint16(r.data) != biff8 {
		return errOlder
	}
	g := globals{book: b, formats: make(map[int]numberFormat)}
	for r.next() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.id == recordEOF {
			g.finish()
			return nil
		}
		if err := g.record(r, size); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	return r.wrong("the workbook is truncated after this record")
}

// globals is what is known while the records before the sheets are read.
type globals struct {
	book    *xlsBook
	formats map[int]numberFormat
	xfs     []int // the numbers of their formats
	self    []bool
	// locations are the sheets that formulas name.
	locations [][3]uint16
	names     []xlsName
}

// xlsName is a range that has a name.
type xlsName struct {
	name    string
	formula []byte
}

func (g *globals) record(r *biffReader, size int64) (err error) {
	b, le := g.book, binary.LittleEndian
	switch r.id {
	case recordFilePass:
		return errEncrypted
	case recordDateMode:
		b.from1904 = len(r.data) > 0 && r.data[0] == 1
	case recordBoundSheet:
		return g.boundSheet(r)
	case recordFormat:
		g.format(r)
	case recordXF:
		if len(r.data) >= 4 && len(g.xfs) < maxXFs {
			g.xfs = append(g.xfs, int(le.Uint16(r.data[2:])))
		}
	case recordSST:
		b.strings, err = r.readSST(size)
	case recordSupBook:
		g.self = append(g.self, len(r.data) >= 4 && le.Uint16(r.data[2:]) == supBookSelf)
	case recordExternSheet:
		return g.externSheet(r)
	case recordName:
		return g.name(r)
	}
	return err
}

// boundSheet reads that there is a sheet. Those of charts and macros are no worksheets.
func (g *globals) boundSheet(r *biffReader) error {
	if len(r.data) < 8 {
		return r.wrong("the record is too short")
	}
	b := g.book
	if r.data[5]&0xf != worksheet {
		b.position = append(b.position, -1)
		return nil
	}
	start := int64(binary.LittleEndian.Uint32(r.data))
	hidden := r.data[4]&3 != 0
	t, err := r.text(7)
	if err != nil {
		return err
	}
	name, err := t.characters(nil, int(r.data[6]))
	if err != nil {
		return err
	}
	b.position = append(b.position, len(b.list))
	b.list = append(b.list, feedmill.Sheet{Index: len(b.list) + 1, Name: string(name), Hidden: hidden})
	b.starts = append(b.starts, start)
	return nil
}

// format reads a number format. One that cannot be read does not stop a workbook: its
// numbers are plain numbers, and a warning counts them.
func (g *globals) format(r *biffReader) {
	if len(r.data) < 2 {
		return
	}
	format := numberFormat{unreadable: true}
	if code, ok := formatCode(r.data[2:]); ok {
		format = formatOf(string(code))
	}
	g.formats[int(binary.LittleEndian.Uint16(r.data))] = format
}

// formatCode is the text of a number format: in Unicode, or as Excel 95 wrote it, in bytes
// behind a length of one byte.
func formatCode(text []byte) (code []byte, ok bool) {
	if len(text) > 0 && len(text) == 1+int(text[0]) {
		return appendCharacters(nil, text[1:], false), true
	}
	if len(text) < 2 {
		return nil, false
	}
	length := int(binary.LittleEndian.Uint16(text))
	if length == 0 {
		return nil, true
	}
	if len(text) < 3 {
		return nil, false
	}
	flags, text := text[2], text[3:]
	wide := flags&1 != 0
	if wide {
		length *= 2
	}
	if flags&^1 != 0 || len(text) < length {
		return nil, false
	}
	return appendCharacters(nil, text[:length], wide), true
}

func (g *globals) externSheet(r *biffReader) error {
	t, err := r.text(0)
	if err != nil {
		return err
	}
	count, err := t.uint16()
	if err != nil {
		return err
	}
	for range count {
		var at [6]byte
		if err := t.bytes(at[:]); err != nil {
			return err
		}
		le := binary.LittleEndian
		if len(g.locations) < maxLocations {
			g.locations = append(g.locations, [3]uint16{le.Uint16(at[:]), le.Uint16(at[2:]), le.Uint16(at[4:])})
		}
	}
	return nil
}

// name reads a name, and keeps the formula for when the sheets are known.
func (g *globals) name(r *biffReader) error {
	le := binary.LittleEndian
	if len(r.data) < 15 || le.Uint16(r.data)&builtinName != 0 || len(g.names) >= maxNames {
		return nil
	}
	length, formula := int(r.data[3]), int(le.Uint16(r.data[4:]))
	t, err := r.text(14)
	if err != nil {
		return err
	}
	name, err := t.characters(nil, length)
	if err != nil || formula > 16 || len(t.rest) < formula {
		return err
	}
	g.names = append(g.names, xlsName{string(name), append([]byte(nil), t.rest[:formula]...)})
	return nil
}

// finish puts together what was read.
func (g *globals) finish() {
	b := g.book
	for _, id := range g.xfs {
		format, known := g.formats[id]
		if !known {
			format = builtinFormat(id)
		}
		b.formats = append(b.formats, format)
	}
	for _, n := range g.names {
		if within, ok := g.areaOf(n.formula); ok {
			b.add(n.name, within)
		}
	}
}

// areaOf is the range of a formula that is nothing but a range or a cell of a sheet.
func (g *globals) areaOf(formula []byte) (a area, ok bool) {
	le := binary.LittleEndian
	switch {
	case len(formula) == 11 && formula[0]&0x1f == 0x1b: // an area
		a.firstRow, a.lastRow = int(le.Uint16(formula[3:])), int(le.Uint16(formula[5:]))
		a.firstColumn, a.lastColumn = int(le.Uint16(formula[7:])&0xff), int(le.Uint16(formula[9:])&0xff)
	case len(formula) == 7 && formula[0]&0x1f == 0x1a: // a cell
		a.firstRow, a.firstColumn = int(le.Uint16(formula[3:])), int(le.Uint16(formula[5:])&0xff)
		a.lastRow, a.lastColumn = a.firstRow, a.firstColumn
	default:
		return a, false
	}
	at := int(le.Uint16(formula[1:]))
	if at >= len(g.locations) || a.lastRow < a.firstRow || a.lastColumn < a.firstColumn {
		return a, false
	}
	book, first, last := int(g.locations[at][0]), int(g.locations[at][1]), int(g.locations[at][2])
	if book >= len(g.self) || !g.self[book] || first != last || first >= len(g.book.position) || g.book.position[first] < 0 {
		return a, false
	}
	a.sheet = g.book.position[first]
	return a, true
}

func (b *xlsBook) sheets() []feedmill.Sheet { return b.list }

// formatOf is the number format of a cell format.
func (b *xlsBook) formatOf(xf uint16) numberFormat {
	if int(xf) >= len(b.formats) {
		return numberFormat{}
	}
	return b.formats[xf]
}

func floatAt(p []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(p)) }
