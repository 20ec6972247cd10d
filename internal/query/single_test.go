package query_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/query"
)

func TestSingle(t *testing.T) {
	for f, want := range map[float32]float64{0.1: 0.1, 16777216: 16777216, 1.2345679e10: 12345679000, -3.4028235e38: -3.4028235e38, 1e-45: 1e-45, 7: 7} {
		if got := query.Single(f); got != want {
			t.Errorf("%v is shown as %v, want %v", f, got, want)
		}
	}
}

// A comparison of floats is true exactly where that of the numbers is that they are shown as.
func TestComparisonsOfSingles(t *testing.T) {
	floats := rapid.Custom(func(t *rapid.T) float32 { return math.Float32frombits(rapid.Uint32().Draw(t, "bits")) })
	rapid.Check(t, func(t *rapid.T) {
		f := floats.Filter(func(f float32) bool { return f == f }).Draw(t, "float")
		value := rapid.OneOf(rapid.Float64(), rapid.Custom(func(t *rapid.T) float64 { // near the float
			near := []float64{query.Single(f), float64(f), query.Single(math.Nextafter32(f, 0)), (float64(f) + float64(math.Nextafter32(f, 0))) / 2}
			return math.Nextafter(rapid.SampledFrom(near).Draw(t, "near"), rapid.SampledFrom([]float64{0, math.Inf(1), math.Inf(-1)}).Draw(t, "toward"))
		}), rapid.Just(query.Single(f))).Draw(t, "value")
		p := query.Compare{Comparison: rapid.SampledFrom([]query.Comparison{query.Equal, query.Greater, query.GreaterOrEqual, query.Less, query.LessOrEqual}).Draw(t, "comparison"), Value: value}
		holds := func(p query.Compare, of float64) bool {
			c := query.CompareNumbers(of, p.Value.(float64))
			return map[query.Comparison]bool{query.Equal: c == 0, query.Greater: c > 0, query.GreaterOrEqual: c >= 0, query.Less: c < 0, query.LessOrEqual: c <= 0}[p.Comparison]
		}
		of, possible := p.OfSingles()
		if got, want := possible && holds(of, float64(f)), holds(p, query.Single(f)); got != want {
			t.Fatalf("%v %s %v is %v, and as floats %+v %v", f, p.Comparison, value, want, of, got)
		}
	})
}
