package rig

import (
	"cmp"
	"math"
	"slices"
)

// Median is the middle one of some values, or the greater of the middle two.
func Median[T cmp.Ordered](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// Percentile is the smallest of some values that p percent of them do not exceed.
func Percentile[T cmp.Ordered](values []T, p float64) T {
	rank := int(math.Ceil(p / 100 * float64(len(values))))
	return slices.Sorted(slices.Values(values))[max(rank, 1)-1]
}
