package mysql

import (
	"bytes"
	"database/sql/driver"
	"math/big"
	"strconv"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// reader adds a value that is not null, and reports whether it is of the kind that
// it was said to be.
type reader func(*database.Builder, driver.Value) bool

func readText(b *database.Builder, value driver.Value) bool {
	data, ok := value.([]byte)
	if ok {
		b.Text(data)
	}
	return ok
}

func readBytes(b *database.Builder, value driver.Value) bool {
	data, ok := value.([]byte)
	if ok {
		b.Base64(data)
	}
	return ok
}

func readJSON(b *database.Builder, value driver.Value) bool {
	data, ok := value.([]byte)
	if ok {
		b.JSON(data)
	}
	return ok
}

func readInteger(b *database.Builder, value driver.Value) bool {
	switch n := value.(type) {
	case int64:
		b.Int(n)
		return true
	case uint64:
		if n <= 1<<63-1 {
			b.Int(int64(n))
			return true
		}
	}
	return false
}

// readBoolean takes a number, or the byte of a bit.
func readBoolean(b *database.Builder, value driver.Value) bool {
	switch n := value.(type) {
	case int64:
		if n != 0 && n != 1 {
			b.OtherTruth(strconv.AppendInt(nil, n, 10))
		}
		b.Bool(n != 0)
		return true
	case []byte:
		b.Bool(len(n) == 1 && n[0] != 0)
		return len(n) == 1
	}
	return false
}

func readNumber(b *database.Builder, value driver.Value) bool {
	switch n := value.(type) {
	case float32:
		b.Float(float64(n))
	case float64:
		b.Float(n)
	case []byte: // the average of decimals
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			return false
		}
		b.Float(f)
	default:
		return false
	}
	return true
}

// readReal takes a float of 4 bytes.
func readReal(b *database.Builder, value driver.Value) bool {
	switch n := value.(type) {
	case float32:
		b.Float(query.Single(n))
	case float64:
		b.Float(query.Single(float32(n)))
	default:
		return false
	}
	return true
}

// readOpenDecimal takes all digits.
func readOpenDecimal(b *database.Builder, value driver.Value) bool {
	text, ok := value.([]byte)
	if ok {
		b.OpenDecimal(text)
	}
	return ok
}

// readDecimal takes the text of a decimal, or an integer.
func readDecimal(b *database.Builder, value driver.Value) bool {
	var text []byte
	switch n := value.(type) {
	case []byte:
		text = n
	case int64:
		text = strconv.AppendInt(nil, n, 10)
	case uint64:
		text = strconv.AppendUint(nil, n, 10)
	default:
		return false
	}
	precision, scale := b.Digits()
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	if len(fraction) > scale {
		for _, digit := range fraction[scale:] {
			if digit != '0' {
				return false
			}
		}
		fraction = fraction[:scale]
	}
	if precision <= columnar.NarrowDigits && len(whole)+scale <= 19 {
		negative := len(whole) > 0 && whole[0] == '-'
		if negative {
			whole = whole[1:]
		}
		n := int64(0)
		for i := range len(whole) + scale {
			digit := byte('0')
			if i < len(whole) {
				digit = whole[i]
			} else if i-len(whole) < len(fraction) {
				digit = fraction[i-len(whole)]
			}
			if digit < '0' || digit > '9' {
				return false
			}
			n = 10*n + int64(digit-'0')
		}
		if negative {
			n = -n
		}
		b.Int(n)
		return true
	}
	digits := append(bytes.Clone(whole), fraction...)
	for range scale - len(fraction) {
		digits = append(digits, '0')
	}
	n, ok := new(big.Int).SetString(string(digits), 10)
	if !ok {
		return false
	}
	wide, ok := database.Int128(n)
	if ok {
		b.Wide(wide)
	}
	return ok
}

// readDate takes 2006-01-02.
func readDate(b *database.Builder, value driver.Value) bool {
	text, ok := value.([]byte)
	if !ok || len(text) < 10 {
		return false
	}
	if day, ok := parseDay(text[:10]); ok {
		b.Date(day)
	} else {
		b.ZeroDate(text)
	}
	return true
}

// readTimestamp takes 2006-01-02 15:04:05.999999.
func readTimestamp(b *database.Builder, value driver.Value) bool {
	text, ok := value.([]byte)
	if !ok || len(text) < 19 {
		return false
	}
	day, ok := parseDay(text[:10])
	if !ok {
		b.ZeroDate(text)
		return true
	}
	hour, minute, second := number(text[11:13]), number(text[14:16]), number(text[17:19])
	micros := int64(0)
	if len(text) > 20 {
		for i := range 6 {
			micros *= 10
			if 20+i < len(text) {
				micros += int64(text[20+i] - '0')
			}
		}
	}
	b.Timestamp(((day*24+hour)*60+minute)*60_000_000 + second*1_000_000 + micros)
	return true
}

func number(text []byte) (n int64) {
	for _, digit := range text {
		n = 10*n + int64(digit-'0')
	}
	return n
}

// parseDay counts the days since 1970 of a day that the calendar has.
func parseDay(text []byte) (int64, bool) {
	year, month, day := int(number(text[:4])), time.Month(number(text[5:7])), int(number(text[8:10]))
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if year < 1 || t.Year() != year || t.Month() != month || t.Day() != day {
		return 0, false
	}
	return t.Unix() / (24 * 3600), true
}
