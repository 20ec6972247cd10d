package decodetest

import "os"

// Long reports whether proofs take their long form, which FEEDMILL_LONG=1 asks for.
func Long() bool { return os.Getenv("FEEDMILL_LONG") != "" }

// LongOr is how often something is done: short, or long where proofs take their long form.
func LongOr(short, long int) int {
	if Long() {
		return long
	}
	return short
}
