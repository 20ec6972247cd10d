// Package suggest finds the names that a user probably meant by a misspelled one.
//
// It is a leaf package: any package can import it, and it imports no other package of
// this module.
package suggest

import (
	"slices"
	"strings"
)

// These limits keep a request with many unknown names cheap.
const (
	maxCandidates = 1000 // that are compared
	maxLength     = 100  // of a name in bytes; no real name is longer
	maxNear       = 3    // suggestions
)

// Nearest returns up to three candidates that are similar to name, the most similar first.
// It returns none for a name of more than 100 bytes, and compares only the first 1,000
// candidates.
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

// editDistance returns the Levenshtein distance between a and b in bytes, or limit+1 if it
// exceeds limit.
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
