package main

import (
	"fmt"
	"math"
	"slices"
)

const (
	// leastRounds is how many rounds the 95 % interval needs.
	leastRounds = 6
	// tolerance is the change that is too small to matter: the layout of a program alone costs or
	// saves as much.
	tolerance = 0.02
	// noisy is the reach of an interval that can hide a change worth knowing.
	noisy = 0.1
)

// comparison is what paired rounds tell about two programs.
type comparison struct {
	// base and tree are the medians of what each measured.
	base, tree float64
	// ratio is the median of tree/base of the pairs; low and high are its 95 % interval.
	ratio, low, high float64
}

// pair compares what the two programs measured, one value for each round.
func pair(base, tree []float64) (c comparison, err error) {
	if len(base) != len(tree) || len(base) < leastRounds {
		return c, fmt.Errorf("%d and %d rounds cannot be paired; at least %d are needed", len(base), len(tree), leastRounds)
	}
	ratios := make([]float64, len(base))
	for i := range ratios {
		if base[i] <= 0 || tree[i] <= 0 {
			return c, fmt.Errorf("round %d measured %g and %g, which have no ratio", i+1, base[i], tree[i])
		}
		ratios[i] = tree[i] / base[i]
	}
	slices.Sort(ratios)
	rank := intervalRank(len(ratios))
	return comparison{
		base: middle(slices.Sorted(slices.Values(base))), tree: middle(slices.Sorted(slices.Values(tree))),
		ratio: middle(ratios), low: ratios[rank-1], high: ratios[len(ratios)-rank],
	}, nil
}

// middle is the median of sorted values. Of two middle ones it is the geometric mean, so that the ratio of a
// to b is the inverse of that of b to a.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return math.Sqrt(sorted[(n-1)/2] * sorted[n/2])
}

// intervalRank is the k for which the k-th smallest and the k-th largest of n values enclose the median
// of their distribution with a probability of at least 95 %, whatever the distribution is. Each value is
// below the median with probability one half, so the count of those below is binomial.
func intervalRank(n int) int {
	rank, term, below := 1, math.Pow(0.5, float64(n)), 0.0
	for k := 1; ; k++ {
		below += term // the probability that fewer than k values are below the median
		if 2*below > 0.05 {
			return rank
		}
		rank = k
		term *= float64(n-k+1) / float64(k)
	}
}

type verdict string

const (
	slower verdict = "slower"
	same   verdict = "same"
	faster verdict = "faster"
)

// verdict is slower or faster where the interval excludes 1 and the ratio is beyond the tolerance.
func (c comparison) verdict() verdict {
	switch {
	case c.low > 1 && c.ratio > 1+tolerance:
		return slower
	case c.high < 1 && c.ratio < 1/(1+tolerance):
		return faster
	}
	return same
}

// unclear reports whether the rounds differ so much that the verdict "same" may hide a change.
func (c comparison) unclear() bool {
	return c.verdict() == same && (c.high > 1+noisy || c.low < 1/(1+noisy))
}
