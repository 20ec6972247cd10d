package feedmill

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A quantile is at most one class away from the exact one, however the durations
// were counted.
func TestAnswerTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(rapid.Int64Range(int64(time.Millisecond), int64(2*time.Minute)), 1, 200).Draw(t, "durations")
		var a, b DeliveryCount
		for i, d := range durations {
			if i%3 == 0 {
				a.Times.Count(time.Duration(d))
			} else {
				b.Times.Count(time.Duration(d))
			}
		}
		a.Add(b)
		slices.Sort(durations)
		for _, share := range []float64{0.5, 0.99, 1} {
			rank := max(int(math.Ceil(share*float64(len(durations)))), 1)
			exact, got := time.Duration(durations[rank-1]), a.Times.Quantile(share)
			if got < exact-time.Millisecond || float64(got) > float64(exact)*1.21+float64(time.Millisecond) {
				t.Fatalf("quantile %v of %v is %v, exactly %v", share, durations, got, exact)
			}
		}
	})
	if got := AnswerTimes(nil).Quantile(0.5); got != 0 {
		t.Errorf("of nothing %v", got)
	}
}

func TestSuccessShare(t *testing.T) {
	for _, test := range []struct {
		delivered, exhausted int64
		retrying             int
		share                float64
		tried                bool
	}{{0, 0, 0, 0, false}, {3, 1, 0, 0.75, true}, {3, 0, 1, 0.75, true}, {0, 0, 2, 0, true}, {4, 0, 0, 1, true}} {
		share, tried := SuccessShare(DeliveryCount{Delivered: test.delivered, Exhausted: test.exhausted, Failed: 100}, test.retrying)
		if share != test.share || tried != test.tried {
			t.Errorf("%+v: %v, %v", test, share, tried)
		}
	}
}
