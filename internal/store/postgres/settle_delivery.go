package postgres

import (
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
)

// rounds are the steps that write outcomes. In each round a delivery occurs
// once, so that the second of two outcomes finds what the first has made of it.
func rounds(outcomes []feedmill.Outcome) (steps []func(*pgx.Batch) error) {
	for len(outcomes) > 0 {
		r := &round{}
		var rest []feedmill.Outcome
		seen := make(map[feedmill.ID]struct{}, len(outcomes))
		for i := range outcomes {
			o := &outcomes[i]
			if _, ok := seen[o.Delivery]; ok {
				rest = append(rest, *o)
				continue
			}
			seen[o.Delivery] = struct{}{}
			switch {
			case arrivedAtOnce(o):
				r.arrived = append(r.arrived, o)
			case o.State.Open():
				r.moved = append(r.moved, o)
			default:
				r.ended = append(r.ended, o)
			}
		}
		steps = append(steps, r.writeOpen, r.writeRest)
		outcomes = rest
	}
	return steps
}

// arrivedAtOnce reports whether the first attempt of a delivery succeeded, as
// nearly every one does.
func arrivedAtOnce(o *feedmill.Outcome) bool {
	return o.State == feedmill.DeliveryDelivered && o.Reason == "" && o.Attempt != nil && o.Attempt.Number == 1 && len(o.Attempt.Body) == 0
}

// round writes outcomes of different deliveries.
type round struct {
	arrived, ended, moved []*feedmill.Outcome
	// found and foundArrived count the outcomes that found their delivery as
	// they should, of all and of those in arrived.
	found, foundArrived int
}

// writeOpen writes the outcomes of deliveries that are open, as nearly all are.
func (r *round) writeOpen(b *pgx.Batch) error {
	r.queue(b, endArrived, arrivedArrays, r.arrived, &r.foundArrived)
	r.queue(b, endOpen, endedArrays, r.ended, &r.found)
	r.queue(b, moveOpen, attemptArrays, r.moved, &r.found)
	return nil
}

// writeRest writes what is left, and then what endpoints answered. What has been
// written already it passes over.
func (r *round) writeRest(b *pgx.Batch) error {
	rest := slices.Concat(r.ended, r.moved)
	var found int
	if r.foundArrived < len(r.arrived) {
		// Some had been tried before, or had ended.
		r.queue(b, endOpen, endedArrays, r.arrived, &found)
		rest = append(rest, r.arrived...)
	}
	tried := slices.DeleteFunc(rest, func(o *feedmill.Outcome) bool { return o.Attempt == nil })
	if r.found < len(tried) {
		r.queue(b, countLate, attemptArrays, tried, &found)
	}
	queueBodies(b, tried)
	return nil
}

// queue runs one of the statements below and counts the rows that it writes. The
// order is the one in which every transaction locks deliveries.
func (r *round) queue(b *pgx.Batch, statement string, values func([]*feedmill.Outcome) []any, outcomes []*feedmill.Outcome, count *int) {
	if len(outcomes) == 0 {
		return
	}
	slices.SortFunc(outcomes, func(x, y *feedmill.Outcome) int { return strings.Compare(string(x.Delivery), string(y.Delivery)) })
	b.Queue(statement, values(outcomes)...).Exec(func(tag pgconn.CommandTag) error {
		*count += int(tag.RowsAffected())
		return nil
	})
}

// endArrived ends deliveries with their first attempt. An attempt that does is
// always new: a second time it would not find the delivery untried.
const endArrived = `WITH gone AS (
		DELETE FROM open_deliveries d
		USING unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::bytea[]) AS o (id, workspace_id, at, attempt_id, attempt)
		WHERE d.id = o.id AND d.workspace_id = o.workspace_id AND d.attempts = 0
		RETURNING ` + keptColumns + `, o.at, o.attempt_id, o.attempt)
	INSERT INTO ended_deliveries (` + endingColumns + `, ended_at, final_id, final_attempt, state, reason, attempts, final_number)
	SELECT *, 'delivered', '', 1, 1 FROM gone`

// keptColumns are endingColumns of an open delivery.
const keptColumns = `d.id, d.workspace_id, d.subscription_id, d.event_id, d.seq, d.type, d.resource_id, d.budget, d.apart`

// arrivedArrays are the values of endArrived.
func arrivedArrays(outcomes []*feedmill.Outcome) []any {
	n := len(outcomes)
	texts := make([]string, 3*n)
	ids, workspaces, attempts := texts[:n:n], texts[n:2*n:2*n], texts[2*n:]
	ends, packed := make([]time.Time, n), make([][]byte, n)
	var b []byte
	for i, o := range outcomes {
		ids[i], workspaces[i], attempts[i], ends[i] = string(o.Delivery), string(o.Workspace), string(o.Attempt.ID), o.At
		from := len(b)
		b = packAttempt(b, o.Attempt)
		packed[i] = b[from:len(b):len(b)]
	}
	return []any{ids, workspaces, ends, attempts, packed}
}

// endOpen ends deliveries, most of which were tried before, some of them with
// an attempt. $8 and $9, the first and the last of the deliveries, say what
// partitions to read.
const endOpen = `WITH gone AS (
		DELETE FROM open_deliveries d
		USING unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::bytea[], $6::text[], $7::text[])
			AS o (id, workspace_id, at, attempt_id, attempt, state, reason)
		WHERE d.id = o.id AND d.workspace_id = o.workspace_id AND NOT EXISTS (SELECT 1 FROM attempts a
			WHERE a.delivery_id = o.id AND a.id = o.attempt_id AND a.delivery_id BETWEEN $8 AND $9)
		RETURNING ` + keptColumns + `, o.at, o.attempt_id, o.attempt, o.state, o.reason,
			d.attempts + (o.attempt_id IS NOT NULL)::integer, CASE WHEN o.attempt_id IS NOT NULL THEN d.attempts + 1 END)
	INSERT INTO ended_deliveries (` + endingColumns + `, ended_at, final_id, final_attempt, state, reason, attempts, final_number)
	SELECT * FROM gone`

// endedArrays are the values of endOpen.
func endedArrays(outcomes []*feedmill.Outcome) []any {
	n := len(outcomes)
	ids, workspaces, attempts := make([]string, n), make([]string, n), make([]*string, n)
	states, reasons := make([]string, n), make([]string, n)
	ends, packed := make([]time.Time, n), make([][]byte, n)
	for i, o := range outcomes {
		ids[i], workspaces[i], ends[i] = string(o.Delivery), string(o.Workspace), o.At
		states[i], reasons[i] = string(o.State), asText(o.Reason)
		if o.Attempt != nil {
			attempts[i], packed[i] = (*string)(&o.Attempt.ID), packAttempt(nil, o.Attempt)
		}
	}
	return []any{ids, workspaces, ends, attempts, packed, states, reasons, ids[0], ids[n-1]}
}

// attemptArrays are the values of moveOpen and countLate, column by column.
func attemptArrays(outcomes []*feedmill.Outcome) []any {
	var (
		ids, workspaces, states, reasons, attempts, faults []string
		due, times                                         []time.Time
		statuses                                           []int32
		headers                                            [][]byte
		dns, connect, tls, firstByte, total                []int64
	)
	for _, o := range outcomes {
		ids, workspaces = append(ids, string(o.Delivery)), append(workspaces, string(o.Workspace))
		states, reasons, due = append(states, string(o.State)), append(reasons, asText(o.Reason)), append(due, o.DueAt)
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
		ids, workspaces, states, reasons, due, attempts, times, statuses, faults, headers,
		dns, connect, tls, firstByte, total, ids[0], ids[len(ids)-1],
	}
}

// Both statements take the arrays above. They begin with the outcomes as the
// table o, in which an empty attempt_id is no attempt, make the deliveries with
// their new count of attempts the table counted, and write the attempts with
// those numbers. $16 and $17 are the first and the last delivery: they tell the
// planner what partitions to read.
const (
	moveOpen = withOutcomes + `, counted AS (
			UPDATE open_deliveries d SET state = o.state, reason = o.reason, due_at = o.due_at, attempts = d.attempts + o.tried
			FROM o WHERE d.id = o.id AND d.workspace_id = o.workspace_id AND ` + notCounted + `
			RETURNING d.id, d.attempts, ` + attemptOf + `
		)` + writeAttempts

	countLate = withOutcomes + `, counted AS (
			UPDATE ended_deliveries d SET attempts = d.attempts + 1,
				state = CASE WHEN ` + arrived + ` THEN 'delivered' ELSE d.state END,
				reason = CASE WHEN ` + arrived + ` THEN '' ELSE d.reason END
			FROM o WHERE d.id = o.id AND d.workspace_id = o.workspace_id AND d.id BETWEEN $16 AND $17
				AND d.final_id IS DISTINCT FROM o.attempt_id AND ` + notCounted + `
			RETURNING d.id, d.attempts, ` + attemptOf + `
		)` + writeAttempts

	// A delivery that arrived while its subscription ended was delivered.
	arrived = `d.state = 'discarded' AND o.state = 'delivered'`

	withOutcomes = `WITH o AS (
			SELECT *, (attempt_id <> '')::integer AS tried
			FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[],
					$7::timestamptz[], $8::integer[], $9::text[], $10::bytea[],
					$11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[])
				AS o (id, workspace_id, state, reason, due_at, attempt_id,
					tried_at, status, error, header, dns, connect, tls, first_byte, total)
			WHERE $16::text <= $17::text
		)`

	attemptOf = `o.attempt_id, o.tried_at, o.status, o.error, o.header, o.dns, o.connect, o.tls, o.first_byte, o.total`

	// An outcome that is written a second time, because nobody heard that
	// the first was, is known by its attempt.
	notCounted = `NOT EXISTS (SELECT 1 FROM attempts a
		WHERE a.delivery_id = o.id AND a.id = o.attempt_id AND a.delivery_id BETWEEN $16 AND $17)`

	writeAttempts = `
		INSERT INTO attempts (` + attemptColumns + `)
		SELECT id, attempt_id, attempts, tried_at, status, error, header, dns, connect, tls, first_byte, total
		FROM counted WHERE attempt_id <> '' ON CONFLICT DO NOTHING`
)

// queueBodies writes what endpoints answered to attempts that are written.
func queueBodies(b *pgx.Batch, all []*feedmill.Outcome) {
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
	for _, written := range []string{
		`attempts a ON a.delivery_id = t.delivery_id AND a.id = t.attempt_id WHERE a.delivery_id BETWEEN $4 AND $5`,
		`ended_deliveries e ON e.id = t.delivery_id AND e.final_id = t.attempt_id WHERE e.id BETWEEN $4 AND $5`,
	} {
		b.Queue(`INSERT INTO attempt_bodies (delivery_id, attempt_id, body)
			SELECT t.* FROM unnest($1::text[], $2::text[], $3::bytea[]) AS t (delivery_id, attempt_id, body)
			JOIN `+written+` ON CONFLICT DO NOTHING`, deliveries, attempts, bodies, slices.Min(deliveries), slices.Max(deliveries))
	}
}
