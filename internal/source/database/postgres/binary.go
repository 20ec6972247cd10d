package postgres

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// reader adds a value of the binary format that is not null.
type reader func(*database.Builder, []byte) error

// newReader finds the reader of values that the server says are of a type, for a
// column of ours.
func newReader(c *feedmill.Column, oid uint32) (reader, bool) {
	switch c.Type {
	case columnar.TypeText:
		if oid == pgtype.TextOID || oid == pgtype.VarcharOID {
			return readText, true
		}
	case columnar.TypeJSON:
		if oid == pgtype.TextOID {
			return readJSON, true
		}
	case columnar.TypeBoolean:
		if oid == pgtype.BoolOID {
			return readBoolean, true
		}
	case columnar.TypeDate:
		if oid == pgtype.DateOID {
			return readDate, true
		}
	case columnar.TypeTimestamp:
		if oid == pgtype.TimestampOID || oid == pgtype.TimestamptzOID {
			return readTimestamp, true
		}
	case columnar.TypeInteger, columnar.TypeDecimal:
		switch oid {
		case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
			return readInteger, true
		case pgtype.OIDOID:
			return readOID, true
		case pgtype.NumericOID:
			if query.IsOpen(c) {
				return readOpenNumeric, true
			}
			return readNumeric, c.Type == columnar.TypeDecimal
		}
	case columnar.TypeNumber:
		switch oid {
		case pgtype.Float4OID, pgtype.Float8OID:
			return readFloat, true
		}
	}
	return nil, false
}

func readText(b *database.Builder, value []byte) error {
	b.Text(value)
	return nil
}

func readJSON(b *database.Builder, value []byte) error {
	b.JSON(value)
	return nil
}

func readBoolean(b *database.Builder, value []byte) error {
	if len(value) != 1 {
		return errLength(value)
	}
	b.Bool(value[0] != 0)
	return nil
}

func readInteger(b *database.Builder, value []byte) error {
	switch len(value) {
	case 2:
		b.Int(int64(int16(binary.BigEndian.Uint16(value))))
	case 4:
		b.Int(int64(int32(binary.BigEndian.Uint32(value))))
	case 8:
		b.Int(int64(binary.BigEndian.Uint64(value)))
	default:
		return errLength(value)
	}
	return nil
}

// readOID takes four bytes without a sign.
func readOID(b *database.Builder, value []byte) error {
	if len(value) != 4 {
		return errLength(value)
	}
	b.Int(int64(binary.BigEndian.Uint32(value)))
	return nil
}

func readFloat(b *database.Builder, value []byte) error {
	switch len(value) {
	case 4:
		b.Float(query.Single(math.Float32frombits(binary.BigEndian.Uint32(value))))
	case 8:
		b.Float(math.Float64frombits(binary.BigEndian.Uint64(value)))
	default:
		return errLength(value)
	}
	return nil
}

// Times count from 2000-01-01; the least and the greatest are infinite.
const (
	epochDays   = 10_957
	epochMicros = epochDays * 24 * 3600 * 1_000_000
)

func readDate(b *database.Builder, value []byte) error {
	if len(value) != 4 {
		return errLength(value)
	}
	b.Date(int64(int32(binary.BigEndian.Uint32(value))) + epochDays)
	return nil
}

func readTimestamp(b *database.Builder, value []byte) error {
	if len(value) != 8 {
		return errLength(value)
	}
	n := int64(binary.BigEndian.Uint64(value))
	if n > math.MaxInt64-epochMicros {
		b.OutOfRange()
		return nil
	}
	b.Timestamp(n + epochMicros)
	return nil
}

func errLength(value []byte) error { return fmt.Errorf("a value of %d bytes", len(value)) }

// numeric is a decimal as the server sends it: digits of base 10,000, the first of
// which stands for 10,000 to the power of weight.
type numeric struct {
	negative, finite bool
	weight           int
	digits           []byte // two bytes each
}

func parseNumeric(value []byte) (n numeric, err error) {
	if len(value) < 8 || len(value) != 8+2*int(binary.BigEndian.Uint16(value)) {
		return n, errLength(value)
	}
	sign := binary.BigEndian.Uint16(value[4:])
	return numeric{
		negative: sign == 0x4000, finite: sign == 0 || sign == 0x4000,
		weight: int(int16(binary.BigEndian.Uint16(value[2:]))), digits: value[8:],
	}, nil
}

// exponent is the power of ten that the digits, taken for a whole number, are
// multiplied with.
func (n *numeric) exponent() int { return 4 * (n.weight - len(n.digits)/2 + 1) }

var tens = func() (all [19]uint64) {
	all[0] = 1
	for i := 1; i < len(all); i++ {
		all[i] = 10 * all[i-1]
	}
	return all
}()

func readNumeric(b *database.Builder, value []byte) error {
	n, err := parseNumeric(value)
	switch {
	case err != nil:
		return err
	case !n.finite:
		b.NoNumber()
		return nil
	}
	precision, scale := b.Digits()
	shift := n.exponent() + scale
	if len(n.digits) > 8 || precision > columnar.NarrowDigits || shift < -18 || shift > 18 {
		return n.readWide(b, shift)
	}
	var whole uint64
	for i := 0; i < len(n.digits); i += 2 {
		whole = whole*10_000 + uint64(binary.BigEndian.Uint16(n.digits[i:]))
	}
	if shift < 0 {
		shifted := whole / tens[-shift]
		if shifted*tens[-shift] != whole {
			return n.readWide(b, shift)
		}
		whole = shifted
	} else {
		if whole != 0 && whole > tens[18]/tens[shift] {
			return n.readWide(b, shift)
		}
		whole *= tens[shift]
	}
	if n.negative {
		b.Int(-int64(whole))
	} else {
		b.Int(int64(whole))
	}
	return nil
}

// readWide is for the numbers that are long.
func (n *numeric) readWide(b *database.Builder, shift int) error {
	precision, scale := b.Digits()
	whole, ten := new(big.Int), big.NewInt(10)
	for i := 0; i < len(n.digits); i += 2 {
		whole.Mul(whole, big.NewInt(10_000))
		whole.Add(whole, big.NewInt(int64(binary.BigEndian.Uint16(n.digits[i:]))))
	}
	power := new(big.Int).Exp(ten, big.NewInt(int64(max(shift, -shift))), nil)
	if shift < 0 {
		rest := new(big.Int)
		if whole.QuoRem(whole, power, rest); rest.Sign() != 0 {
			return database.Fail(database.ProblemField, fmt.Sprintf("A value of %q has more than %d decimal places, the scale when the view was described. Retry.", b.Name(), scale), nil)
		}
	} else {
		whole.Mul(whole, power)
	}
	if n.negative {
		whole.Neg(whole)
	}
	if whole.CmpAbs(new(big.Int).Exp(ten, big.NewInt(int64(precision)), nil)) >= 0 {
		return database.TooManyDigits(b.Name())
	}
	wide, _ := database.Int128(whole)
	b.Wide(wide)
	return nil
}

// readOpenNumeric takes all digits.
func readOpenNumeric(b *database.Builder, value []byte) error {
	n, err := parseNumeric(value)
	switch {
	case err != nil:
		return err
	case !n.finite:
		b.NoNumber()
		return nil
	}
	text := make([]byte, 0, 2*len(n.digits)+16)
	if n.negative {
		text = append(text, '-')
	}
	for group := 0; group <= n.weight || 2*group < len(n.digits); group++ {
		if group == max(n.weight+1, 0) {
			text = append(text, '.')
			for range -n.weight - 1 {
				text = append(text, "0000"...)
			}
		}
		digit := uint16(0)
		if 2*group < len(n.digits) {
			digit = binary.BigEndian.Uint16(n.digits[2*group:])
		}
		text = append(text, byte('0'+digit/1000), byte('0'+digit/100%10), byte('0'+digit/10%10), byte('0'+digit%10))
	}
	b.OpenDecimal(text)
	return nil
}
