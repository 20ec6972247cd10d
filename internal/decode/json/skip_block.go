package json

import "math/bits"

// skipBlock is how many bytes of a value are passed over together.
const skipBlock = 64

// passed takes note of a block inside an object or array by its brackets outside strings:
// one bit for each byte. It returns where in the block the value ends, 0 where it does not.
func (s *skipper) passed(opens, closes uint64) (end int) {
	if bits.OnesCount64(closes) >= s.depth {
		for left, n := closes, 1; left != 0; left, n = left&(left-1), n+1 {
			at := bits.TrailingZeros64(left)
			if s.depth+bits.OnesCount64(opens&(1<<at-1)) == n {
				s.depth = 0
				return at + 1
			}
		}
	}
	s.depth += bits.OnesCount64(opens) - bits.OnesCount64(closes)
	return 0
}
