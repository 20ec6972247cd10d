package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// memory is what the deliveries that wait take of it, over all lanes, and how
// much they may. All of them wait in the store as well, so whoever has more than
// its share gives way to those who have less; see memory_share.go.
//
// Where even a share has no room for a delivery, a lane whose turn it is reads a
// single one past the bound, to send it at once: so every lane goes on, and few
// deliveries at a time are past the bound.
type memory struct {
	maxBytes  int // of all lanes
	maxQueued int // deliveries of all lanes
	maxLane   int // and of one

	queued int
	// expected is how many deliveries are being read to be queued, and
	// expectedBytes about what they take.
	expected, expectedBytes int
	// events are those of the deliveries that are queued or under way, and
	// eventBytes what those take that are queued.
	events     map[feedmill.ID]*event
	eventBytes int
	// portions are what workspaces have of what is queued.
	portions map[feedmill.ID]*queuedPortion
}

const (
	// maxQueuedBytes bounds what the deliveries that wait take of memory, their
	// payloads included.
	maxQueuedBytes = 48 << 20
	// itemBytes is about how much memory a delivery takes while it waits, and
	// eventOverhead what its event does, without its payload.
	itemBytes     = 128
	eventOverhead = 160
)

func newMemory(maxQueued, maxLane int) memory {
	return memory{
		maxBytes: maxQueuedBytes, maxQueued: maxQueued, maxLane: maxLane,
		events: make(map[feedmill.ID]*event), portions: make(map[feedmill.ID]*queuedPortion),
	}
}

// bytes is what the deliveries that wait take.
func (m *memory) bytes() int { return m.eventBytes + m.queued*itemBytes }

// room is how many more deliveries may wait in memory, and how many bytes they
// may take.
func (m *memory) room() (deliveries, bytes int) {
	return max(m.maxQueued-m.queued-m.expected, 0), max(m.maxBytes-m.bytes()-m.expectedBytes, 0)
}

// hasRoom reports whether so many deliveries of so many bytes may wait besides.
func (m *memory) hasRoom(deliveries, bytes int) bool {
	n, b := m.room()
	return n >= deliveries && b >= bytes
}

// isOver reports whether more waits than may.
func (m *memory) isOver() bool { return m.queued > m.maxQueued || m.bytes() > m.maxBytes }

// queued is a delivery that waits in memory: what is needed to send it and no
// more, since there can be many.
type queued struct {
	id          feedmill.ID
	seq         int64
	attempts    int32
	maxAttempts int32
	event       *event
}

func (q queued) createdAt() time.Time { return q.id.Time() }

// message is that of its next attempt.
func (q *queued) message(at time.Time) feedmill.Message {
	return feedmill.Message{
		Delivery: q.id, Event: q.event.id, Type: q.event.kind, ResourceID: q.event.resource,
		Payload: q.event.payload, Attempt: int(q.attempts) + 1, At: at,
	}
}

// size is what it takes where nobody else waits for its event.
func (q queued) size() int { return itemBytes + q.event.size() }

// event is what the deliveries of an event have in common, kept once for all
// that wait or are under way.
type event struct {
	id, workspace    feedmill.ID
	kind, resource   string
	payload          []byte
	queued, inFlight int                    // how many of its deliveries are, or are granted to be
	all              map[feedmill.ID]*event // that it is one of
	// trust is that of the grant with which its payload was counted.
	trust trust
}

func (e *event) size() int { return eventOverhead + len(e.payload) }

// forget releases an event that has no delivery here any more.
func (e *event) forget() {
	if e.queued == 0 && e.inFlight == 0 && e.all[e.id] == e {
		delete(e.all, e.id)
	}
}

// sizeOf is what a delivery takes while it waits.
func sizeOf(due *feedmill.DueDelivery) int { return itemBytes + eventOverhead + len(due.Payload) }

// hold makes of a delivery what is kept of it while it waits.
func (m *memory) hold(due feedmill.DueDelivery) queued {
	e, ok := m.events[due.Event]
	if !ok {
		e = &event{id: due.Event, workspace: due.Workspace, kind: due.Type, resource: due.ResourceID, payload: due.Payload, all: m.events}
		m.events[due.Event] = e
	}
	if e.queued == 0 {
		m.eventBytes += e.size()
	}
	e.queued++
	m.queued++
	return queued{due.ID, due.Seq, int32(due.Attempts), int32(due.MaxAttempts), e}
}

// release lets go of a delivery that does not wait any more.
func (m *memory) release(q queued) {
	m.queued--
	if q.event.queued--; q.event.queued == 0 {
		m.eventBytes -= q.event.size()
	}
	q.event.forget()
}
