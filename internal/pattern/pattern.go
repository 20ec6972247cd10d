// Package pattern bounds the regular expressions that people write, before
// anything is compiled of them: a few characters can stand for a program of
// millions of steps.
//
// It is a leaf. Every package may import it, and it imports nothing of ours.
package pattern

import (
	"fmt"
	"regexp/syntax"
)

const (
	// MaxBytes is how long a pattern may be.
	MaxBytes = 4 << 10
	// MaxSize is how many steps its program may have, repetitions written out.
	MaxSize = 10_000
)

// Check says what is wrong with a pattern in the syntax of RE2, nil for nothing.
func Check(text string) error {
	_, err := Size(text)
	return err
}

// Size is about how many steps the program of a pattern has. It fails where the
// pattern cannot be read or is too large.
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

// sizeOf counts the steps of an expression, up to more than there may be.
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
