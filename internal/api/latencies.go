package api

import (
	"slices"
	"sync"
	"time"
)

// keptLatencies is how many answers the quantiles are of: those of an hour, where nobody
// asks but the reports.
const keptLatencies = int(time.Hour / reportEvery)

// latencies remembers how long the last answers of a store took.
type latencies struct {
	mu   sync.Mutex
	last []time.Duration
	next int
}

func (l *latencies) add(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) < keptLatencies {
		l.last = append(l.last, took)
		return
	}
	l.last[l.next] = took
	l.next = (l.next + 1) % keptLatencies
}

// quantiles are what half of the answers and 99 of a hundred took at most. There are none
// before the first answer.
func (l *latencies) quantiles() (half, most time.Duration, ok bool) {
	l.mu.Lock()
	sorted := slices.Clone(l.last)
	l.mu.Unlock()
	n := len(sorted)
	if n == 0 {
		return 0, 0, false
	}
	slices.Sort(sorted)
	return sorted[(n-1)/2], sorted[(n*99+99)/100-1], true
}
