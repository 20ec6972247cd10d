package csv

import (
	"slices"

	"golang.org/x/sys/cpu"
)

// hasAVX2 reports whether the processor has the instructions of fieldEndsAVX2.
var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT && cpu.X86.HasPCLMULQDQ

// fieldEndsAVX2 does the work of [Dialect.portableFieldEnds] for whole windows of 64 bytes, at
// least one. ends has room for 64 offsets for each of them, to which base is added. inside and
// after have all bits set where the data begins, and where it ends, inside quotes; quoted has
// them set unless quotes have no meaning.
//
//go:noescape
func fieldEndsAVX2(data *byte, windows int, base uint32, delimiter, newline, quote byte, ends *uint32, inside, quoted uint64) (found int, after uint64)

// stepWindows is how many windows are scanned at once. The goroutine is not preempted meanwhile.
const stepWindows = 64

// fieldEnds finds where the fields of well-formed records end: the delimiters
// and line ends that are not inside quotes. Data begins where a record does.
func (d Dialect) fieldEnds(data []byte, quoted bool, ends []uint32) []uint32 {
	if !hasAVX2 {
		return d.portableFieldEnds(data, 0, quoted, 0, ends)
	}
	product := uint64(0)
	if quoted {
		product = ^uint64(0)
	}
	base, inside, n := 0, uint64(0), len(ends)
	for len(data)-base >= 64 {
		windows := min((len(data)-base)/64, stepWindows)
		if room := 64 * windows; cap(ends)-n < room {
			ends = slices.Grow(ends[:n], max(cap(ends), room))
		}
		var found int
		found, inside = fieldEndsAVX2(&data[base], windows, uint32(base), d.Delimiter, d.Newline, d.Quote, &ends[:n+1][n], inside, product)
		n += found
		base += 64 * windows
	}
	return d.portableFieldEnds(data, base, quoted, inside, ends[:n])
}
