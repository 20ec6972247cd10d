package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// promise notes that the deliveries of an event are to be made, for those who
// listen at this moment.
func (t *tx) promise(e feedmill.Event, seq int64) error {
	at, err := t.moment()
	if err != nil {
		return err
	}
	name, wildcard, filter := e.Match()
	_, err = t.exec(`INSERT INTO fanouts (event_seq, workspace_id, event_id, resource_id, name, wildcard, filter, attempts, at, reached, made, turn)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, '', 0, ?9)`, seq, e.Workspace, e.ID, e.ResourceID, name, wildcard, filter, t.attempts, at)
	return err
}

// moment is one behind all others, in the order of the changes of who listens to
// what, of promises and of turns.
func (t *tx) moment() (feedmill.ID, error) {
	m := feedmill.NewID(feedmill.PrefixEvent)
	_, err := t.exec(`UPDATE newest_moment SET id = ? WHERE one = 1`, string(m))
	return m, err
}

// isPromised reports whether deliveries of a resource are promised and not made
// yet: what comes after them must wait for those to be first in the order of an
// ordered subscription.
func (t *tx) isPromised(workspace feedmill.ID, resource string) (promised bool, err error) {
	err = t.row(`SELECT EXISTS (SELECT 1 FROM fanouts WHERE workspace_id = ? AND resource_id = ?)`, workspace, resource).Scan(&promised)
	return promised, translate(err)
}

// keepFormerTopics keeps what finds a subscription, before it changes, for the
// deliveries that are promised.
func (t *tx) keepFormerTopics(subscription feedmill.ID, filter string) error {
	until, err := t.moment()
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO former_topics (workspace_id, topic, resource_id, subscription_id, since, until, disabled, filter)
		SELECT workspace_id, topic, resource_id, subscription_id, since, ?, disabled, ? FROM subscription_topics t
		WHERE subscription_id = ? AND EXISTS (SELECT 1 FROM fanouts f WHERE f.workspace_id = t.workspace_id)`, until, filter, subscription)
	return err
}

// wasDisabled makes what is promised to a subscription that is disabled be
// discarded, although it will be active by then.
func (t *tx) wasDisabled(subscription feedmill.ID) error {
	_, err := t.exec(`UPDATE former_topics SET disabled = 1 WHERE subscription_id = ?`, subscription)
	return err
}

// Fanouts are those of some events whose deliveries are being made, and how many
// have been.
func (db *DB) Fanouts(ctx context.Context, workspace feedmill.ID, events []feedmill.ID) (map[feedmill.ID]int, error) {
	var any bool
	if err := db.row(ctx, `SELECT EXISTS (SELECT 1 FROM fanouts)`).Scan(&any); err != nil || !any {
		return nil, translate(err)
	}
	making := make(map[feedmill.ID]int)
	for _, id := range events {
		var made int
		err := db.row(ctx, `SELECT made FROM fanouts WHERE event_seq = (SELECT seq FROM events WHERE workspace_id = ? AND id = ?)`, workspace, id).Scan(&made)
		if err == nil {
			making[id] = made
		} else if !errors.Is(err, sql.ErrNoRows) {
			return nil, translate(err)
		}
	}
	return making, nil
}

// fanout is a promise and how far it is kept.
type fanout struct {
	seq                    int64
	at                     string
	reached                feedmill.ID
	name, wildcard, filter string
	attempts               int
	event                  feedmill.Event
}

// nextFanout goes from one workspace to the next, so it costs what there are of
// those and not what is promised to them.
const nextFanout = `WITH RECURSIVE waiting (id) AS (
		SELECT min(workspace_id) FROM fanouts
		UNION ALL
		SELECT (SELECT min(workspace_id) FROM fanouts WHERE workspace_id > waiting.id) FROM waiting WHERE waiting.id IS NOT NULL)
	SELECT f.event_seq FROM waiting CROSS JOIN fanouts f ON f.event_seq = (SELECT min(event_seq) FROM fanouts WHERE workspace_id = waiting.id)
	ORDER BY f.turn LIMIT 1`

// StepFanout makes up to limit deliveries that are promised, of the workspace
// that has waited longest and there of the event that was accepted first, or all of
// that event and of those behind it where they are not more than whole.
func (db *DB) StepFanout(ctx context.Context, _ time.Time, size func(feedmill.ID) (limit, whole int)) (due []feedmill.DueDelivery, worked bool, err error) {
	// Which one is looked for beside the writer.
	var next int64
	err = db.row(ctx, nextFanout).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, translate(err)
	}
	step := fanoutStep{size: size}
	for range fanoutTries {
		err = db.write(ctx, func(tx *tx) (err error) {
			step.undecided = nil
			due, worked, err = tx.stepFanout(next, &step)
			return err
		})
		if err != nil {
			return nil, false, err
		}
		if step.undecided == nil {
			return due, worked, nil
		}
		// Filters are evaluated beside the writer.
		step.event, step.verdicts = db.evaluate(step.undecided)
	}
	return nil, true, nil // another step goes on
}

// fanoutTries is how often a step is tried: once to find the filters, and again with their
// verdicts.
const fanoutTries = 3

// fanoutStep is what a step of fan-outs goes by.
type fanoutStep struct {
	size func(feedmill.ID) (limit, whole int)
	// event is the one whose filters were evaluated, with these verdicts.
	event    feedmill.ID
	verdicts feedmill.FilterVerdicts
	// undecided is set if nothing can be made before filters are evaluated.
	undecided *undecided
}

// decided is how many of the next subscriptions, from the first, the verdicts are enough for.
func (s *fanoutStep) decided(event feedmill.ID, next []listener) int {
	var verdicts feedmill.FilterVerdicts
	if event == s.event {
		verdicts = s.verdicts
	}
	for i, l := range next {
		if _, known := verdicts.Of(l.subscription, l.filter); !known {
			return i
		}
	}
	return len(next)
}

// stepFanout makes the next deliveries of a promise, and then of those behind it that fit
// into the step as a whole.
func (t *tx) stepFanout(seq int64, step *fanoutStep) (due []feedmill.DueDelivery, worked bool, err error) {
	f, ok, err := t.promisedBy(`f.event_seq = ?`, seq)
	if err != nil || !ok {
		return nil, false, err
	}
	workspace := f.event.Workspace
	limit, whole := step.size(workspace)
	ask := limit
	if f.reached == "" { // it is not begun, and may be a small one
		ask = max(limit, whole+1)
	} else {
		whole = 0
	}
	found, err := t.listeners(f, ask)
	if err != nil {
		return nil, false, err
	}
	ended := len(found) < ask
	if !ended {
		found = found[:limit]
	}
	if n := step.decided(f.event.ID, found); n < len(found) {
		if n == 0 {
			step.undecided = &undecided{f.event, found}
			return nil, false, nil
		}
		found, ended = found[:n], false
	}
	due, err = t.makePromised(f, found, ended, step.verdicts)
	room := whole - len(found)
	for kept := 1; err == nil && ended && room > 0 && kept < feedmill.MaxKeptAtOnce; kept++ {
		f, ok, err = t.promisedBy(`f.event_seq = (SELECT min(event_seq) FROM fanouts WHERE workspace_id = ?)`, workspace)
		if err != nil || !ok {
			break
		}
		if found, err = t.listeners(f, room+1); err != nil || len(found) > room || step.decided(f.event.ID, found) < len(found) {
			break
		}
		var more []feedmill.DueDelivery
		more, err = t.makePromised(f, found, true, nil)
		due, room = append(due, more...), room-len(found)
	}
	if err != nil {
		return nil, false, err
	}
	return due, true, t.endTurn(workspace)
}

// promisedBy is the promise that a condition finds, if there is one.
func (t *tx) promisedBy(where string, value any) (f fanout, ok bool, err error) {
	err = t.row(`SELECT f.event_seq, f.at, f.reached, f.name, f.wildcard, f.filter, f.attempts, e.id, e.workspace_id, e.type, e.resource_id, e.payload
		FROM fanouts f CROSS JOIN events e ON e.seq = f.event_seq WHERE `+where, value).
		Scan(&f.seq, &f.at, &f.reached, &f.name, &f.wildcard, &f.filter, &f.attempts, &f.event.ID, &f.event.Workspace, &f.event.Type, &f.event.ResourceID, &f.event.Payload)
	if errors.Is(err, sql.ErrNoRows) {
		return f, false, nil
	}
	return f, err == nil, translate(err)
}

// The subscriptions that a promise is for: those that are found now and were at
// its moment, and those that were found then and changed since.
const (
	promisedNow  = `SELECT subscription_id AS id, 0 AS disabled, NULL AS filter FROM subscription_topics WHERE workspace_id = ?1 AND topic = %s AND resource_id = %s AND subscription_id > ?5 AND since < ?6`
	promisedThen = `SELECT subscription_id AS id, disabled, filter FROM former_topics WHERE workspace_id = ?1 AND topic = %s AND resource_id = %s AND subscription_id > ?5 AND since < ?6 AND until > ?6`
)

// The statements that list them, in the order of their ids; one can be found twice.
var (
	promisedUnfiltered = promisedTo(false)
	promisedFiltered   = promisedTo(true)
)

func promisedTo(filtered bool) string {
	var parts []string
	for _, table := range []string{promisedNow, promisedThen} {
		for _, topic := range []string{"?2", "?3", "?8"} {
			parts = append(parts, fmt.Sprintf(table, topic, "''"))
			if filtered {
				parts = append(parts, fmt.Sprintf(table, topic, "?4"))
			}
		}
	}
	// Where there is no filter its value is named all the same.
	return `SELECT f.id, f.disabled, s.state = 'disabled', s.deleted_at IS NOT NULL, s.ordered, s.retries, coalesce(f.filter, s.filter)
		FROM (` + strings.Join(parts, " UNION ALL ") + ` ORDER BY id LIMIT CASE WHEN ?4 IS NULL THEN 0 ELSE ?7 END) f
		CROSS JOIN subscriptions s ON s.id = f.id ORDER BY f.id`
}

// listener is a subscription that a promise is for.
type listener struct {
	match
	deleted bool
	// filterText is its filter at the moment of the promise.
	filterText string
}

// listeners are the next ones that a promise is for.
func (t *tx) listeners(f fanout, limit int) ([]listener, error) {
	query := promisedUnfiltered
	if f.filter != "" {
		query = promisedFiltered
	}
	rows, err := t.rows(query, f.event.Workspace, f.name, f.wildcard, f.filter, f.reached, f.at, limit, feedmill.Everything(f.name))
	return all(rows, err, func(row record.Row) (l listener, err error) {
		var then bool
		var own feedmill.DeliverySettings
		err = row.Scan(&l.subscription, &then, &l.disabled, &l.deleted, &l.ordered, record.Waits(&own.Retries), &l.filterText)
		l.disabled, l.attempts, l.filter = l.disabled || then, own.Attempts(0), feedmill.FilterKey(l.filterText)
		return l, err
	})
}

// makePromised makes deliveries of a promise, the last ones where it ends. The verdicts are
// enough for all of them.
func (t *tx) makePromised(f fanout, found []listener, ends bool, verdicts feedmill.FilterVerdicts) (due []feedmill.DueDelivery, err error) {
	w, made := t.writeDeliveries(f.attempts), 0
	to, err := w.filterPromised(&f, found, verdicts)
	if err != nil {
		return nil, err
	}
	for _, l := range to {
		made++
		if l.deleted {
			err = w.discard(newDelivery(&f.event, match{subscription: l.subscription}, f.attempts), f.seq, l.ordered, feedmill.DiscardedDeleted)
		} else {
			err = w.add(&f.event, f.seq, []match{l.match})
		}
		if err != nil {
			return nil, err
		}
	}
	if due, err = w.end(); err != nil {
		return nil, err
	}
	if ends {
		_, err = t.exec(`DELETE FROM fanouts WHERE event_seq = ?`, f.seq)
	} else {
		_, err = t.exec(`UPDATE fanouts SET reached = ?, made = made + ? WHERE event_seq = ?`, found[len(found)-1].subscription, made, f.seq)
	}
	return due, err
}

// endTurn puts a workspace behind the others that have promises, and forgets what it needs
// for none any more.
func (t *tx) endTurn(workspace feedmill.ID) error {
	turn, err := t.moment()
	if err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE fanouts SET turn = ? WHERE event_seq = (SELECT min(event_seq) FROM fanouts WHERE workspace_id = ?)`, turn, workspace); err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM former_topics WHERE workspace_id = ?1 AND NOT EXISTS (SELECT 1 FROM fanouts WHERE workspace_id = ?1)`, workspace)
	return err
}
