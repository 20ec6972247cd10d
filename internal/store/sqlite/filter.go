package sqlite

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// decided reports whether the verdicts of an event are enough for some subscriptions.
func decided(verdicts feedmill.FilterVerdicts, to []match) bool {
	for _, m := range to {
		if _, known := verdicts.Of(m.subscription, m.filter); !known {
			return false
		}
	}
	return true
}

// filter returns the subscriptions whose filters an event matches. It writes a discarded
// delivery for each filter that failed, and records the others. All are decided.
func (w *deliveryWriter) filter(e *feedmill.Event, seq int64, to []match, verdicts feedmill.FilterVerdicts) ([]match, error) {
	matching := make([]match, 0, len(to))
	var filtered []feedmill.ID
	for _, m := range to {
		v, _ := verdicts.Of(m.subscription, m.filter)
		switch {
		case v.Error != "":
			if err := w.discard(newDelivery(e, m, w.maxAttempts), seq, m.ordered, v.Reason()); err != nil {
				return nil, err
			}
		case v.Matches:
			matching = append(matching, m)
		default:
			filtered = append(filtered, m.subscription)
		}
	}
	return matching, w.t.noteFiltered(e, filtered)
}

// filterPromised returns the subscriptions that get an event that is promised, each once.
func (w *deliveryWriter) filterPromised(f *fanout, found []listener, verdicts feedmill.FilterVerdicts) ([]listener, error) {
	found = slices.CompactFunc(slices.Clone(found), func(a, b listener) bool { return a.subscription == b.subscription })
	if !slices.ContainsFunc(found, func(l listener) bool { return l.filter != 0 }) {
		return found, nil
	}
	all := make([]match, len(found))
	for i, l := range found {
		all[i] = l.match
	}
	matching, err := w.filter(&f.event, f.seq, all, verdicts)
	return slices.DeleteFunc(found, func(l listener) bool {
		if len(matching) == 0 || matching[0].subscription != l.subscription {
			return true
		}
		matching = matching[1:]
		return false
	}), err
}

// noteFiltered records that an event did not match the filters of some subscriptions.
func (t *tx) noteFiltered(e *feedmill.Event, subscriptions []feedmill.ID) error {
	if len(subscriptions) == 0 {
		return nil
	}
	known, err := readFiltered(t.row(`SELECT filtered, subscriptions FROM filtered_events WHERE workspace_id = ? AND event_id = ?`, e.Workspace, e.ID))
	if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
		return err
	}
	known.Count += len(subscriptions)
	room := max(feedmill.MaxNamedFiltered-len(known.Subscriptions), 0)
	known.Subscriptions = append(known.Subscriptions, subscriptions[:min(room, len(subscriptions))]...)
	names, err := json.Marshal(known.Subscriptions)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO filtered_events (workspace_id, event_id, filtered, subscriptions) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (workspace_id, event_id) DO UPDATE SET filtered = ?3, subscriptions = ?4`, string(e.Workspace), string(e.ID), known.Count, string(names))
	return err
}

func readFiltered(row record.Row) (f feedmill.Filtered, err error) {
	var names string
	if err := row.Scan(&f.Count, &names); err != nil {
		return f, translate(err)
	}
	return f, json.Unmarshal([]byte(names), &f.Subscriptions)
}

// EventFiltered returns which subscriptions did not get an event because of their filter.
func (db *DB) EventFiltered(ctx context.Context, workspace, event feedmill.ID) (feedmill.Filtered, error) {
	f, err := readFiltered(db.row(ctx, `SELECT filtered, subscriptions FROM filtered_events WHERE workspace_id = ? AND event_id = ?`, workspace, event))
	if errors.Is(err, feedmill.ErrNotFound) {
		return feedmill.Filtered{}, nil
	}
	return f, err
}

// undecided is a promise whose next subscriptions have filters that were not evaluated.
type undecided struct {
	event     feedmill.Event
	listeners []listener
}

// evaluate evaluates the filters of a promise, as many as fit into a step.
func (db *DB) evaluate(u *undecided) (event feedmill.ID, verdicts feedmill.FilterVerdicts) {
	until, filter := time.Now().Add(feedmill.MaxFilterStep), db.options.Filter(u.event.Payload)
	verdicts = make(feedmill.FilterVerdicts)
	for _, l := range u.listeners {
		if l.filterText == "" {
			continue
		}
		verdicts[l.subscription] = filter(l.filterText)
		if time.Now().After(until) {
			break
		}
	}
	return u.event.ID, verdicts
}
