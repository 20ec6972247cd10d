package query

import (
	"sync"
	"unicode"
)

// uppers has the characters whose lower case is another one, by that one.
var uppers = sync.OnceValue(func() map[rune][]rune {
	all := make(map[rune][]rune)
	for r := range unicode.MaxRune + 1 {
		if lower := unicode.ToLower(r); lower != r {
			all[lower] = append(all[lower], r)
		}
	}
	return all
})

// Folded has, for each character of a text, all characters that are the same where
// case does not matter, as [Lower] has it. A database that knows no case can look
// for one of each with a pattern.
func Folded(text string) [][]rune {
	var all [][]rune
	for _, r := range Lower(text) {
		all = append(all, append([]rune{r}, uppers()[r]...))
	}
	return all
}
