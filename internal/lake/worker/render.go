package worker

import (
	"math"
	"math/bits"
	"strconv"
	"time"
)

// appendValue appends a value that is not null as text: what JSON has as a
// number or a literal, and what stands between quotes there otherwise.
func (c *column) appendValue(dst []byte, i int) []byte {
	switch c.kind {
	case kindBoolean:
		return strconv.AppendBool(dst, at[bool](&c.cells, i))
	case kindInt8:
		return strconv.AppendInt(dst, int64(at[int8](&c.cells, i)), 10)
	case kindInt16:
		return appendDecimal(dst, int64(at[int16](&c.cells, i)), c.scale)
	case kindInt32:
		return appendDecimal(dst, int64(at[int32](&c.cells, i)), c.scale)
	case kindInt64:
		return appendDecimal(dst, at[int64](&c.cells, i), c.scale)
	case kindUint64:
		return strconv.AppendUint(dst, at[uint64](&c.cells, i), 10)
	case kindInt128:
		return appendWide(dst, at[int128](&c.cells, i), c.scale)
	case kindFloat:
		return appendFloat(dst, c.float(i), 32)
	case kindDouble:
		return appendFloat(dst, c.float(i), 64)
	case kindDate:
		return appendDate(dst, int64(at[int32](&c.cells, i)))
	case kindTimestamp:
		return appendTimestamp(dst, at[int64](&c.cells, i))
	default:
		return append(dst, c.text(i)...)
	}
}

// appendDecimal appends n with its last scale digits after the point.
func appendDecimal(dst []byte, n int64, scale int) []byte {
	if scale == 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	u := uint64(n)
	if n < 0 {
		dst = append(dst, '-')
		u = -u
	}
	begin := len(dst)
	return placePoint(strconv.AppendUint(dst, u, 10), begin, scale)
}

func appendWide(dst []byte, n int128, scale int) []byte {
	hi, lo := uint64(n.hi), n.lo
	if n.hi < 0 {
		dst = append(dst, '-')
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	begin := len(dst)
	// The high word is less than this divisor, so two steps take all digits.
	const part = 1e19
	high, low := bits.Div64(hi, lo, part)
	if high > 0 {
		dst = strconv.AppendUint(dst, high, 10)
		dst = appendPadded(dst, low, 19)
	} else {
		dst = strconv.AppendUint(dst, low, 10)
	}
	return placePoint(dst, begin, scale)
}

// appendPadded appends n with zeros before it.
func appendPadded(dst []byte, n uint64, width int) []byte {
	begin := len(dst)
	for range width {
		dst = append(dst, '0')
	}
	for at := begin + width - 1; n > 0; at-- {
		dst[at] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// placePoint puts the point before the last scale of the digits from begin on.
func placePoint(dst []byte, begin, scale int) []byte {
	if scale == 0 {
		return dst
	}
	if missing := scale + 1 - (len(dst) - begin); missing > 0 {
		for range missing {
			dst = append(dst, '0')
		}
		copy(dst[begin+missing:], dst[begin:])
		for i := range missing {
			dst[begin+i] = '0'
		}
	}
	dst = append(dst, 0)
	point := len(dst) - 1 - scale
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// appendFloat appends the shortest text that reads as f, as JSON writers have it.
func appendFloat(dst []byte, f float64, size int) []byte {
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		dst = strconv.AppendFloat(dst, f, 'e', -1, size)
		// e-09 becomes e-9.
		if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
		return dst
	}
	return strconv.AppendFloat(dst, f, 'f', -1, size)
}

// finite reports whether a value that is a float is one that JSON can hold.
func (c *column) finite(i int) bool {
	if c.kind != kindDouble && c.kind != kindFloat {
		return true
	}
	f := c.float(i)
	return !math.IsInf(f, 0) && !math.IsNaN(f)
}

// appendDate appends a day, counted from 1970-01-01, as YYYY-MM-DD.
func appendDate(dst []byte, day int64) []byte {
	year, month, of := civil(day)
	if year < 0 || year > 9999 {
		if year < 0 {
			dst = append(dst, '-')
			year = -year
		} else {
			dst = append(dst, '+')
		}
		dst = appendPadded(dst, uint64(year), max(4, len(strconv.FormatInt(year, 10))))
	} else {
		dst = appendPadded(dst, uint64(year), 4)
	}
	return append(dst, '-', byte('0'+month/10), byte('0'+month%10), '-', byte('0'+of/10), byte('0'+of%10))
}

// civil is the date of a day in the calendar that goes on in both directions.
func civil(day int64) (year int64, month, of int) {
	// Eras of 400 years begin on the first of March, so that leap days end years.
	day += 719468
	era := day / 146097
	if day < 0 {
		era = (day - 146096) / 146097
	}
	doe := day - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	year = yoe + era*400
	of = int(doy-(153*mp+2)/5) + 1
	month = int(mp) + 3
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, of
}

// appendTimestamp appends microseconds since 1970 as RFC 3339 in UTC, with
// three or six digits of the second only where there are some.
func appendTimestamp(dst []byte, us int64) []byte {
	const day = int64(24 * time.Hour / time.Microsecond)
	days, rest := us/day, us%day
	if rest < 0 {
		days, rest = days-1, rest+day
	}
	dst = appendDate(dst, days)
	second, fraction := int(rest/1e6), int(rest%1e6)
	h, m, s := second/3600, second/60%60, second%60
	dst = append(dst, 'T', byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10), ':', byte('0'+s/10), byte('0'+s%10))
	switch {
	case fraction == 0:
	case fraction%1000 == 0:
		dst = appendPadded(append(dst, '.'), uint64(fraction/1000), 3)
	default:
		dst = appendPadded(append(dst, '.'), uint64(fraction), 6)
	}
	return append(dst, 'Z')
}
