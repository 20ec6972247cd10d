package typed

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/feedmill/feedmill"
)

// decimals is an Arrow file with values of a decimal type, whatever it declares.
func decimals(t *testing.T, of arrow.DataType, values ...*big.Int) []byte {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, of)
	for _, n := range values {
		switch b := b.(type) {
		case *array.Decimal32Builder:
			b.Append(decimal.Decimal32(n.Int64()))
		case *array.Decimal64Builder:
			b.Append(decimal.Decimal64(n.Int64()))
		case *array.Decimal128Builder:
			b.Append(decimal128.FromBigInt(n))
		case *array.Decimal256Builder:
			b.Append(decimal256.FromBigInt(n))
		}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "amount", Type: of}}, nil)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, int64(len(values)))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestDecimalsWiderThanDeclared reads the greatest value of each decimal type, which is taken,
// and the next one, which is refused with its row, on either side of zero.
func TestDecimalsWiderThanDeclared(t *testing.T) {
	for _, of := range []arrow.DataType{
		&arrow.Decimal32Type{Precision: 4, Scale: 2}, &arrow.Decimal64Type{Precision: 12, Scale: 2},
		&arrow.Decimal128Type{Precision: 1}, &arrow.Decimal128Type{Precision: 18, Scale: 2}, &arrow.Decimal128Type{Precision: 19}, &arrow.Decimal128Type{Precision: 38, Scale: 10},
		&arrow.Decimal256Type{Precision: 18}, &arrow.Decimal256Type{Precision: 38},
	} {
		over := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.(arrow.DecimalType).GetPrecision())), nil)
		most := new(big.Int).Sub(over, big.NewInt(1))
		if rows, err := readAll(t, decimals(t, of, most, new(big.Int).Neg(most)), OpenArrowBytes); err != nil || rows != 2 {
			t.Errorf("%s: %d rows of its greatest values, %v", of, rows, err)
		}
		wide := []*big.Int{over, new(big.Int).Neg(over)}
		if of.ID() == arrow.DECIMAL256 {
			wide = append(wide, new(big.Int).Lsh(big.NewInt(7), 128), new(big.Int).Lsh(big.NewInt(-7), 192))
		}
		for _, n := range wide {
			_, err := readAll(t, decimals(t, of, most, n), OpenArrowBytes)
			refusal, ok := errors.AsType[*feedmill.Error](err)
			if !ok || refusal.Type != "wide-decimal" || !strings.HasPrefix(refusal.Detail, "row 2:") {
				t.Errorf("%s with %s: %v", of, n, err)
			}
		}
	}
}
