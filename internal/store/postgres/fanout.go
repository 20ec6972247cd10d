package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// resource is what the events of a workspace are about.
type resource struct {
	workspace feedmill.ID
	id        string
}

// promise is an event whose deliveries are made later.
type promise struct {
	event    feedmill.Event
	attempts int
}

// findPromised learns of which resources of the events deliveries are promised and
// not made yet.
func (a *acceptBatch) findPromised(b *pgx.Batch) {
	var workspaces, ids []string
	seen := make(map[resource]bool)
	for _, c := range a.calls {
		for _, e := range c.events {
			if r := (resource{e.Workspace, e.ResourceID}); !seen[r] {
				seen[r] = true
				workspaces, ids = append(workspaces, string(r.workspace)), append(ids, r.id)
			}
		}
	}
	each(b.Queue(`SELECT e.workspace_id, e.resource_id FROM unnest($1::text[], $2::text[]) AS e (workspace_id, resource_id)
		CROSS JOIN LATERAL (SELECT FROM fanouts f WHERE f.workspace_id = e.workspace_id AND f.resource_id = e.resource_id LIMIT 1) f`, workspaces, ids),
		func(row record.Row) error {
			var r resource
			err := row.Scan(&r.workspace, &r.id)
			a.promised[r] = true
			return err
		})
}

// waitsForPromised reports whether an ordered subscription hears of an event while
// deliveries of its resource are promised: those must be the first.
func (a *acceptBatch) waitsForPromised(e feedmill.Event, to []match) bool {
	return a.promised[resource{e.Workspace, e.ResourceID}] && slices.ContainsFunc(to, func(m match) bool { return m.ordered })
}

func (a *acceptBatch) promise(e feedmill.Event, attempts int) {
	a.promised[resource{e.Workspace, e.ResourceID}] = true
	a.promises = append(a.promises, promise{e, attempts})
}

// insertPromises writes promises, for those who listen at this moment. Nobody
// changes that until they are there to be seen: who did not see them would not
// keep what they need.
func insertPromises(b *pgx.Batch, promises []promise) {
	if len(promises) == 0 {
		return
	}
	texts := make([][]string, 6)
	attempts := make([]int32, len(promises))
	for i, p := range promises {
		name, wildcard, filter := p.event.Match()
		for column, text := range []string{string(p.event.Workspace), string(p.event.ID), p.event.ResourceID, name, wildcard, filter} {
			texts[column] = append(texts[column], text)
		}
		attempts[i] = int32(p.attempts)
	}
	b.Queue(`SELECT FROM workspaces WHERE id = ANY($1::text[]) ORDER BY id FOR SHARE`, texts[0])
	b.Queue(insertPromisedRows, texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], attempts)
}

// insertPromisedRows writes promises, whose moments are in the order of their rows.
var insertPromisedRows = `INSERT INTO fanouts (workspace_id, event_id, resource_id, name, wildcard, filter, attempts)
	SELECT p.* FROM ` + arrays("workspace_id text", "event_id text", "resource_id text", "name text", "wildcard text", "filter text", "attempts integer") + ` p`

// changeTopics is to be queued before what finds subscriptions of a workspace
// changes: it waits for the promises that are being written.
const changeTopics = `SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE`

// removeTopics removes what finds a subscription, before it changes, and keeps it
// for the deliveries that are promised. One that is disabled will not get those,
// although it may be active by then.
func removeTopics(b *pgx.Batch, subscription feedmill.ID, disabled bool, filter string) {
	b.Queue(`INSERT INTO former_topics (workspace_id, topic, resource_id, subscription_id, since, disabled, filter)
		SELECT workspace_id, topic, resource_id, subscription_id, since, $2::boolean, $3 FROM subscription_topics t
		WHERE subscription_id = $1 AND EXISTS (SELECT 1 FROM fanouts f WHERE f.workspace_id = t.workspace_id)`, subscription, disabled, filter)
	if disabled {
		b.Queue(`UPDATE former_topics SET disabled = true WHERE subscription_id = $1`, subscription)
	}
	b.Queue(`DELETE FROM subscription_topics WHERE subscription_id = $1`, subscription)
}

// Fanouts are those of some events whose deliveries are being made, and how many
// have been.
func (db *DB) Fanouts(ctx context.Context, workspace feedmill.ID, events []feedmill.ID) (map[feedmill.ID]int, error) {
	rows, err := db.rows(ctx, `SELECT event_id, made FROM fanouts WHERE workspace_id = $1 AND event_id = ANY($2::text[])`, workspace, events)
	making := make(map[feedmill.ID]int)
	_, err = all(rows, err, func(row record.Row) (struct{}, error) {
		var id feedmill.ID
		var made int
		err := row.Scan(&id, &made)
		making[id] = made
		return struct{}{}, err
	})
	return making, err
}

// fanout is a promise and how far it is kept.
type fanout struct {
	at                     int64
	row                    pgtype.TID // where it stands: no index need be chosen to find it
	reached                feedmill.ID
	name, wildcard, filter string
	attempts               int
	event                  feedmill.Event
	// listeners are the next ones to get it, of whom ask were asked for.
	listeners []listener
	ask       int
}

const fanoutColumns = `f.at, f.ctid, f.reached, f.name, f.wildcard, f.filter, f.attempts, f.workspace_id, f.event_id, f.resource_id`

// nextFanout goes from one workspace to the next, so it costs what there are of
// those and not what is promised to them. Then it locks one at a time, in the order
// of their turns, until it could.
const nextFanout = `WITH RECURSIVE first (workspace_id, at, turn) AS (
		(SELECT workspace_id, at, turn FROM fanouts ORDER BY workspace_id, at LIMIT 1)
		UNION ALL
		SELECT next.* FROM first CROSS JOIN LATERAL (
			SELECT f.workspace_id, f.at, f.turn FROM fanouts f WHERE f.workspace_id > first.workspace_id ORDER BY f.workspace_id, f.at LIMIT 1) next)
	SELECT f.* FROM (SELECT * FROM first ORDER BY turn) w CROSS JOIN LATERAL (
		SELECT ` + fanoutColumns + ` FROM fanouts f WHERE f.workspace_id = w.workspace_id AND f.at BETWEEN w.at AND w.at ORDER BY f.at LIMIT 1 FOR UPDATE SKIP LOCKED) f LIMIT 1`

// endTurn has the other workspaces be the next ones. What another replica is at is passed
// over: it ends the turn itself, and may be waiting for what this one has locked.
const endTurn = `UPDATE fanouts SET turn = nextval('topic_seq')
	WHERE ctid = (SELECT ctid FROM fanouts WHERE workspace_id = $1 ORDER BY at LIMIT 1 FOR UPDATE SKIP LOCKED)`

// StepFanout makes up to limit deliveries that are promised, of the workspace
// that has waited longest and there of the event that was accepted first, or all of that
// event and of those behind it where they are not more than whole. What another replica
// is at is passed over.
func (db *DB) StepFanout(ctx context.Context, now time.Time, size func(feedmill.ID) (limit, whole int)) (due []feedmill.DueDelivery, worked bool, err error) {
	var any bool
	if err := db.steady.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM fanouts)`).Scan(&any); err != nil || !any {
		return nil, false, translate(err)
	}
	var s fanoutStep
	for range fanoutTries {
		verdicts := s
		err = db.withPartitions(ctx, partitionIDs(nil), func() error {
			s = fanoutStep{now: now, size: size, event: verdicts.event, verdicts: verdicts.verdicts}
			return db.pipeline(ctx, s.next, s.read, s.readBehind, s.write)
		})
		if err != nil {
			return nil, false, err
		}
		if s.undecided == nil {
			break
		}
		// Filters are evaluated outside the transaction.
		s.event, s.verdicts = db.evaluate(s.undecided)
	}
	for _, f := range s.promises {
		if len(f.listeners) > 0 {
			db.payloads.put(f.event.ID, f.event.Payload)
		}
	}
	return s.due, len(s.promises) > 0, nil
}

// promisedTo are the subscriptions that a promise is for: those that are found now
// and were at its moment, and those that were found then and changed since.
// A part has each of them once at most, so that none is cut off by others that are
// found twice. It is read by the index of the topics and not by that of the
// subscriptions, because only the first has this order.
var promisedTo = func() string {
	const (
		now  = `(SELECT subscription_id AS id, false AS disabled, NULL AS filter FROM subscription_topics WHERE `
		then = `(SELECT subscription_id AS id, disabled, filter FROM former_topics WHERE until > $6 AND `
	)
	var parts []string
	for _, table := range []string{now, then} {
		for _, topic := range []string{"$2", "$3", "$8"} {
			for _, resource := range []string{`''`, `$4 AND $4 <> ''`} {
				parts = append(parts, table+`workspace_id = ANY (ARRAY[$1]) AND topic = `+topic+` AND resource_id = `+resource+`
					AND subscription_id > $5 AND since < $6 ORDER BY workspace_id, subscription_id LIMIT $7)`)
			}
		}
	}
	return `SELECT m.id, m.disabled OR s.state = 'disabled', s.deleted_at IS NOT NULL, s.attempts, s.ordered, coalesce(m.filter, s.filter)
		FROM (SELECT id, bool_or(disabled) AS disabled, max(filter) AS filter FROM (` + strings.Join(parts, ` UNION ALL `) + `) found GROUP BY id ORDER BY id LIMIT $7) m
		CROSS JOIN LATERAL (SELECT state, deleted_at, attempts, ordered, filter FROM subscriptions WHERE id = m.id OFFSET 0) s ORDER BY m.id`
}()

// fanoutStep is a transaction that makes the next deliveries of promises, in four
// steps: next, read, readBehind and write.
type fanoutStep struct {
	now  time.Time
	size func(workspace feedmill.ID) (limit, whole int)
	// limit and whole are its size.
	limit, whole int

	// promises are those of one workspace that are looked at, in their order: the
	// first, and those behind it where it is not begun.
	promises []*fanout
	seqs     sequence
	due      []feedmill.DueDelivery

	// event is the one whose filters were evaluated, with these verdicts.
	event    feedmill.ID
	verdicts feedmill.FilterVerdicts
	// undecided is set if nothing can be made before filters are evaluated.
	undecided *fanout
	filtered  []filteredEvent
}

// fanoutTries is how often a step is tried: once to find the filters, and again with their
// verdicts.
const fanoutTries = 3

// listener is a subscription that a promise is for.
type listener struct {
	match
	deleted bool
	// filterText is its filter at the moment of the promise.
	filterText string
}

// next finds the promise whose turn it is. A step waits for rows that somebody has
// locked; other statements that are planned once pass over them.
func (s *fanoutStep) next(b *pgx.Batch) error {
	b.Queue(`SET LOCAL lock_timeout = ` + milliseconds(lockPatience))
	each(b.Queue(nextFanout), s.scan)
	return nil
}

func (s *fanoutStep) scan(row record.Row) error {
	f := new(fanout)
	s.promises = append(s.promises, f)
	return row.Scan(&f.at, &f.row, &f.reached, &f.name, &f.wildcard, &f.filter, &f.attempts, &f.event.Workspace, &f.event.ID, &f.event.ResourceID)
}

// read reads the event of the first promise and who is next to get it. Where it is not
// begun it reads as many as tell whether they are few, and finds those behind it.
func (s *fanoutStep) read(b *pgx.Batch) error {
	if len(s.promises) == 0 {
		return nil
	}
	first := s.promises[0]
	s.limit, s.whole = s.size(first.event.Workspace)
	b.Queue(lookAtOrder)
	first.ask = s.limit
	if first.reached == "" { // it is not begun, and may be a small one
		first.ask = max(s.limit, s.whole+1)
		each(b.Queue(`SELECT `+fanoutColumns+` FROM fanouts f WHERE f.workspace_id = ANY (ARRAY[$1]) AND f.at > $2 ORDER BY f.workspace_id, f.at LIMIT $3 FOR UPDATE`,
			first.event.Workspace, first.at, feedmill.MaxKeptAtOnce-1), s.scan)
	}
	first.read(b)
	s.seqs.reserve(b, blocksFor(max(s.limit, s.whole)))
	return nil
}

// readBehind reads the same for the promises behind one that few hear of, as many as
// there is room for if as many hear of each.
func (s *fanoutStep) readBehind(b *pgx.Batch) error {
	if len(s.promises) == 0 {
		return nil
	}
	few := len(s.promises[0].listeners)
	room := max(s.whole-few, 0)
	if !s.promises[0].ends() {
		room = 0
	}
	s.promises = s.promises[:min(len(s.promises), 1+room/max(few, 1))]
	for _, f := range s.promises[1:] {
		f.ask = room + 1
		f.read(b)
	}
	return nil
}

// read reads an event and who is next to get it.
func (f *fanout) read(b *pgx.Batch) {
	e := &f.event
	b.Queue(`SELECT type, payload FROM events WHERE workspace_id = $1 AND id BETWEEN $2 AND $2 ORDER BY id LIMIT 1 FOR KEY SHARE`, e.Workspace, e.ID).QueryRow(func(row pgx.Row) error {
		return row.Scan(&e.Type, &e.Payload)
	})
	each(b.Queue(promisedTo, e.Workspace, f.name, f.wildcard, f.filter, f.reached, f.at, f.ask, feedmill.Everything(f.name)), func(row record.Row) error {
		var l listener
		err := row.Scan(&l.subscription, &l.disabled, &l.deleted, &l.attempts, &l.ordered, &l.filterText)
		l.filter = feedmill.FilterKey(l.filterText)
		f.listeners = append(f.listeners, l)
		return err
	})
}

// ends reports whether nobody else is to get the event.
func (f *fanout) ends() bool { return len(f.listeners) < f.ask }

// write queues the deliveries and how far the promises are kept.
func (s *fanoutStep) write(b *pgx.Batch) error {
	if len(s.promises) == 0 {
		return nil
	}
	made, first := 0, s.promises[0]
	for i, f := range s.promises {
		if i > 0 && made+len(f.listeners) > s.whole {
			s.promises = s.promises[:i] // it has a step of its own
			break
		}
		ends := f.ends()
		if !ends {
			f.listeners = f.listeners[:s.limit]
		}
		if n := s.decided(f); n < len(f.listeners) {
			if i > 0 {
				s.promises = s.promises[:i] // its filters are evaluated in a step of its own
				break
			}
			if n == 0 {
				s.undecided = f
				return nil
			}
			f.listeners, ends = f.listeners[:n], false
		}
		created := s.makeDeliveries(b, f, made)
		made += len(f.listeners)
		if ends {
			b.Queue(`DELETE FROM fanouts WHERE ctid = $1`, f.row)
		} else {
			b.Queue(`UPDATE fanouts SET reached = $1, made = made + $2 WHERE ctid = $3`, f.listeners[len(f.listeners)-1].subscription, created, f.row)
		}
	}
	insertFiltered(b, s.filtered)
	b.Queue(endTurn, first.event.Workspace)
	b.Queue(`DELETE FROM former_topics WHERE workspace_id = $1 AND NOT EXISTS (SELECT 1 FROM fanouts WHERE workspace_id = $1)`, first.event.Workspace)
	return nil
}

// makeDeliveries queues the deliveries of a promise, which come behind some others, and
// returns how many there are. The verdicts are enough for all of them.
func (s *fanoutStep) makeDeliveries(b *pgx.Batch, f *fanout, before int) (created int) {
	e := f.event
	var open, disabled, deleted []feedmill.Delivery
	var ordered []bool
	var filtered []feedmill.ID
	for i, l := range f.listeners {
		verdict, _ := s.verdicts.Of(l.subscription, l.filter)
		if !verdict.Matches && verdict.Error == "" {
			filtered = append(filtered, l.subscription)
			continue
		}
		created++
		d := newDelivery(e, l.subscription, cmp.Or(l.attempts, f.attempts), s.now)
		d.Seq = s.seqs.seq(before + i)
		switch {
		case l.deleted:
			deleted = append(deleted, discarded(d, discardReason(verdict, feedmill.DiscardedDeleted)))
		case l.disabled || verdict.Error != "":
			disabled = append(disabled, discarded(d, discardReason(verdict, feedmill.DiscardedDisabled)))
		default:
			open, ordered = append(open, d), append(ordered, l.ordered)
			s.due = append(s.due, feedmill.DueDelivery{Delivery: d, Payload: e.Payload})
		}
	}
	insertOpen(b, open, ordered, true)
	insertDiscarded(b, disabled, true)
	insertDiscarded(b, deleted, true)
	s.filtered = appendFiltered(s.filtered, e, filtered)
	return created
}
