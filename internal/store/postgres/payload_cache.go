package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// payloadCacheBytes bounds each of the two halves of a payloadCache.
const payloadCacheBytes = 8 << 20

// payloadCache remembers the payloads that were accepted or read last: those of an
// event that goes to many subscriptions are asked for once for each of them. It
// has two halves; when one is full the other is forgotten.
type payloadCache struct {
	mu         sync.Mutex
	young, old map[feedmill.ID][]byte
	bytes      int
}

// get returns the payload of an event and whether it is known.
func (c *payloadCache) get(event feedmill.ID) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.young[event]
	if !ok {
		if text, ok = c.old[event]; ok {
			c.add(event, text)
		}
	}
	return text, ok
}

// put remembers the payload of an event.
func (c *payloadCache) put(event feedmill.ID, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(event, text)
}

func (c *payloadCache) add(event feedmill.ID, text []byte) {
	if _, ok := c.young[event]; ok {
		return
	}
	if c.young == nil || c.bytes+len(text)+eventBytes > payloadCacheBytes {
		c.young, c.old, c.bytes = make(map[feedmill.ID][]byte), c.young, 0
	}
	c.young[event] = text
	c.bytes += len(text) + eventBytes
}

// firstPayloads is how many payloads are read before it is known how large they are.
const firstPayloads = 64

// withPayloads adds to deliveries of one workspace what is to be sent, up to the
// bytes that the query allows. One whose event has gone, since it has ended
// meanwhile, is left out.
func (db *DB) withPayloads(ctx context.Context, deliveries []feedmill.Delivery, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	due := make([]feedmill.DueDelivery, 0, len(deliveries))
	total := 0
	for step := firstPayloads; len(deliveries) > 0; {
		if q.MaxBytes == 0 {
			step = len(deliveries)
		}
		step = min(step, len(deliveries))
		texts, err := db.payloadsOf(ctx, deliveries[:step])
		if err != nil {
			return nil, err
		}
		before := total
		for _, d := range deliveries[:step] {
			if text, ok := texts[d.Event]; ok {
				due = append(due, feedmill.DueDelivery{Delivery: d, Payload: text})
				total += len(text)
			}
			if q.MaxBytes > 0 && total >= q.MaxBytes {
				return due, nil
			}
		}
		deliveries = deliveries[step:]
		// As many as the rest of the bytes are for, if they are as large.
		step = max(step*(q.MaxBytes-total)/max(total-before, 1), 1)
	}
	return due, nil
}

// payloadsOf are the payloads of deliveries, by their events.
func (db *DB) payloadsOf(ctx context.Context, deliveries []feedmill.Delivery) (map[feedmill.ID][]byte, error) {
	texts := make(map[feedmill.ID][]byte, len(deliveries))
	days := make(map[time.Time][]string)
	for i := range deliveries {
		event := deliveries[i].Event
		if text, ok := db.payloads.get(event); ok {
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
	return texts, nil
}

// readPayloads reads the payloads of events of one day from its partition: to
// find the partition is most of what it costs to read a few of them through the
// whole table. A day that is not there has none.
func (db *DB) readPayloads(ctx context.Context, texts map[feedmill.ID][]byte, workspace feedmill.ID, day time.Time, ids []string) error {
	slices.Sort(ids)
	// The order is that of the one index that this is to be read by.
	rows, err := db.steady.Query(ctx, `SELECT e.id, e.payload FROM unnest($2::text[]) AS wanted (id)
		CROSS JOIN LATERAL (SELECT id, payload FROM `+partitionName("events", day)+` e
			WHERE (e.workspace_id, e.id) >= ($1, wanted.id) AND e.workspace_id <= $1 ORDER BY e.workspace_id, e.id LIMIT 1) e
		WHERE e.id = wanted.id`, workspace, slices.Compact(ids))
	if err == nil {
		var id feedmill.ID
		var text []byte
		_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
			db.payloads.put(id, text)
			texts[id], text = text, nil
			return nil
		})
	}
	if hasCode(err, undefinedTable) {
		return nil
	}
	return translate(err)
}
