package duckdb

import (
	"math/big"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// hugeOffset is added to sums of whole numbers of 128 bits. It is far greater than any of them, so
// that their texts have one length and sort as the sums do.
var hugeOffset = "5" + strings.Repeat("0", 60)

// IsHugeSum reports whether an expression is a sum of whole numbers of 128 bits, which is sent as
// a text for [ParseHugeSum].
func (t *Table) IsHugeSum(e query.Expression) bool {
	return e.Aggregate == feedmill.AggregateSum && t.isHuge(e)
}

func (t *Table) isHuge(e query.Expression) bool {
	kind := t.KindOf(e.Column)
	return kind == Huge || kind == UnsignedHuge
}

// hugeSum adds up values. No sum of them leaves the range of a BIGNUM, as it does that of a HUGEINT.
func hugeSum(column string) string {
	return "CAST(sum(CAST(" + column + " AS BIGNUM)) + CAST('" + hugeOffset + "' AS BIGNUM) AS VARCHAR)"
}

// ParseHugeSum returns the digits of a sum.
func ParseHugeSum(text []byte) []byte {
	sum, _ := new(big.Int).SetString(string(text), 10)
	offset, _ := new(big.Int).SetString(hugeOffset, 10)
	return sum.Sub(sum, offset).Append(nil, 10)
}
