// Package suggest finds the names that somebody probably meant.
//
// It is a leaf. Every package may import it, and it imports nothing of ours.
package suggest

import (
	"slices"
	"strings"
)

// What is looked at, so that a request with many unknown names costs little: so
// many candidates, and names of so many bytes. No real name is longer.
const (
	maxCandidates = 1000
	maxLength     = 100
	maxNear       = 3
)

// Nearest picks those candidates that name was probably meant to be, the
// likeliest first, at most three. Names that are longer than any real one are far from
// everything, and of very many candidates only the first are looked at.
func Nearest(name string, candidates []string) []string {
	type scored struct {
		name     string
		distance int
	}
	if len(name) > maxLength {
		return nil
	}
	limit := min(max(2, len(name)/3), 6)
	lower := strings.ToLower(name)
	var near []scored
	for _, c := range candidates[:min(len(candidates), maxCandidates)] {
		if d := editDistance(lower, strings.ToLower(c[:min(len(c), 2*maxLength)]), limit); d <= limit {
			near = append(near, scored{c, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.distance - b.distance })
	var names []string
	for _, s := range near[:min(maxNear, len(near))] {
		names = append(names, s.name)
	}
	return names
}

// editDistance counts the bytes to insert, remove or replace between a and b. It
// gives up, with one more, once there are more of them than the limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
			least = min(least, row[j+1])
		}
		if least > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
