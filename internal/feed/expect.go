package feed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// wantFrozen refuses columns that are not those of a feed whose columns are frozen. What
// somebody has set himself is no such difference, nor is a column that the data lacks.
func (l *loading) wantFrozen(columns []feedmill.Column) error {
	if l.before.Version == 0 || l.before.Expects.Schema != feedmill.SchemaFreeze {
		return nil
	}
	var found []string
	for _, c := range columns {
		at := slices.IndexFunc(l.before.Columns, func(had feedmill.Column) bool { return had.ID == c.ID })
		switch {
		case at < 0:
			found = append(found, fmt.Sprintf("column %q is new", c.Name))
		case c.Type != l.before.Columns[at].Type && !c.Fixed:
			found = append(found, fmt.Sprintf("column %q has %s values, but its type is %s", c.Name, c.Type, l.before.Columns[at].Type))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &feedmill.Error{
		Kind: feedmill.ErrUnprocessable, Type: "frozen-columns",
		Detail: "The columns of the feed are frozen: " + strings.Join(found, ", ") + ". Set schemaPolicy to widen to accept these changes.",
	}
}

// wantExpected refuses a version that is not what the owner of the feed expects.
func (m *Mill) wantExpected(ctx context.Context, l *loading, v *lake.Version) error {
	expected := l.before.Expects.Rows
	if expected.IsZero() || l.accept || l.before.Expects.Accept {
		return nil
	}
	var broken []string
	if v.Rows < expected.MinRows {
		broken = append(broken, fmt.Sprintf("the new version has %d rows; minRows is %d", v.Rows, expected.MinRows))
	}
	if lost := l.before.RowCount - v.Rows; expected.MaxDrop != nil && l.before.Version > 0 && float64(lost) > *expected.MaxDrop*float64(l.before.RowCount) {
		broken = append(broken, fmt.Sprintf("the number of rows drops to %d from %d; maxDrop is %g", v.Rows, l.before.RowCount, *expected.MaxDrop))
	}
	for _, name := range expected.Columns() {
		if !slices.ContainsFunc(v.Columns, func(c feedmill.Column) bool { return c.Name == name }) {
			broken = append(broken, fmt.Sprintf("column %q is missing", name))
		}
	}
	for _, name := range expected.NotNull {
		n, err := m.Reader.CountNulls(ctx, v, columnIDs(v.Columns, []string{name}))
		if err != nil {
			return err
		}
		if n > 0 {
			broken = append(broken, fmt.Sprintf("column %q is null in %d rows (notNull)", name, n))
		}
	}
	for _, name := range expected.Unique {
		n, err := m.Reader.CountRepeated(ctx, v, columnIDs(v.Columns, []string{name}))
		if err != nil {
			return err
		}
		if n > 0 {
			broken = append(broken, fmt.Sprintf("column %q has %d values that occur in several rows (unique)", name, n))
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return &feedmill.Error{
		Kind: feedmill.ErrUnprocessable, Type: "unexpected-rows",
		Detail: "The rows do not meet the feed's expectations: " + strings.Join(broken, "; ") + ". The feed keeps its previous version. Send accept=true to accept these rows once.",
	}
}

// checkExpected refuses to expect something of columns that a feed with columns has not.
func checkExpected(feed *feedmill.Feed, expected feedmill.ExpectedRows) error {
	if feed.Version == 0 {
		return nil
	}
	var faults feedmill.Faults
	for member, names := range map[string][]string{"notNull": expected.NotNull, "unique": expected.Unique} {
		for i, name := range names {
			if columnIDs(feed.Columns, []string{name}) == nil {
				faults.Note(fmt.Sprintf("/expect/%s/%d", member, i), fmt.Sprintf("The feed has no column %q.", name))
			}
		}
	}
	return faults.Refusal()
}

// GoStale makes feeds stale that had no new data for longer than expected, a few at a
// time, and tells of each once.
func (f *Feeds) GoStale(ctx context.Context, at time.Time) (more bool, err error) {
	const step = 50
	found, err := f.Store.StaleFeeds(ctx, at, step)
	if err != nil {
		return false, err
	}
	for _, feed := range found {
		// Nobody has asked for it, so the audit log does not tell of it.
		_, err := f.Store.ChangeFeed(feedmill.WithoutAudit(ctx), feed.Workspace, feed.ID, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			if !feed.GoStale(at) {
				return nil, nil, nil
			}
			events, err := f.Events.of(*feed, feedmill.NewsStale)
			return nil, events, err
		})
		if err != nil {
			return false, err
		}
	}
	return len(found) == step, nil
}
