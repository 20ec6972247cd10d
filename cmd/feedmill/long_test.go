package main

import "os"

// longOr picks between the two forms of a proof that wants many repetitions or
// much data: the short one is what every run of the tests can afford, the long
// one is for FEEDMILL_LONG=1.
func longOr[T any](short, long T) T {
	if os.Getenv("FEEDMILL_LONG") != "" {
		return long
	}
	return short
}
