// Package pattern limits the regular expressions of users before they are compiled: a few
// characters can expand to a program of millions of instructions.
//
// It is a leaf package: any package can import it, and it imports no other package of
// this module.
package pattern

import (
	"fmt"
	"regexp/syntax"
)

const (
	// MaxBytes is the maximum length of a pattern.
	MaxBytes = 4 << 10
	// MaxSize is the maximum number of instructions of a pattern, with its repetitions
	// expanded.
	MaxSize = 10_000
)

// Check returns an error if text is not a valid RE2 pattern or is too large.
func Check(text string) error {
	_, err := Size(text)
	return err
}

// Size returns the approximate number of instructions of a pattern. It fails if the
// pattern is not valid or is too large.
func Size(text string) (int, error) {
	if len(text) > MaxBytes {
		return 0, fmt.Errorf("the pattern has %d bytes, and %d is the most", len(text), MaxBytes)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	size := sizeOf(parsed)
	if size > MaxSize {
		return 0, fmt.Errorf("the pattern has more than %d steps when its repetitions are written out", MaxSize)
	}
	return size, nil
}

// sizeOf counts the instructions of an expression, and stops at MaxSize+1.
func sizeOf(re *syntax.Regexp) int {
	size := 1
	switch re.Op {
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpCharClass:
		size = 1 + len(re.Rune)/32
	}
	for _, sub := range re.Sub {
		size += sizeOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, MaxSize+1)
}
