package app

import "os"

// longOr picks between the two forms of a proof that wants many repetitions: the
// long one is for FEEDMILL_LONG=1.
func longOr[T any](short, long T) T {
	if os.Getenv("FEEDMILL_LONG") != "" {
		return long
	}
	return short
}
