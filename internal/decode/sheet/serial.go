package sheet

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
)

// appendNumber appends the shortest decimal that is the number, as JSON writes it.
func appendNumber(to []byte, n float64) []byte {
	if abs := math.Abs(n); abs != 0 && (abs < 1e-7 || abs >= 1e21) {
		return strconv.AppendFloat(to, n, 'e', -1, 64)
	}
	return strconv.AppendFloat(to, n, 'f', -1, 64)
}

// isShortest reports whether a text is a number as [appendNumber] writes it, which is known of many without
// reading them: floats tell all decimals of 15 digits apart, so that there is no shorter one for the same float.
func isShortest(text []byte) bool {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	point := bytes.IndexByte(digits, '.')
	count := len(digits)
	for i, c := range digits {
		if (c < '0' || c > '9') && i != point {
			return false
		}
	}
	if point >= 0 {
		count--
	}
	switch {
	case count == 0 || count > 15:
		return false
	case point < 0:
		return digits[0] != '0' || count == 1 && !negative
	case point == 0 || point == count || digits[count] == '0':
		return false
	case digits[0] == '0': // what is less than 1e-7 has an exponent
		return point == 1 && len(bytes.Trim(digits[2:min(count+1, 9)], "0")) > 0
	}
	return true
}

// appendPercent appends a share as percentage points with a sign: 0.125 is 12.5%. Three digits
// after the point could be taken for a group of thousands, so they become four.
func appendPercent(to []byte, n float64) []byte {
	if n == 0 {
		return append(to, "0%"...)
	}
	var room [32]byte
	digits := strconv.AppendFloat(room[:0], math.Abs(n), 'e', -1, 64)
	exponent := 0
	for i, c := range digits {
		if c == 'e' {
			exponent, _ = strconv.Atoi(string(digits[i+1:])) // it is one
			digits = digits[:i]
			break
		}
	}
	if len(digits) > 1 { // take the point out
		digits = append(digits[:1], digits[2:]...)
	}
	if n < 0 {
		to = append(to, '-')
	}
	whole := exponent + 2 + 1 // how many digits stand before the point
	if whole > 21 || whole < -20 {
		return append(strconv.AppendFloat(to, math.Abs(n)*100, 'e', -1, 64), '%')
	}
	return appendPoints(to, digits, whole)
}

// appendShortPercent is [appendPercent] for a number that [isShortest] knows.
func appendShortPercent(to, text []byte) []byte {
	if text[0] == '-' {
		to, text = append(to, '-'), text[1:]
	}
	var room [16]byte
	digits, whole := room[:0], len(text)
	for i, c := range text {
		if c == '.' {
			whole = i
		} else if len(digits) > 0 || c != '0' {
			digits = append(digits, c)
		}
	}
	if len(digits) == 0 {
		return append(to, "0%"...)
	}
	if whole < len(text) { // zeros before the first digit, on either side of the point
		whole -= len(text) - 1 - len(digits)
	}
	return appendPoints(to, digits, whole+2)
}

// appendPoints appends percentage points: the digits, so many of which stand before the point.
func appendPoints(to, digits []byte, whole int) []byte {
	if whole <= 0 {
		to = append(to, '0')
	}
	for i := 0; i < whole; i++ {
		if i < len(digits) {
			to = append(to, digits[i])
		} else {
			to = append(to, '0')
		}
	}
	if behind := len(digits) - whole; behind > 0 {
		to = append(to, '.')
		for i := whole; i < len(digits); i++ {
			if i < 0 {
				to = append(to, '0')
			} else {
				to = append(to, digits[i])
			}
		}
		if behind == 3 {
			to = append(to, '0')
		}
	}
	return append(to, '%')
}

const msPerDay = 24 * 3600 * 1000

// appendSerial appends a day and a time that is a number of days, in the calendar that
// begins in 1900, with its 29th of February, or in 1904. What is less than a day is a time of day.
func appendSerial(to []byte, n float64, kind numberKind, from1904 bool) ([]byte, columnar.CellKind) {
	ms := int64(math.Round(n * msPerDay))
	day, rest := ms/msPerDay, ms%msPerDay
	last := int64(2958465) // the last day of 9999
	switch {
	case n < 0 || day > last:
		return appendNumber(to, n), columnar.CellNumber
	case day == 0 && (kind == kindTime || rest != 0) && !from1904:
		return time.UnixMilli(rest).UTC().AppendFormat(to, clock(rest)), columnar.CellString
	case day == 60 && !from1904:
		// A day that there was not is a text.
		return time.UnixMilli(rest).UTC().AppendFormat(append(to, "1900-02-29T"...), clock(rest)), columnar.CellString
	}
	first := int64(-25569) // 30 December 1899, in days before 1970
	switch {
	case from1904:
		first = -24107
	case day < 60:
		first++
	}
	to = appendDay(to, first+day)
	if kind == kindDate && rest == 0 {
		return to, columnar.CellDate
	}
	return time.UnixMilli(rest).UTC().AppendFormat(append(to, 'T'), clock(rest)), columnar.CellDate
}

// appendDay appends a day that is counted from 1970.
func appendDay(to []byte, day int64) []byte {
	year, month, of := time.Unix(day*24*3600, 0).UTC().Date()
	if year < 1000 || year > 9999 {
		return time.Unix(day*24*3600, 0).UTC().AppendFormat(to, time.DateOnly)
	}
	to = strconv.AppendInt(to, int64(year), 10)
	return append(to, '-', byte('0'+month/10), byte('0'+month%10), '-', byte('0'+of/10), byte('0'+of%10))
}

// clock is how a time of day is written, with parts of a second where it has them.
func clock(ms int64) string {
	if ms%1000 == 0 {
		return "15:04:05"
	}
	return "15:04:05.000"
}

// maxDays is how many days a duration can have, which are more than a calendar has.
const maxDays = 1e9

// appendDuration appends a number of days as hours, minutes and seconds.
func appendDuration(to []byte, n float64) []byte {
	ms := int64(math.Round(math.Abs(n) * msPerDay))
	if n < 0 && ms > 0 {
		to = append(to, '-')
	}
	to = strconv.AppendInt(to, ms/3_600_000, 10)
	return time.UnixMilli(ms%3_600_000).UTC().AppendFormat(to, ":"+clock(ms)[3:])
}
