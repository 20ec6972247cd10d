package sheet

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// The records of binary parts that are read.
const (
	brtRow             = 0
	brtCellRK          = 2
	brtCellError       = 3
	brtCellBool        = 4
	brtCellReal        = 5
	brtCellText        = 6
	brtCellShared      = 7
	brtFormulaText     = 8
	brtFormulaNumber   = 9
	brtFormulaBool     = 10
	brtFormulaError    = 11
	brtSharedText      = 19
	brtName            = 39
	brtFormat          = 44
	brtXF              = 47
	brtCellRich        = 62
	brtEndSheetData    = 146
	brtBeginSheetData  = 145
	brtWorkbook        = 153
	brtSheet           = 156
	brtMerged          = 176
	brtBeginTable      = 343
	brtExternalSource  = 355
	brtExternalSelf    = 357
	brtExternalSame    = 358
	brtExternSheet     = 362
	brtBeginCellXFs    = 617
	brtEndCellXFs      = 618
	brtExternalAddIn   = 667
	maxBinaryRecord    = input.MaxFieldBytes
	binaryReaderBuffer = 128 << 10
)

// binaryReader reads the records of a binary part.
type binaryReader struct {
	in   *bufio.Reader
	name string
	at   int64 // where the record begins
	next int64
	id   int
	data []byte // good until the next record
	more []byte // for records that do not fit the buffer
}

// readBinary gives all records of a part to fn, up to the error end, which fn returns to have no more.
func (a archive) readBinary(ctx context.Context, name string, limit int64, fn func(*binaryReader) error) error {
	body, err := a.open(name, limit)
	if err != nil {
		return err
	}
	defer body.Close()
	r := &binaryReader{in: bufio.NewReaderSize(input.NewContextReader(ctx, body), binaryReaderBuffer), name: name}
	for {
		if err := r.read(); err == io.EOF {
			return nil
		} else if err != nil {
			return partError(name, noEnd(err))
		}
		if err := fn(r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// read reads the next record; at the end of the part it is [io.EOF].
func (r *binaryReader) read() error {
	r.at = r.next
	if n := len(r.data); n > 0 && n <= binaryReaderBuffer {
		_, _ = r.in.Discard(n) // they are there
	}
	r.data = nil
	first, err := r.in.ReadByte()
	if err != nil {
		return err
	}
	r.next++
	r.id = int(first)
	if first&0x80 != 0 {
		second, err := r.in.ReadByte()
		if err != nil {
			return noEnd(err)
		}
		r.next++
		r.id = int(first&0x7f) | int(second&0x7f)<<7
	}
	size := 0
	for shift := 0; ; shift += 7 {
		b, err := r.in.ReadByte()
		if err != nil {
			return noEnd(err)
		}
		r.next++
		size |= int(b&0x7f) << shift
		if b&0x80 == 0 {
			break
		}
		if shift == 21 {
			return r.wrong("its length is not valid")
		}
	}
	if size > maxBinaryRecord {
		return r.wrong("the record is too long")
	}
	r.next += int64(size)
	if size <= binaryReaderBuffer {
		r.data, err = r.in.Peek(size)
		return noEnd(err)
	}
	if cap(r.more) < size {
		r.more = make([]byte, size)
	}
	r.data = r.more[:size]
	_, err = io.ReadFull(r.in, r.data)
	return noEnd(err)
}

func (r *binaryReader) wrong(what string) error {
	return input.Refuse("invalid-workbook", "the part %s of the workbook is not valid at byte %d, in record %d: %s", r.name, r.at, r.id, what)
}

// need refuses a record that has fewer bytes.
func (r *binaryReader) need(n int) error {
	if len(r.data) < n {
		return r.wrong("the record is too short")
	}
	return nil
}

func (r *binaryReader) uint16(at int) int { return int(binary.LittleEndian.Uint16(r.data[at:])) }
func (r *binaryReader) uint32(at int) int { return int(binary.LittleEndian.Uint32(r.data[at:])) }

// text appends a text that begins at a place, and returns the place behind it. One that is null is empty.
func (r *binaryReader) text(to []byte, at int) ([]byte, int, error) {
	if err := r.need(at + 4); err != nil {
		return to, 0, err
	}
	count := r.uint32(at)
	if at += 4; count == 0xffffffff {
		return to, at, nil
	}
	if count > (len(r.data)-at)/2 {
		return to, 0, r.wrong("a text is longer than the record")
	}
	return appendCharacters(to, r.data[at:at+2*count], true), at + 2*count, nil
}

// rectangle is the area at a place: the first and the last row, the first and the last column.
func (r *binaryReader) rectangle(at int) (area, bool) {
	a := area{firstRow: r.uint32(at), lastRow: r.uint32(at + 4), firstColumn: r.uint32(at + 8), lastColumn: r.uint32(at + 12)}
	return a, a.firstRow <= a.lastRow && a.lastRow <= maxRow && a.firstColumn <= a.lastColumn && a.lastColumn <= maxColumn
}
