package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// memory is what the deliveries that wait take of it, over all lanes, and how
// much they may.
type memory struct {
	maxQueued int // deliveries of all lanes
	maxLane   int // and of one

	queued int
	// expected is how many deliveries are being read to be queued.
	expected int
	// events are those of the deliveries that are queued, and payloadBytes
	// what their texts take.
	events       map[feedmill.ID]*event
	payloadBytes int
}

const (
	// maxQueuedBytes bounds what the deliveries that wait take of memory, their
	// payloads included.
	maxQueuedBytes = 48 << 20
	// itemBytes is about how much memory a delivery takes while it waits,
	// without its payload.
	itemBytes = 128
	// laneFloor is how many deliveries of a lane may wait in memory however
	// full it is, so that slow lanes cannot make all others read one by one.
	laneFloor = 32
)

// room is how many more deliveries may wait in memory.
func (m *memory) room() int {
	if m.payloadBytes+m.queued*itemBytes >= maxQueuedBytes {
		return 0
	}
	return m.maxQueued - m.queued - m.expected
}

// fits reports whether one more delivery of a lane may wait in memory.
func (m *memory) fits(queued int) bool {
	return queued < min(laneFloor, m.maxLane) || (queued < m.maxLane && m.room() > 0)
}

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

// event is what the deliveries of an event have in common, kept once for all
// that wait.
type event struct {
	id      feedmill.ID
	kind    string
	payload []byte
	users   int
}

// hold makes of a delivery what is kept of it while it waits.
func (m *memory) hold(due feedmill.DueDelivery) queued {
	e, ok := m.events[due.Event]
	if !ok {
		e = &event{id: due.Event, kind: due.Type, payload: due.Payload}
		m.events[due.Event] = e
		m.payloadBytes += len(e.payload)
	}
	e.users++
	m.queued++
	return queued{due.ID, due.Seq, int32(due.Attempts), int32(due.MaxAttempts), e}
}

// release lets go of a delivery that does not wait any more.
func (m *memory) release(q queued) {
	m.queued--
	if q.event.users--; q.event.users == 0 {
		m.payloadBytes -= len(q.event.payload)
		delete(m.events, q.event.id)
	}
}
