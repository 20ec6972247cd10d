package worker

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// sheetColumn is a column of a sheet.
type sheetColumn struct {
	*column
	name    string
	letters string
	// head is how each of its cells begins, up to the number of the row.
	head  string
	style int
	// percent says that its numbers are percentages, of which a spreadsheet has the hundredth.
	percent bool
	// width is how many characters its longest cell has, of those that were measured.
	width   int
	scratch []byte
}

func newSheetColumn(place int, name string, c *column, styles numberStyles, unit string) sheetColumn {
	letters := columnLetters(place)
	s := sheetColumn{column: c, name: name, letters: letters, head: `<c r="` + letters, width: lineWidth([]byte(name)) + 1}
	switch {
	case unit != "" && c.isExact():
		s.style, s.percent = styles.unit(unit, c.scale), unit == wire.Percent
	case c.kind == kindText:
		s.style = styleText
	case c.kind == kindDate:
		s.style = styleDate
	case c.kind == kindTimestamp:
		s.style = styleSecond
	case c.kind == kindBoolean, c.kind == kindFloat, c.kind == kindDouble, c.scale > maxShownScale:
		s.style = stylePlain
	case c.scale > 0:
		s.style = styles.decimal(c.scale)
	default:
		s.style = styleInteger
	}
	return s
}

// columnLetters are the letters of a column, of which the first has place 0.
func columnLetters(place int) string {
	var letters []byte
	for n := place + 1; n > 0; n = (n - 1) / 26 {
		letters = append(letters, byte('A'+(n-1)%26))
	}
	slices.Reverse(letters)
	return string(letters)
}

// shownWidth is how wide the column is made.
func (c *sheetColumn) shownWidth() int { return min(max(c.width+2, 9), 60) }

// begin begins a cell in a row.
func (c *sheetColumn) begin(dst []byte, row int) []byte {
	dst = append(dst, c.head...)
	return append(strconv.AppendInt(dst, int64(row), 10), '"')
}

// appendCell appends the rest of a cell. It returns how many characters the
// cell shows and, of text, how long that is.
//
// A number that a spreadsheet would round is text instead, and so is a time
// that it has no number for.
func (c *sheetColumn) appendCell(dst []byte, i int) (cell []byte, width, length int) {
	if c.kind == kindText {
		text := c.text(i)
		style := c.style
		if len(text) > maxTextStyle {
			style = stylePlain
		}
		length = cellUnits(text)
		if length > maxCellUnits {
			text = cutText(text)
		}
		return appendTextCell(dst, style, text), lineWidth(text), length
	}
	if c.kind == kindBoolean {
		value := byte('0')
		if at[bool](&c.cells, i) {
			value = '1'
		}
		return append(append(append(dst, ` t="b"><v>`...), value), "</v></c>"...), len("FALSE"), 0
	}
	c.scratch = c.appendValue(c.scratch[:0], i)
	width = len(c.scratch)
	style := c.style
	switch c.kind {
	case kindDate:
		day := int64(at[int32](&c.cells, i))
		if day < firstDay || day > lastDay {
			return appendTextCell(dst, styleText, c.scratch), width, 0
		}
		c.scratch = strconv.AppendInt(c.scratch[:0], day+epochSerial, 10)
	case kindTimestamp:
		us := at[int64](&c.cells, i)
		serial, ok := serialTime(us)
		if !ok {
			return appendTextCell(dst, styleText, c.scratch), width, 0
		}
		if us%1e6 != 0 {
			style = styleMillisecond
		}
		c.scratch = strconv.AppendFloat(c.scratch[:0], serial, 'f', -1, 64)
	case kindFloat, kindDouble:
		if !c.finite(i) || subnormal(c.float(i)) {
			return appendTextCell(dst, styleText, c.scratch), width, 0
		}
	default:
		if !c.keepsDigits(c.scratch) {
			return appendTextCell(dst, styleText, c.scratch), width, 0
		}
	}
	if c.percent {
		c.scratch = hundredth(c.scratch, c.scale)
		width++
	}
	return appendNumberCell(dst, style, c.scratch), width, 0
}

// hundredth moves the point of a number with so many digits behind it by two.
func hundredth(number []byte, scale int) []byte {
	begin := 0
	if number[0] == '-' {
		begin = 1
	}
	if point := slices.Index(number, '.'); point >= 0 {
		number = slices.Delete(number, point, point+1)
	}
	return placePoint(number, begin, scale+2)
}

func appendNumberCell(dst []byte, style int, number []byte) []byte {
	dst = append(appendStyle(dst, style), "><v>"...)
	return append(append(dst, number...), "</v></c>"...)
}

func appendStyle(dst []byte, style int) []byte {
	if style == stylePlain {
		return dst
	}
	dst = append(dst, ` s="`...)
	return append(strconv.AppendInt(dst, int64(style), 10), '"')
}

// maxDigits is how many digits of a number spreadsheets keep.
const maxDigits = 15

// keepsDigits reports whether an integer or a decimal is the same in a
// spreadsheet. Zeros at its ends need no digits, except those of an integer: a
// column of long identifiers is text throughout.
func (c *column) keepsDigits(number []byte) bool {
	digits, zeros := 0, 0
	for _, b := range number {
		switch {
		case b == '0' && digits > 0:
			zeros++
		case b > '0' && b <= '9':
			digits += zeros + 1
			zeros = 0
		}
	}
	if c.scale == 0 {
		digits += zeros
	}
	return digits <= maxDigits
}

// subnormal reports whether a number is so near to zero that spreadsheets take it for that.
func subnormal(f float64) bool {
	const least = 0x1p-1022
	return f != 0 && math.Abs(f) < least
}

const (
	// epochSerial is the number that spreadsheets have for 1970-01-01.
	epochSerial = 25_569
	// firstDay is 1900-03-01: the days before are counted in different ways.
	// lastDay is 9999-12-31. Both are counted from 1970-01-01.
	firstDay = 61 - epochSerial
	lastDay  = 2_958_465 - epochSerial

	dayMicros = int64(24 * time.Hour / time.Microsecond)
	// microsecondDays is the serial from which on microseconds cannot be told.
	microsecondDays = 1 << 16
)

// serialTime is the number that a spreadsheet has for a time in microseconds
// since 1970, if it has one from which the time can be told again.
func serialTime(us int64) (float64, bool) {
	if us < firstDay*dayMicros || us >= (lastDay+1)*dayMicros {
		return 0, false
	}
	micros := us + epochSerial*dayMicros
	near := float64(micros)
	serial := near / float64(dayMicros)
	// From 2079 on a microsecond is less than the number can tell, but a
	// millisecond never is.
	exact := 1.0
	if us%1000 == 0 {
		exact = 1000
	} else if serial >= microsecondDays {
		return 0, false
	}
	off := math.FMA(serial, float64(dayMicros), -near) + float64(int64(near)-micros)
	return serial, math.Abs(off) < exact/2
}
