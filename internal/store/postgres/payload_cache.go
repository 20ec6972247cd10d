package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// recentBytes bounds each of the two halves of the payloads that are remembered.
const recentBytes = 8 << 20

// recent remembers the payloads that were accepted or read last: those of an
// event that goes to many subscriptions are asked for once for each of them. It
// has two halves; when one is full the other is forgotten.
type recent struct {
	mu         sync.Mutex
	young, old map[feedmill.ID][]byte
	bytes      int
}

// get answers the payload of an event and whether it is known.
func (r *recent) get(event feedmill.ID) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, ok := r.young[event]
	if !ok {
		if text, ok = r.old[event]; ok {
			r.add(event, text)
		}
	}
	return text, ok
}

// put remembers the payload of an event.
func (r *recent) put(event feedmill.ID, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(event, text)
}

func (r *recent) add(event feedmill.ID, text []byte) {
	if _, ok := r.young[event]; ok {
		return
	}
	if r.young == nil || r.bytes+len(text)+eventBytes > recentBytes {
		r.young, r.old, r.bytes = make(map[feedmill.ID][]byte), r.young, 0
	}
	r.young[event] = text
	r.bytes += len(text) + eventBytes
}

// payloads adds to deliveries of one workspace what is to be sent. One whose
// event has gone, since it has ended meanwhile, is left out.
func (db *DB) payloads(ctx context.Context, deliveries []feedmill.Delivery) ([]feedmill.DueDelivery, error) {
	texts := make(map[feedmill.ID][]byte, len(deliveries))
	days := make(map[time.Time][]string)
	for i := range deliveries {
		event := deliveries[i].Event
		if text, ok := db.recent.get(event); ok {
			texts[event] = text
			continue
		}
		day := dayOf(event.Time())
		days[day] = append(days[day], string(event))
	}
	for day, ids := range days {
		if err := db.readPayloads(ctx, texts, deliveries[0].Workspace, day, ids); err != nil {
			return nil, err
		}
	}
	due := make([]feedmill.DueDelivery, 0, len(deliveries))
	for _, d := range deliveries {
		if text, ok := texts[d.Event]; ok {
			due = append(due, feedmill.DueDelivery{Delivery: d, Payload: text})
		}
	}
	return due, nil
}

// readPayloads reads the payloads of events of one day from its partition: to
// find the partition is most of what it costs to read a few of them through the
// whole table. A day that is not there has none.
func (db *DB) readPayloads(ctx context.Context, texts map[feedmill.ID][]byte, workspace feedmill.ID, day time.Time, ids []string) error {
	slices.Sort(ids)
	rows, err := db.steady.Query(ctx, `SELECT id, payload FROM `+partitionName("events", day)+` WHERE workspace_id = $1 AND id = ANY($2::text[])`,
		workspace, slices.Compact(ids))
	if err == nil {
		var id feedmill.ID
		var text []byte
		_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
			db.recent.put(id, text)
			texts[id], text = text, nil
			return nil
		})
	}
	if hasCode(err, undefinedTable) {
		return nil
	}
	return translate(err)
}
