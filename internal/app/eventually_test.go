package app

import (
	"testing"
	"time"
)

// patience bounds every wait for something that is sure to come.
const patience = 5 * time.Minute

// eventually asks until done says yes. Its bound is there to end a test that
// hangs, and far beyond what any machine needs.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen within %v", patience)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
