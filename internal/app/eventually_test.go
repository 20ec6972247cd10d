package app

import (
	"testing"
	"time"
)

// eventually asks until done says yes. Its bound is there to end a test that
// hangs, and far beyond what any machine needs.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen within a minute")
		}
		time.Sleep(2 * time.Millisecond)
	}
}
