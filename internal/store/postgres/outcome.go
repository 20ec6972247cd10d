package postgres

import (
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// rounds are the steps that write outcomes. In each round a delivery occurs
// once, so that the second of two outcomes finds what the first has made of it.
func rounds(outcomes []feedmill.Outcome) (steps []func(*pgx.Batch) error) {
	for len(outcomes) > 0 {
		r := &round{counted: make(map[feedmill.ID]bool)}
		var rest []feedmill.Outcome
		seen := make(map[feedmill.ID]bool, len(outcomes))
		for _, o := range outcomes {
			switch {
			case seen[o.Delivery]:
				rest = append(rest, o)
			case o.State.Open():
				r.moved = append(r.moved, o)
			default:
				r.ended = append(r.ended, o)
			}
			seen[o.Delivery] = true
		}
		steps = append(steps, r.writeOpen, r.writeRest)
		outcomes = rest
	}
	return steps
}

// round writes outcomes of different deliveries.
type round struct {
	ended, moved []feedmill.Outcome
	// counted are the deliveries whose attempt was written.
	counted map[feedmill.ID]bool
}

// writeOpen writes the outcomes of deliveries that are open, as nearly all are.
func (r *round) writeOpen(b *pgx.Batch) error {
	r.queue(b, endOpen, r.ended)
	r.queue(b, moveOpen, r.moved)
	return nil
}

// writeRest writes the attempts of deliveries that had ended before, and then
// what endpoints answered.
func (r *round) writeRest(b *pgx.Batch) error {
	all := slices.Concat(r.ended, r.moved)
	r.queue(b, countLate, slices.DeleteFunc(slices.Clone(all), func(o feedmill.Outcome) bool {
		return o.Attempt == nil || r.counted[o.Delivery]
	}))
	queueBodies(b, all)
	return nil
}

// queue runs one of the statements below, in the order of the ids.
func (r *round) queue(b *pgx.Batch, statement string, outcomes []feedmill.Outcome) {
	if len(outcomes) == 0 {
		return
	}
	slices.SortFunc(outcomes, func(x, y feedmill.Outcome) int { return strings.Compare(string(x.Delivery), string(y.Delivery)) })
	each(b.Queue(statement, outcomeArrays(outcomes)...), func(row pgx.Row) error {
		var id feedmill.ID
		if err := row.Scan(&id); err != nil {
			return err
		}
		r.counted[id] = true
		return nil
	})
}

// outcomeArrays are the values of outcomes, column by column.
func outcomeArrays(outcomes []feedmill.Outcome) []any {
	var (
		ids, workspaces, states, reasons, attempts, faults []string
		due, ends, times                                   []time.Time
		statuses                                           []int32
		headers                                            [][]byte
		dns, connect, tls, firstByte, total                []int64
	)
	for _, o := range outcomes {
		ids, workspaces = append(ids, string(o.Delivery)), append(workspaces, string(o.Workspace))
		states, reasons = append(states, string(o.State)), append(reasons, asText(o.Reason))
		due, ends = append(due, o.DueAt), append(ends, o.At)
		var a feedmill.Attempt
		if o.Attempt != nil {
			a = *o.Attempt
		}
		attempts, faults, times = append(attempts, string(a.ID)), append(faults, asText(a.Error)), append(times, a.At)
		statuses, headers = append(statuses, int32(a.Status)), append(headers, encodeHeader(a.Header))
		t := a.Timing
		dns, connect, tls = append(dns, int64(t.DNS)), append(connect, int64(t.Connect)), append(tls, int64(t.TLS))
		firstByte, total = append(firstByte, int64(t.FirstByte)), append(total, int64(t.Total))
	}
	return []any{
		ids, workspaces, states, reasons, due, ends, attempts, times, statuses, faults, headers,
		dns, connect, tls, firstByte, total, ids[0], ids[len(ids)-1],
	}
}

// Every statement takes the arrays above. It begins with the outcomes as the
// table o, in which an empty attempt_id is no attempt, makes the deliveries with
// their new count of attempts the table counted, and writes the attempts with
// those numbers. $17 and $18 are the first and the last delivery: they tell the
// planner what partitions to read.
const (
	endOpen = withOutcomes + `, counted AS (
			DELETE FROM open_deliveries d USING o WHERE d.id = o.id AND d.workspace_id = o.workspace_id
			RETURNING d.id, d.workspace_id, d.subscription_id, d.event_id, d.seq, d.type, d.resource_id, o.state, o.reason,
				d.attempts + o.tried AS attempts, d.budget, d.due_at, d.created_at, o.at AS ended_at, ` + attemptOf + `
		), ended AS (
			INSERT INTO ended_deliveries (` + endedColumns + `) SELECT ` + endedColumns + ` FROM counted
		)` + insertAttempts + ` RETURNING delivery_id`

	moveOpen = withOutcomes + `, counted AS (
			UPDATE open_deliveries d SET state = o.state, reason = o.reason, due_at = o.due_at, attempts = d.attempts + o.tried
			FROM o WHERE d.id = o.id AND d.workspace_id = o.workspace_id AND ` + notCounted + `
			RETURNING d.id, d.attempts, ` + attemptOf + `
		)` + writeAttempts

	countLate = withOutcomes + `, counted AS (
			UPDATE ended_deliveries d SET attempts = d.attempts + 1,
				state = CASE WHEN ` + arrived + ` THEN 'delivered' ELSE d.state END,
				reason = CASE WHEN ` + arrived + ` THEN '' ELSE d.reason END
			FROM o WHERE d.id = o.id AND d.workspace_id = o.workspace_id AND d.id BETWEEN $17 AND $18 AND ` + notCounted + `
			RETURNING d.id, d.attempts, ` + attemptOf + `
		)` + writeAttempts

	// A delivery that arrived while its subscription ended was delivered.
	arrived = `d.state = 'discarded' AND o.state = 'delivered'`

	withOutcomes = `WITH o AS (
			SELECT *, (attempt_id <> '')::integer AS tried
			FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[],
					$8::timestamptz[], $9::integer[], $10::text[], $11::bytea[],
					$12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[])
				AS o (id, workspace_id, state, reason, due_at, at, attempt_id,
					tried_at, status, error, header, dns, connect, tls, first_byte, total)
			WHERE $17::text <= $18::text
		)`

	attemptOf = `o.attempt_id, o.tried_at, o.status, o.error, o.header, o.dns, o.connect, o.tls, o.first_byte, o.total`

	// An outcome that is written a second time, because nobody heard that
	// the first was, is known by its attempt.
	notCounted = `NOT EXISTS (SELECT 1 FROM attempts a
		WHERE a.delivery_id = o.id AND a.id = o.attempt_id AND a.delivery_id BETWEEN $17 AND $18)`

	// An attempt that ends an open delivery is always new: a second time it
	// would not find the delivery open.
	writeAttempts = insertAttempts + ` ON CONFLICT DO NOTHING RETURNING delivery_id`

	insertAttempts = `
		INSERT INTO attempts (delivery_id, id, number, at, status, error, header, dns, connect, tls, first_byte, total)
		SELECT id, attempt_id, attempts, tried_at, status, error, header, dns, connect, tls, first_byte, total
		FROM counted WHERE attempt_id <> ''`
)

// queueBodies writes what endpoints answered to attempts that are written.
func queueBodies(b *pgx.Batch, all []feedmill.Outcome) {
	var deliveries, attempts []string
	var bodies [][]byte
	for _, o := range all {
		if o.Attempt != nil && len(o.Attempt.Body) > 0 {
			deliveries, attempts = append(deliveries, string(o.Delivery)), append(attempts, string(o.Attempt.ID))
			bodies = append(bodies, o.Attempt.Body)
		}
	}
	if len(bodies) == 0 {
		return
	}
	b.Queue(`INSERT INTO attempt_bodies (delivery_id, attempt_id, body)
		SELECT t.* FROM unnest($1::text[], $2::text[], $3::bytea[]) AS t (delivery_id, attempt_id, body)
		JOIN attempts a ON a.delivery_id = t.delivery_id AND a.id = t.attempt_id
		WHERE a.delivery_id BETWEEN $4 AND $5
		ON CONFLICT DO NOTHING`, deliveries, attempts, bodies, slices.Min(deliveries), slices.Max(deliveries))
}
