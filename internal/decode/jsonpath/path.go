package jsonpath

import "fmt"

// Path is a parsed JSONPath. It is never changed, so goroutines may share it.
type Path struct {
	text     string
	segments []segment
}

// String is the path as it was written.
func (p *Path) String() string { return p.text }

// SyntaxError says what is wrong with a path and where.
type SyntaxError struct {
	// Offset is how many characters stand before the place at fault.
	Offset int
	Detail string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("the path is not valid at character %d: %s", e.Offset+1, e.Detail)
}

// segment takes every node to some of its children, or to some of its
// descendants' children where it is deep.
type segment struct {
	deep      bool
	selectors []selector
}

type selectorKind uint8

const (
	selectName selectorKind = iota
	selectAll
	selectIndex
	selectSlice
	selectFilter
)

type selector struct {
	kind   selectorKind
	name   string
	index  int64
	slice  slice
	filter expression
}

// slice is start:end:step, each of which can be left out.
type slice struct {
	start, end, step          int64
	hasStart, hasEnd, hasStep bool
}

// stride is the step, which is 1 where it is left out.
func (s slice) stride() int64 {
	if !s.hasStep {
		return 1
	}
	return s.step
}

// bounds are the first index of the slice and the one that it stops before, or
// after for a negative step, in an array of the given length.
func (s slice) bounds(length int64) (first, stop int64) {
	absolute := func(i int64) int64 {
		if i < 0 {
			return i + length
		}
		return i
	}
	if s.stride() >= 0 {
		first, stop = 0, length
		if s.hasStart {
			first = min(max(absolute(s.start), 0), length)
		}
		if s.hasEnd {
			stop = min(max(absolute(s.end), 0), length)
		}
		return first, stop
	}
	first, stop = length-1, -1
	if s.hasStart {
		first = min(max(absolute(s.start), -1), length-1)
	}
	if s.hasEnd {
		stop = min(max(absolute(s.end), -1), length-1)
	}
	return first, stop
}
