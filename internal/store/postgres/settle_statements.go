package postgres

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// All statements here are planned once, maybe while the tables are empty, when to
// read all of a table seems the best way to find a row. So they leave the planner
// no choice: a row is changed where its id = ANY of an array of one, which only an
// index by that id can answer and no join by order; and OFFSET 0 has a subquery
// run for each row, by the index of what it compares. An order that only one index
// has tells it from others that have the same column further behind.

// endArrived ends deliveries with their first attempt. An attempt that does is
// always new: a second time it would not find the delivery untried.
var endArrived = `WITH gone AS (
		DELETE FROM open_deliveries d
		USING ` + arrays("id text", "workspace_id text", "at timestamptz", "attempt_id text", "attempt bytea", "replica text") + ` o
		WHERE d.id = ANY (ARRAY[o.id]) AND d.workspace_id = o.workspace_id AND d.attempts = 0 AND ` + inOwnSlot + `
		RETURNING ` + keptColumns + `, o.at, o.attempt_id, o.attempt)
	INSERT INTO ended_deliveries (` + endingColumns + `, ended_at, final_id, final_attempt, state, reason, attempts, final_number)
	SELECT *, 'delivered', '', 1, 1 FROM gone`

// inOwnSlot is the condition that whoever settles an open delivery has its slot
// still. Where nobody is named it does not matter.
const inOwnSlot = `(o.replica = '' OR EXISTS (SELECT 1 FROM slots s WHERE s.slot = d.slot AND s.owner = o.replica OFFSET 0))`

// keptColumns are endingColumns of an open delivery.
const keptColumns = `d.id, d.workspace_id, d.subscription_id, d.event_id, d.seq, d.type, d.resource_id, d.budget, d.apart`

// arrivedArrays are the values of endArrived.
func arrivedArrays(outcomes []*feedmill.Outcome) []any {
	n := len(outcomes)
	texts := make([]string, 4*n)
	ids, workspaces, attempts, replicas := texts[:n:n], texts[n:2*n:2*n], texts[2*n:3*n:3*n], texts[3*n:]
	ends, packed := make([]time.Time, n), make([][]byte, n)
	var b []byte
	for i, o := range outcomes {
		ids[i], workspaces[i], attempts[i], ends[i] = string(o.Delivery), string(o.Workspace), string(o.Attempt.ID), o.At
		replicas[i] = o.By
		from := len(b)
		b = packAttempt(b, o.Attempt)
		packed[i] = b[from:len(b):len(b)]
	}
	return []any{ids, workspaces, ends, attempts, packed, replicas}
}

// endOpen ends deliveries, most of which were tried before, some of them with
// an attempt. $9 and $10, the first and the last of the deliveries, say what
// partitions to read.
var endOpen = `WITH gone AS (
		DELETE FROM open_deliveries d
		USING ` + arrays("id text", "workspace_id text", "at timestamptz", "attempt_id text", "attempt bytea", "state text", "reason text", "replica text") + ` o
		WHERE d.id = ANY (ARRAY[o.id]) AND d.workspace_id = o.workspace_id AND NOT EXISTS (SELECT 1 FROM attempts a
			WHERE a.delivery_id = o.id AND a.id = o.attempt_id AND a.delivery_id BETWEEN $9 AND $10 OFFSET 0) AND ` + inOwnSlot + `
		RETURNING ` + keptColumns + `, o.at, o.attempt_id, o.attempt, o.state, o.reason,
			d.attempts + (o.attempt_id IS NOT NULL)::integer, CASE WHEN o.attempt_id IS NOT NULL THEN d.attempts + 1 END)
	INSERT INTO ended_deliveries (` + endingColumns + `, ended_at, final_id, final_attempt, state, reason, attempts, final_number)
	SELECT * FROM gone`

// endedArrays are the values of endOpen.
func endedArrays(outcomes []*feedmill.Outcome) []any {
	n := len(outcomes)
	ids, workspaces, attempts := make([]string, n), make([]string, n), make([]*string, n)
	states, reasons, replicas := make([]string, n), make([]string, n), make([]string, n)
	ends, packed := make([]time.Time, n), make([][]byte, n)
	for i, o := range outcomes {
		ids[i], workspaces[i], ends[i] = string(o.Delivery), string(o.Workspace), o.At
		states[i], reasons[i], replicas[i] = string(o.State), asText(o.Reason), o.By
		if o.Attempt != nil {
			attempts[i], packed[i] = (*string)(&o.Attempt.ID), packAttempt(nil, o.Attempt)
		}
	}
	return []any{ids, workspaces, ends, attempts, packed, states, reasons, replicas, ids[0], ids[n-1]}
}

// moveOpen and countEnded take attemptArrays. They begin with the outcomes as the
// table o, in which an empty attempt_id is no attempt, make the deliveries with
// their new count of attempts the table counted, and write the attempts with
// those numbers. $17 and $18 are the first and the last delivery: they tell the
// planner what partitions to read.
var (
	// moveOpen leaves deliveries open, for another attempt.
	moveOpen = withOutcomes + `, counted AS (
			UPDATE open_deliveries d SET state = o.state, reason = o.reason, due_at = o.due_at, attempts = d.attempts + o.tried
			FROM o WHERE d.id = ANY (ARRAY[o.id]) AND d.workspace_id = o.workspace_id AND ` + notCounted + ` AND ` + inOwnSlot + `
			RETURNING d.id, d.attempts, ` + attemptOf + `
		)` + writeAttempts

	// countEnded counts attempts of deliveries that have ended already.
	countEnded = withOutcomes + `, counted AS (
			UPDATE ended_deliveries d SET attempts = d.attempts + 1,
				state = CASE WHEN ` + arrived + ` THEN 'delivered' ELSE d.state END,
				reason = CASE WHEN ` + arrived + ` THEN '' ELSE d.reason END
			FROM o WHERE d.id = ANY (ARRAY[o.id]) AND d.workspace_id = o.workspace_id
				AND d.final_id IS DISTINCT FROM o.attempt_id AND ` + notCounted + `
			RETURNING d.id, d.attempts, ` + attemptOf + `
		)` + writeAttempts

	withOutcomes = `WITH o AS (
			SELECT *, (attempt_id <> '')::integer AS tried FROM ` +
		arrays("id text", "workspace_id text", "state text", "reason text", "due_at timestamptz", "attempt_id text",
			"tried_at timestamptz", "status integer", "error text", "header bytea", "dns bigint", "connect bigint", "tls bigint",
			"first_byte bigint", "total bigint", "replica text") + ` o
			WHERE $17::text <= $18::text
		)`
)

const (
	// A delivery that arrived while its subscription ended was delivered.
	arrived = `d.state = 'discarded' AND o.state = 'delivered'`

	attemptOf = `o.attempt_id, o.tried_at, o.status, o.error, o.header, o.dns, o.connect, o.tls, o.first_byte, o.total`

	// An outcome that is written a second time, because nobody heard that
	// the first was, is known by its attempt.
	notCounted = `NOT EXISTS (SELECT 1 FROM attempts a
		WHERE a.delivery_id = o.id AND a.id = o.attempt_id AND a.delivery_id BETWEEN $17 AND $18 OFFSET 0)`

	writeAttempts = `
		INSERT INTO attempts (` + attemptColumns + `)
		SELECT id, attempt_id, attempts, tried_at, status, error, header, dns, connect, tls, first_byte, total
		FROM counted WHERE attempt_id <> '' ON CONFLICT DO NOTHING`
)

// attemptArrays are the values of moveOpen and countEnded, column by column.
func attemptArrays(outcomes []*feedmill.Outcome) []any {
	var (
		ids, workspaces, states, reasons, attempts, faults, replicas []string
		due, times                                                   []time.Time
		statuses                                                     []int32
		headers                                                      [][]byte
		dns, connect, tls, firstByte, total                          []int64
	)
	for _, o := range outcomes {
		ids, workspaces, replicas = append(ids, string(o.Delivery)), append(workspaces, string(o.Workspace)), append(replicas, o.By)
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
		dns, connect, tls, firstByte, total, replicas, ids[0], ids[len(ids)-1],
	}
}

// insertBodies writes the bodies of the responses to attempts that are written.
func insertBodies(b *pgx.Batch, all []*feedmill.Outcome) {
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
		`attempts a WHERE a.delivery_id = t.delivery_id AND a.id = t.attempt_id AND a.delivery_id BETWEEN $4 AND $5`,
		`ended_deliveries e WHERE e.id BETWEEN t.delivery_id AND t.delivery_id AND e.final_id = t.attempt_id AND e.id BETWEEN $4 AND $5
			ORDER BY e.id`,
	} {
		b.Queue(`INSERT INTO attempt_bodies (delivery_id, attempt_id, body)
			SELECT t.* FROM unnest($1::text[], $2::text[], $3::bytea[]) AS t (delivery_id, attempt_id, body)
			WHERE EXISTS (SELECT 1 FROM `+written+` OFFSET 0) ON CONFLICT DO NOTHING`, deliveries, attempts, bodies, slices.Min(deliveries), slices.Max(deliveries))
	}
}
