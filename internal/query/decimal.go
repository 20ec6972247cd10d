package query

import "math/big"

// DecimalText writes a number with all of its digits. It must be one that has an
// end, as those that people write do.
func DecimalText(n *big.Rat) string {
	places, exact := n.FloatPrec()
	if !exact {
		places = 40
	}
	return n.FloatString(places)
}
