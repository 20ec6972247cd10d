// Package suggest finds the names that somebody probably meant.
//
// It is a leaf. Every package may import it, and it imports nothing of ours.
package suggest

import (
	"slices"
	"strings"
)

// Nearest picks those candidates that name was probably meant to be, the
// likeliest first, at most three.
func Nearest(name string, candidates []string) []string {
	type scored struct {
		name     string
		distance int
	}
	limit := min(max(2, len(name)/3), 6)
	var near []scored
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d <= limit {
			near = append(near, scored{c, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.distance - b.distance })
	var names []string
	for _, s := range near[:min(3, len(near))] {
		names = append(names, s.name)
	}
	return names
}

// editDistance counts the bytes to insert, remove or replace between a and b.
// Names longer than any real one are far from everything.
func editDistance(a, b string) int {
	const longest = 200
	if len(a) > longest || len(b) > longest {
		return longest
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
