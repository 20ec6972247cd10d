package postgres

import (
	"sync"

	"github.com/feedmill/feedmill"
)

const (
	// unknownFanout is how many deliveries an event is taken to have in a
	// workspace that nothing is known of.
	unknownFanout = 1000
	// maxFanouts bounds how many workspaces are remembered.
	maxFanouts = 10_000
)

// fanouts remembers how many deliveries an event has had of late in each
// workspace: what a call of [DB.Accept] will cost is not known before its events
// are matched, but most events are like those before them.
type fanouts struct {
	mu     sync.Mutex
	recent map[feedmill.ID]int
}

// estimate is how many deliveries an event of the workspace is likely to have.
func (f *fanouts) estimate(workspace feedmill.ID) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, ok := f.recent[workspace]; ok {
		return n
	}
	return unknownFanout
}

// note remembers how many deliveries some events of the workspace had.
func (f *fanouts) note(workspace feedmill.ID, deliveries, events int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recent == nil || len(f.recent) >= maxFanouts {
		f.recent = make(map[feedmill.ID]int)
	}
	f.recent[workspace] = (deliveries + events - 1) / events
}
