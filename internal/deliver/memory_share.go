package deliver

import "github.com/feedmill/feedmill"

// The bound on what waits is shared: each workspace that has something queued has
// an equal share of it, and within a workspace each lane. As long as there is
// room anyone may have more than that. When there is none, whoever has less than
// a share finds someone with more, who lets go of what is queued and reads it from
// the store again, a little at a time.

// queuedPortion is what a workspace has queued.
type queuedPortion struct {
	workspace feedmill.ID
	bytes     int        // those of all lanes, events that several wait for counted by each
	holders   []*backlog // that have something queued
	hand      int        // where the last search for someone with too much ended
}

// searchSteps bounds a search for someone with too much: it is made for deliveries
// that find no room, of which there may be very many.
const searchSteps = 8

// fits reports whether a delivery may wait in memory. It makes room for a lane
// that has less than its share.
func (m *memory) fits(b *backlog, workspace feedmill.ID, size int) bool {
	switch {
	case b.waiting >= m.maxLane:
		return false
	case m.hasRoom(1, size):
		return true
	}
	deliveries, bytes := m.shareOf(b, workspace)
	return b.waiting < deliveries && b.bytes+size <= bytes && m.makeRoom(workspace, size)
}

// shareOf is the share of a lane.
func (m *memory) shareOf(b *backlog, workspace feedmill.ID) (deliveries, bytes int) {
	workspaces, lanes := len(m.portions), 1
	if p := m.portions[workspace]; p == nil {
		workspaces++
	} else if lanes = len(p.holders); b.place < 0 {
		lanes++
	}
	return m.maxQueued / workspaces / lanes, m.maxBytes / workspaces / lanes
}

// makeRoom makes someone with more than its share let go, and reports whether
// there is room then.
func (m *memory) makeRoom(workspace feedmill.ID, size int) bool {
	p := m.largestNear(workspace)
	if p == nil {
		return false
	}
	workspaces := len(m.portions)
	if m.portions[workspace] == nil {
		workspaces++
	}
	lanes := workspaces * (len(p.holders) + 1) // with the one that wants it
	for range min(searchSteps, len(p.holders)) {
		p.hand = (p.hand + 1) % len(p.holders)
		if b := p.holders[p.hand]; b.waiting > 1 && (b.bytes > m.maxBytes/lanes || b.waiting > m.maxQueued/lanes) {
			b.dropQueue()
			break
		}
	}
	return m.hasRoom(1, size)
}

// largestNear is the workspace that has most of a few, this one among them.
func (m *memory) largestNear(workspace feedmill.ID) *queuedPortion {
	largest, steps := m.portions[workspace], 0
	for _, p := range m.portions {
		if largest == nil || p.bytes > largest.bytes {
			largest = p
		}
		if steps++; steps == searchSteps {
			break
		}
	}
	return largest
}

// account counts what a lane has queued more, or less where it is negative.
func (m *memory) account(b *backlog, workspace feedmill.ID, bytes int) {
	p := m.portions[workspace]
	if p == nil {
		p = &queuedPortion{workspace: workspace}
		m.portions[workspace] = p
	}
	b.bytes += bytes
	p.bytes += bytes
	switch {
	case b.place < 0 && b.waiting > 0:
		b.place = len(p.holders)
		p.holders = append(p.holders, b)
	case b.place >= 0 && b.waiting == 0:
		last := len(p.holders) - 1
		p.holders[b.place] = p.holders[last]
		p.holders[b.place].place = b.place
		p.holders[last] = nil
		p.holders = p.holders[:last]
		b.place = -1
	}
	if len(p.holders) == 0 {
		delete(m.portions, workspace)
	}
}
