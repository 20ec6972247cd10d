package columnar

import (
	"encoding/binary"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVectorNulls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		valid := rapid.SliceOfN(rapid.Uint64(), 1, 4).Draw(t, "valid")
		v := Vector{Type: TypeInteger, Valid: valid, Len: rapid.IntRange(0, 64*len(valid)).Draw(t, "len")}
		nulls := 0
		for i := range v.Len {
			if v.Null(i) {
				nulls++
			}
		}
		if got := v.Nulls(); got != nulls {
			t.Fatalf("%d nulls, want %d", got, nulls)
		}
	})
}

func TestVectorWithoutValidityHasNoNulls(t *testing.T) {
	v := Vector{Type: TypeInteger, Len: 2, Ints: []int64{0, 1}}
	if v.Null(0) || v.Null(1) || v.Nulls() != 0 {
		t.Errorf("nulls in %+v", v)
	}
}

func TestVectorText(t *testing.T) {
	v := Vector{Type: TypeText, Len: 3, Offsets: []uint32{1, 3, 3, 4}, Bytes: []byte("-abc")}
	if err := v.Check(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"ab", "", "c"} {
		if got := string(v.Text(i)); got != want {
			t.Errorf("value %d is %q, want %q", i, got, want)
		}
	}
}

func TestVectorCheck(t *testing.T) {
	for _, test := range []struct {
		name  string
		v     Vector
		fault string
	}{
		{"empty", Vector{Type: TypeDate}, ""},
		{"empty text", Vector{Type: TypeText, Offsets: []uint32{0}}, ""},
		{"narrow decimal", Vector{Type: TypeDecimal, Precision: 18, Scale: 18, Len: 1, Ints: []int64{1}}, ""},
		{"wide decimal", Vector{Type: TypeDecimal, Precision: 19, Len: 1, Wide: []Int128{{}}}, ""},
		{"no such type", Vector{Type: "colour"}, `type "colour"`},
		{"negative", Vector{Type: TypeDate, Len: -1}, "-1 rows"},
		{"short", Vector{Type: TypeDate, Len: 2, Ints: []int64{1}}, "has 1 values"},
		{"short numbers", Vector{Type: TypeNumber, Len: 1, Ints: []int64{1}}, "has 0 values"},
		{"short validity", Vector{Type: TypeDate, Len: 65, Ints: make([]int64, 65), Valid: make([]uint64, 1)}, "validity for 64"},
		{"wide decimal in Ints", Vector{Type: TypeDecimal, Precision: 19, Len: 1, Ints: []int64{1}}, "has 0 values"},
		{"too many digits", Vector{Type: TypeDecimal, Precision: 39}, "decimal(39,0)"},
		{"scale above precision", Vector{Type: TypeDecimal, Precision: 3, Scale: 4}, "decimal(3,4)"},
		{"no offsets", Vector{Type: TypeText}, "has 0 offsets"},
		{"backwards", Vector{Type: TypeText, Len: 2, Offsets: []uint32{0, 2, 1}, Bytes: []byte("ab")}, "backwards"},
		{"past the end", Vector{Type: TypeJSON, Len: 1, Offsets: []uint32{0, 3}, Bytes: []byte("ab")}, "offset of 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.v.Check()
			switch {
			case test.fault == "" && err != nil:
				t.Error(err)
			case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)):
				t.Errorf("got %v, want an error with %q", err, test.fault)
			}
		})
	}
}

func TestInt128(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) Int128 {
		return Int128{Hi: rapid.Int64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		x, y := bigOf(a), bigOf(b)
		if got, want := a.Compare(b), x.Cmp(y); got != want {
			t.Errorf("%v compared to %v is %d, want %d", x, y, got, want)
		}
		if got := a.Decimal(0); got != x.String() {
			t.Errorf("%v is written %s", x, got)
		}
		if got := bigOf(a.Neg()); a != (Int128{Hi: -1 << 63}) && got.Cmp(new(big.Int).Neg(x)) != 0 {
			t.Errorf("the opposite of %v is %v", x, got)
		}
		bytes := a.BigEndian()
		if back := (Int128{Hi: int64(binary.BigEndian.Uint64(bytes[:])), Lo: binary.BigEndian.Uint64(bytes[8:])}); back != a {
			t.Errorf("%v came back as %v", a, back)
		}
		if n := rapid.Int64().Draw(t, "n"); bigOf(Int128Of(n)).Cmp(big.NewInt(n)) != 0 {
			t.Errorf("%d became %v", n, Int128Of(n))
		}
	})
}

func TestInt128Decimal(t *testing.T) {
	for _, test := range []struct {
		n     Int128
		scale int
		want  string
	}{
		{Int128Of(0), 0, "0"},
		{Int128Of(0), 2, "0.00"},
		{Int128Of(-5), 2, "-0.05"},
		{Int128Of(1250), 2, "12.50"},
		{Int128Of(1), 38, "0." + strings.Repeat("0", 37) + "1"},
		{Int128{Hi: -1 << 63}, 0, "-170141183460469231731687303715884105728"},
	} {
		if got := test.n.Decimal(test.scale); got != test.want {
			t.Errorf("%v at scale %d is %s, want %s", test.n, test.scale, got, test.want)
		}
	}
}

func bigOf(a Int128) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(a.Lo))
}
