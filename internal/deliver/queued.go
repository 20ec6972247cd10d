package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// queued is a delivery that waits in memory: what is needed to send it and no
// more, since there can be many.
type queued struct {
	id          feedmill.ID
	seq         int64
	attempts    int32
	maxAttempts int32
	of          *event
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

// eventsKept are the events of the deliveries that wait in memory.
type eventsKept struct {
	of map[feedmill.ID]*event
	// bytes is what the payloads take.
	bytes int
}

// take makes of a delivery what is kept of it while it waits.
func (k *eventsKept) take(due feedmill.DueDelivery) queued {
	e, ok := k.of[due.Event]
	if !ok {
		if k.of == nil {
			k.of = make(map[feedmill.ID]*event)
		}
		e = &event{id: due.Event, kind: due.Type, payload: due.Payload}
		k.of[due.Event] = e
		k.bytes += len(e.payload)
	}
	e.users++
	return queued{due.ID, due.Seq, int32(due.Attempts), int32(due.MaxAttempts), e}
}

// drop lets go of an event for a delivery that does not wait any more.
func (k *eventsKept) drop(q queued) {
	if q.of.users--; q.of.users == 0 {
		k.bytes -= len(q.of.payload)
		delete(k.of, q.of.id)
	}
}
