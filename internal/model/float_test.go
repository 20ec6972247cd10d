package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// A number whose float is a quotient of its digits has the float that it has by all its digits, and keeps them.
func TestShortFloats(t *testing.T) {
	texts := []string{"0", "-0", "-0.0", "0.1", "999999999999999", "0.000000000000001", "123456789.012345", "-1.5", "0.000000000000000001"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		digits := random.Int64N(int64(math.Pow10(1 + random.IntN(15))))
		texts = append(texts, fmt.Sprintf("%d.%0*d", random.Int64N(1+digits%1000), 1+random.IntN(12), digits%1_000_000_000), strconv.FormatInt(-digits, 10))
	}
	short := 0
	for _, text := range texts {
		got, ok := shortFloat([]byte(text))
		if !ok {
			continue
		}
		short++
		want, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s is %v, not %v (%v)", text, got, want, err)
		}
		digits, _ := significant([]byte(text))
		if len(digits) > 15 {
			t.Fatalf("%s has %d digits", text, len(digits))
		}
	}
	if short < len(texts)/2 {
		t.Errorf("%d of %d were short", short, len(texts))
	}
	for _, text := range []string{"", "-", ".5", "5.", "01", "-01.5", "1e5", "1.2.3", "1,5", "1 ", "1000000000000000", "0.1234567890123456", "12345678901234567890", "--1", "+1"} {
		if f, ok := shortFloat([]byte(text)); ok {
			t.Errorf("%q was read as %v", text, f)
		}
	}
}
