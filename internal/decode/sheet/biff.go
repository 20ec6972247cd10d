package sheet

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// The records of BIFF8 that are read.
const (
	recordFormula = 0x0006
	// Some programs write formulas with the numbers that Excel 3 and 4 had for them. What
	// is read of them is the same.
	recordFormula3    = 0x0206
	recordFormula4    = 0x0406
	recordEOF         = 0x000a
	recordExternSheet = 0x0017
	recordName        = 0x0018
	recordDateMode    = 0x0022
	recordFilePass    = 0x002f
	recordContinue    = 0x003c
	recordBoundSheet  = 0x0085
	recordMulRK       = 0x00bd
	recordRString     = 0x00d6
	recordXF          = 0x00e0
	recordMerged      = 0x00e5
	recordRow         = 0x0208
	recordSST         = 0x00fc
	recordLabelSST    = 0x00fd
	recordSupBook     = 0x01ae
	recordNumber      = 0x0203
	recordLabel       = 0x0204
	recordBoolErr     = 0x0205
	recordString      = 0x0207
	recordRK          = 0x027e
	recordFormat      = 0x041e
	recordBOF         = 0x0809
)

// biffReader reads the records of a stream, one after the other.
type biffReader struct {
	in *bufio.Reader
	// at is where the record begins that was read, and end where the next one does.
	at, end int64
	id      uint16
	data    []byte
	err     error
}

func newBiffReader(data input.Source, from int64) *biffReader {
	return &biffReader{in: bufio.NewReaderSize(io.NewSectionReader(data, from, max(data.Size()-from, 0)), 64<<10), end: from}
}

// next reads a record, without what continues it.
func (r *biffReader) next() bool {
	head, err := r.in.Peek(4)
	if err != nil {
		if err != io.EOF || len(head) > 0 {
			r.err = r.cut(err)
		}
		return false
	}
	r.at = r.end
	r.id = binary.LittleEndian.Uint16(head)
	if r.id == recordFormula3 || r.id == recordFormula4 {
		r.id = recordFormula
	}
	length := int(binary.LittleEndian.Uint16(head[2:]))
	_, _ = r.in.Discard(4) // they are there
	if cap(r.data) < length {
		r.data = make([]byte, 2*length)
	}
	r.data = r.data[:length]
	if _, err := io.ReadFull(r.in, r.data); err != nil {
		r.err = r.cut(err)
		return false
	}
	r.end += 4 + int64(length)
	return true
}

func (r *biffReader) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return input.Refuse("invalid-workbook", "the workbook is truncated; its stream ends within the record at byte %d", r.end)
	}
	return err
}

// wrong refuses the record that was read.
func (r *biffReader) wrong(what string) error {
	return input.Refuse("invalid-workbook", "the record 0x%04x at byte %d of the workbook's stream is not valid: %s", r.id, r.at, what)
}

// continues reports whether the next record goes on with this one.
func (r *biffReader) continues() bool {
	head, err := r.in.Peek(2)
	return err == nil && binary.LittleEndian.Uint16(head) == recordContinue
}

// appendCharacters appends text of UTF-16, or of its lower bytes alone, as UTF-8.
func appendCharacters(to, text []byte, wide bool) []byte {
	if !wide {
		for _, c := range text {
			if c < utf8.RuneSelf {
				to = append(to, c)
			} else {
				to = utf8.AppendRune(to, rune(c))
			}
		}
		return to
	}
	for i := 0; i+1 < len(text); i += 2 {
		unit := rune(text[i]) | rune(text[i+1])<<8
		if utf16.IsSurrogate(unit) && i+3 < len(text) {
			if both := utf16.DecodeRune(unit, rune(text[i+2])|rune(text[i+3])<<8); both != utf8.RuneError {
				unit, i = both, i+2
			}
		}
		to = utf8.AppendRune(to, unit)
	}
	return to
}

// rkNumber is a number in four bytes: an integer or the upper half of a float, and perhaps a hundredth of it.
func rkNumber(rk uint32) float64 {
	var n float64
	if rk&2 != 0 {
		n = float64(int32(rk) >> 2)
	} else {
		n = math.Float64frombits(uint64(rk&^3) << 32)
	}
	if rk&1 != 0 {
		n /= 100
	}
	return n
}
