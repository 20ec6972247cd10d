package json

import "golang.org/x/sys/cpu"

// hasAVX2 reports whether the processor has the instructions of blockMasks.
var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasPCLMULQDQ

// blockMasks finds the brackets outside strings in a block of [skipBlock] bytes, one bit for each
// byte. inside and after have all bits set where the block begins, and where it ends, inside
// a string. escapes reports whether there is a backslash, with which the others are wrong.
//
//go:noescape
func blockMasks(data *byte, inside uint64) (opens, closes, after uint64, escapes uint32)

// blocks passes over blocks inside an object or array, up to one with an escape, and
// returns where it stops. It reports whether the value ends there.
func (s *skipper) blocks(data []byte, size, at int) (int, bool) {
	if !hasAVX2 || s.depth == 0 {
		return at, false
	}
	for ; size-at >= skipBlock; at += skipBlock {
		inside := uint64(0)
		if s.quoted {
			inside = ^inside
		}
		opens, closes, after, escapes := blockMasks(&data[at], inside)
		if escapes != 0 {
			break
		}
		if end := s.passed(opens, closes); end > 0 {
			s.quoted = false
			return at + end, true
		}
		s.quoted = after != 0
	}
	return at, false
}
