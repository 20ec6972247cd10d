package decodetest

import "os"

// Long reports whether proofs take their long form, which FEEDMILL_LONG=1 asks for.
func Long() bool { return os.Getenv("FEEDMILL_LONG") != "" }
