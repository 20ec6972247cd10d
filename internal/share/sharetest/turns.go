// Package sharetest checks that long work takes turns.
package sharetest

import (
	"runtime"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/share"
)

// attempts is how often work is tried: it does not wait where the machine is so busy that nobody
// is present any more when it begins.
const attempts = 10

// TakesTurns fails the test unless work waits for a turn while other work has all of them and
// requests of two workspaces are present.
func TakesTurns(t *testing.T, what string, work func()) {
	t.Helper()
	for range attempts {
		if waits(t, work) {
			return
		}
	}
	t.Errorf("%s does not take turns with other work", what)
}

// waits reports whether work waits for a turn.
func waits(t *testing.T, work func()) bool {
	t.Helper()
	share.For(t.Context(), "one")
	share.For(t.Context(), "other")
	others := make([]share.Long, max(1, runtime.GOMAXPROCS(0)-1))
	for i := range others {
		others[i].Step()
		defer others[i].End()
	}
	began := time.Now()
	work()
	return time.Since(began) >= share.TurnPatience
}
