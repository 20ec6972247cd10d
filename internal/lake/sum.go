package lake

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// rowSum stands for rows in their order: two rows that differ have different hashes
// but for one case in 2^64, and rows with different hashes different sums but for one
// in 2^122. The sum of rows that follow others can be made of both
// sums, so that it does not depend on how rows are divided into files. Nulls add
// nothing to it, and numbers add their value whatever type they have, so that it
// does not depend on columns that rows do not have yet, nor on how many digits
// are allowed.
//
// It is a polynomial in two bases, whose coefficients are the hashes of the rows. It does not
// keep anybody from making up rows with the sum of others, which would deceive
// nobody but himself.
type rowSum struct {
	rows int64
	sums [2]uint64
}

// sumPrime is 2^61-1, and sumBases are what is multiplied with for each row.
const sumPrime = 1<<61 - 1

// sumWide spreads what of a number does not fit a word.
const sumWide = 0x9e3779b97f4a7c15

var sumBases = [2]uint64{0x1a3f9d2c4b7e6085, 0x0c95e7f13d284ab7}

func addSum(a, b uint64) uint64 {
	s := a + b
	if s >= sumPrime {
		s -= sumPrime
	}
	return s
}

func mulSum(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return addSum(lo&sumPrime, hi<<3|lo>>61)
}

// then is the sum of rows and of others behind them.
func (s rowSum) then(next rowSum) rowSum {
	for i, base := range sumBases {
		power, n := uint64(1), next.rows
		for square := base; n > 0; n >>= 1 {
			if n&1 == 1 {
				power = mulSum(power, square)
			}
			square = mulSum(square, square)
		}
		s.sums[i] = addSum(mulSum(s.sums[i], power), next.sums[i])
	}
	s.rows += next.rows
	return s
}

// sumScheme stands before the sums that are made as this file does. Those of old
// releases have nothing before them and are not known to this one.
const sumScheme = "2:"

// String is the sum as a file's record has it.
func (s rowSum) String() string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:], s.sums[0])
	binary.BigEndian.PutUint64(raw[8:], s.sums[1])
	return sumScheme + hex.EncodeToString(raw[:])
}

// fileSum is the sum of the rows of a file; false where it is not known.
func fileSum(f *feedmill.VersionFile) (s rowSum, ok bool) {
	text, ok := strings.CutPrefix(f.Sum, sumScheme)
	if !ok {
		return s, false
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 16 {
		return s, false
	}
	return rowSum{f.Rows, [2]uint64{binary.BigEndian.Uint64(raw), binary.BigEndian.Uint64(raw[8:])}}, true
}

// Summed reports whether the rows of all files are added up as this release does it.
func Summed(files []feedmill.VersionFile) bool {
	for i := range files {
		if _, ok := fileSum(&files[i]); !ok {
			return false
		}
	}
	return true
}

// summer adds up rows with some columns.
type summer struct {
	rowSum
	seeds  []uint64
	hashes []uint64 // of the rows that are being added
}

func newSummer(columns []feedmill.Column) *summer {
	s := new(summer)
	for i := range columns {
		s.seeds = append(s.seeds, xxh3.HashString(columns[i].ID))
	}
	return s
}

// add adds rows behind those that there are.
func (s *summer) add(run []columnar.Vector) {
	if len(run) == 0 {
		return
	}
	n := run[0].Len
	s.hashes = slices.Grow(s.hashes[:0], n)[:n]
	clear(s.hashes)
	for i := range run {
		s.column(&run[i], s.seeds[i])
	}
	// Both at once, for neither has to wait for the other.
	first, second := s.sums[0], s.sums[1]
	for _, hash := range s.hashes {
		first = addSum(mulSum(first, sumBases[0]), hash%sumPrime)
		second = addSum(mulSum(second, sumBases[1]), hash>>3)
	}
	s.sums = [2]uint64{first, second}
	s.rows += int64(n)
}

// kinds of values, so that a text is no number.
const (
	sumExact = 1 + iota
	sumBoolean
	sumDate
	sumTimestamp
	sumNumber
	sumText
	sumJSON
)

var sumKinds = map[columnar.Type]byte{
	columnar.TypeInteger: sumExact, columnar.TypeDecimal: sumExact, columnar.TypeBoolean: sumBoolean, columnar.TypeDate: sumDate,
	columnar.TypeTimestamp: sumTimestamp, columnar.TypeNumber: sumNumber, columnar.TypeText: sumText, columnar.TypeJSON: sumJSON,
}

// column adds the values of a column to the hashes of the rows.
func (s *summer) column(v *columnar.Vector, seed uint64) {
	kind := uint64(sumKinds[v.Type])
	hashes := s.hashes[:v.Len]
	word := newWordHash(seed)
	switch {
	case v.Offsets != nil:
		word.addTexts(hashes, v, kind)
	case v.Floats != nil:
		for i, f := range v.Floats[:v.Len] {
			if !v.Null(i) {
				hashes[i] += word.of(math.Float64bits(f), kind)
			}
		}
	case kind != sumExact || v.Scale == 0 && v.Wide == nil:
		for i, n := range v.Ints[:v.Len] {
			if !v.Null(i) {
				hashes[i] += word.of(uint64(n), kind)
			}
		}
	case v.Wide == nil:
		word.addDecimals(hashes, v, kind)
	default:
		for i := range hashes {
			if !v.Null(i) {
				n, scale := withoutZeros(v.Wide[i], v.Scale)
				// A number that fits a word is the same whether it is written wide or not.
				hashes[i] += word.of(n.Lo, uint64(n.Hi^int64(n.Lo)>>63)*sumWide^uint64(scale)<<8^kind)
			}
		}
	}
}

// wordHash hashes values of a word in a column of a seed. It takes a third of the time that
// a hash of bytes does, which is much of an upload of numbers.
type wordHash struct{ a, b uint64 }

// What the seed of a column and its values are spread by.
const sumKey0, sumKey1, sumKey2 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3

func newWordHash(seed uint64) wordHash { return wordHash{seed ^ sumKey1, seed ^ sumKey2} }

// of is the hash of a value and of what else is to be known of it.
func (h wordHash) of(value, kind uint64) uint64 {
	return foldProduct(foldProduct(value^sumKey0, h.a)^kind, h.b)
}

// addDecimals adds the hashes of decimals that fit a word to those of their rows.
func (h wordHash) addDecimals(hashes []uint64, v *columnar.Vector, kind uint64) {
	usual, nulls := uint64(v.Scale)<<8^kind, v.Valid != nil
	for i, n := range v.Ints[:len(hashes)] {
		switch {
		case nulls && v.Null(i):
		case n%10 != 0: // as most
			hashes[i] += h.of(uint64(n), usual)
		default:
			hashes[i] += h.ofRound(n, v.Scale, kind)
		}
	}
}

// ofRound is the hash of a decimal without the zeros at its end.
func (h wordHash) ofRound(n int64, scale int, kind uint64) uint64 {
	for scale > 0 && n%10 == 0 {
		n, scale = n/10, scale-1
	}
	return h.of(uint64(n), uint64(scale)<<8^kind)
}

// addTexts adds the hashes of texts to those of their rows.
func (h wordHash) addTexts(hashes []uint64, v *columnar.Vector, kind uint64) {
	data, from := v.Bytes, v.Offsets[0]
	for i, to := range v.Offsets[1 : len(hashes)+1] {
		start, end := int(from), int(to)
		from = to
		if v.Null(i) {
			continue
		}
		if n := end - start; uint(n-4) <= 12 && start+8 <= len(data) && end >= 8 {
			// As text does, with one way for 4 to 16 bytes: of fewer than eight, half of each word.
			unused := unusedBits[n] & 63
			first, last := binary.LittleEndian.Uint64(data[start:])<<unused>>unused, binary.LittleEndian.Uint64(data[end-8:])>>unused
			hashes[i] += h.words(first, last, n, kind)
			continue
		}
		hashes[i] += h.text(data[start:end], kind)
	}
}

// unusedBits are those of a word that are not part of the hash of a text of a length.
var unusedBits = [17]uint8{4: 32, 5: 32, 6: 32, 7: 32}

// text is the hash of a text. Most are short: two words, which may overlap, have all of them.
func (h wordHash) text(b []byte, kind uint64) uint64 {
	n := len(b)
	if n > 16 {
		return xxh3.HashSeed(b, h.a+kind)
	}
	var first, last uint64
	switch {
	case n >= 8:
		first, last = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		first, last = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		first = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	return h.words(first, last, n, kind)
}

// words is the hash of a text of n bytes whose first and last ones are given.
func (h wordHash) words(first, last uint64, n int, kind uint64) uint64 {
	return foldProduct(foldProduct(first^sumKey0, h.a+uint64(n))^last, h.b^kind)
}

// foldProduct is both halves of a product in one.
func foldProduct(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// withoutZeros is a number of so many digits behind the point without zeros at
// their end.
func withoutZeros(n columnar.Int128, scale int) (columnar.Int128, int) {
	for scale > 0 {
		q, r := divideByTen(n)
		if r != 0 {
			break
		}
		n, scale = q, scale-1
	}
	return n, scale
}

// divideByTen is the quotient and whether there is a rest.
func divideByTen(n columnar.Int128) (columnar.Int128, uint64) {
	if n.Hi == int64(n.Lo)>>63 {
		q := int64(n.Lo) / 10
		return columnar.Int128{Hi: q >> 63, Lo: uint64(q)}, uint64(int64(n.Lo) - q*10)
	}
	hi, lo, negative := uint64(n.Hi), n.Lo, n.Hi < 0
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	high, rest := hi/10, hi%10
	low, rest := bits.Div64(rest, lo, 10)
	if negative {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	return columnar.Int128{Hi: int64(high), Lo: low}, rest
}

// contentHash is the same for versions with the same columns and rows, in the same
// order, whatever files they lie in and whatever people call the columns. It is empty where the rows of a file are not
// known.
func contentHash(columns []feedmill.Column, files []feedmill.VersionFile) string {
	var all rowSum
	for i := range files {
		sum, ok := fileSum(&files[i])
		if !ok {
			return ""
		}
		all = all.then(sum)
	}
	return hashOf(columns, all)
}

func hashOf(columns []feedmill.Column, rows rowSum) string {
	h := sha256.New()
	for _, c := range columns {
		fmt.Fprintf(h, "%q %q %s %d %d\n", c.ID, c.SourceName, c.Type, c.Precision, c.Scale)
	}
	fmt.Fprintf(h, "%d %s\n", rows.rows, rows)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
