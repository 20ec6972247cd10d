// Package decodetest has what the tests of several formats need: sources that
// grow, tables of some size, and what was read as text.
package decodetest

import (
	"bytes"
	"sync"
)

// Growing is a source that arrives: it has more with each call of Grow.
type Growing struct {
	mu    sync.Mutex
	moved sync.Cond
	data  []byte
	there int
	fault error
}

// NewGrowing returns a source of which nothing is there yet.
func NewGrowing(data string) *Growing {
	g := &Growing{data: []byte(data)}
	g.moved.L = &g.mu
	return g
}

// Grow lets so many bytes more be there.
func (g *Growing) Grow(by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.there = min(len(g.data), g.there+by)
	g.moved.Broadcast()
}

// Fail ends the arrival.
func (g *Growing) Fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = err
	g.moved.Broadcast()
}

// Size is how many bytes are there.
func (g *Growing) Size() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int64(g.there)
}

// ReadAt reads what is there.
func (g *Growing) ReadAt(p []byte, offset int64) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return bytes.NewReader(g.data[:g.there]).ReadAt(p, offset)
}

// Await waits until so many bytes are there, or all of them.
func (g *Growing) Await(size int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for int64(g.there) < size && g.there < len(g.data) && g.fault == nil {
		g.moved.Wait()
	}
	return g.fault
}

// Arrive lets all of it arrive in parts, one as soon as the last was seen.
func (g *Growing) Arrive(part int) (wait func()) {
	var arriving sync.WaitGroup
	arriving.Go(func() {
		for g.Size() < int64(len(g.data)) {
			g.Grow(part)
		}
	})
	return arriving.Wait
}
