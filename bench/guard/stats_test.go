package main

import (
	"math"
	"slices"
	"testing"
)

// TestIntervalRank has the ranks of tables of the sign test.
func TestIntervalRank(t *testing.T) {
	for n, want := range map[int]int{6: 1, 7: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 20: 6, 25: 8, 50: 18, 100: 40} {
		if got := intervalRank(n); got != want {
			t.Errorf("%d values: rank %d, want %d", n, got, want)
		}
	}
}

// ratios of 15 rounds, not in order: the 4th is 0.99, the 8th 1.03 and the 12th 1.07.
var fifteen = []float64{1.03, 0.90, 1.07, 1.00, 1.50, 0.98, 1.02, 1.05, 0.99, 1.08, 1.01, 0.97, 1.04, 1.06, 1.09}

func times(ratios []float64, factor float64) (base, tree []float64) {
	for i, r := range ratios {
		at := 100 + 7*float64(i) // the machine slows down: only the pairs are comparable
		base, tree = append(base, at), append(tree, at*r*factor)
	}
	return base, tree
}

func TestPair(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	c, err := pair(times(fifteen, 1))
	if err != nil || !near(c.ratio, 1.03) || !near(c.low, 0.99) || !near(c.high, 1.07) || !near(c.base, 149) {
		t.Errorf("%+v, %v; want 1.03 within 0.99 and 1.07, and 149 of the base", c, err)
	}
	c, err = pair(times(fifteen[:6], 1))
	if err != nil || !near(c.ratio, math.Sqrt(1.00*1.03)) || !near(c.low, 0.90) || !near(c.high, 1.50) {
		t.Errorf("6 rounds: %+v, %v; want the extremes as the interval", c, err)
	}
	for name, bad := range map[string][2][]float64{
		"too few":      {fifteen[:5], fifteen[:5]},
		"not paired":   {fifteen, fifteen[:14]},
		"nothing used": {slices.Concat([]float64{0}, fifteen[1:]), fifteen},
	} {
		if c, err := pair(bad[0], bad[1]); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestVerdict(t *testing.T) {
	narrow := []float64{0.995, 1.005, 1, 0.99, 1.01, 1.002, 0.998, 1.004}
	wide := []float64{0.7, 1.3, 1, 0.8, 1.2, 1.1, 0.9, 1.05}
	for _, test := range []struct {
		name    string
		ratios  []float64
		factor  float64
		want    verdict
		unclear bool
	}{
		{"no change", narrow, 1, same, false},
		{"within the tolerance, although the interval excludes 1", narrow, 1.015, same, false},
		{"a loss", narrow, 1.03, slower, false},
		{"a gain", narrow, 0.95, faster, false},
		{"a gain within the tolerance", narrow, 0.986, same, false},
		{"noise", wide, 1, same, true},
		{"noise on one side", []float64{1, 1.01, 0.99, 1.2, 1.3, 1, 0.98, 1}, 1, same, true},
		{"noise on the other", []float64{1, 1.01, 0.99, 0.8, 0.7, 1, 1.02, 1}, 1, same, true},
		{"noise around a loss", wide, 1.05, same, true},
		{"a loss beyond the noise", wide, 1.5, slower, false},
		{"the interval begins below 1", fifteen, 1, same, false},
		{"the interval begins above 1", fifteen, 1.02, slower, false},
	} {
		c, err := pair(times(test.ratios, test.factor))
		if err != nil || c.verdict() != test.want || c.unclear() != test.unclear {
			t.Errorf("%s: %s, unclear %t (%+v), %v; want %s, %t", test.name, c.verdict(), c.unclear(), c, err, test.want, test.unclear)
		}
	}
}
