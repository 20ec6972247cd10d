package feed

import (
	"context"
	"errors"
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
	before := int64(-1)
	if l.before.Version > 0 {
		before = l.before.RowCount
	}
	results, err := m.checkRows(ctx, expected, v, before)
	if err != nil {
		return err
	}
	l.refresh.Checks = results
	var broken []string
	for _, r := range results {
		if !r.Passed {
			broken = append(broken, brokenCheck(expected, r))
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

// brokenCheck is what is wrong with rows that did not pass a check.
func brokenCheck(expected feedmill.ExpectedRows, r feedmill.CheckResult) string {
	switch {
	case r.Missing:
		return fmt.Sprintf("column %q is missing", r.Column)
	case r.Check == feedmill.CheckMinRows:
		return fmt.Sprintf("the new version has %d rows; minRows is %d", r.Found, expected.MinRows)
	case r.Check == feedmill.CheckMaxDrop:
		return fmt.Sprintf("the number of rows drops to %d from %d; maxDrop is %g", r.Found, r.Before, *expected.MaxDrop)
	case r.Check == feedmill.CheckNotNull:
		return fmt.Sprintf("column %q is null in %d rows (notNull)", r.Column, r.Found)
	}
	return fmt.Sprintf("column %q has %d values that occur in several rows (unique)", r.Column, r.Found)
}

// checkRows checks the rows of a version. before is the number of rows of the version before,
// negative where there is none, which maxDrop then passes.
func (m *Mill) checkRows(ctx context.Context, expected feedmill.ExpectedRows, v *lake.Version, before int64) (results []feedmill.CheckResult, err error) {
	if expected.MinRows > 0 {
		results = append(results, feedmill.CheckResult{Check: feedmill.CheckMinRows, Passed: v.Rows >= expected.MinRows, Found: v.Rows})
	}
	if expected.MaxDrop != nil {
		kept := before < 0 || float64(before-v.Rows) <= *expected.MaxDrop*float64(before)
		results = append(results, feedmill.CheckResult{Check: feedmill.CheckMaxDrop, Passed: kept, Found: v.Rows, Before: max(before, 0)})
	}
	for _, of := range []struct {
		check string
		names []string
		count func(context.Context, *lake.Version, []string) (int64, error)
	}{{feedmill.CheckNotNull, expected.NotNull, m.Reader.CountNulls}, {feedmill.CheckUnique, expected.Unique, m.Reader.CountRepeated}} {
		for _, name := range of.names {
			r := feedmill.CheckResult{Check: of.check, Column: name}
			if ids := columnIDs(v.Columns, []string{name}); ids == nil {
				r.Missing = true
			} else if r.Found, err = of.count(ctx, v, ids); err != nil {
				return nil, err
			}
			r.Passed = !r.Missing && r.Found == 0
			results = append(results, r)
		}
	}
	return results, nil
}

// Checks checks the current version of a feed against what is expected of its rows.
func (f *Feeds) Checks(ctx context.Context, feed feedmill.Feed) ([]feedmill.CheckResult, error) {
	if feed.Version == 0 || feed.Expects.Rows.IsZero() {
		return nil, nil
	}
	v, err := f.Versions.FeedVersion(ctx, feed.Workspace, feed.ID, feed.Version)
	if err != nil {
		return nil, err
	}
	before := int64(-1)
	if feed.Expects.Rows.MaxDrop != nil && feed.Version > 1 {
		switch previous, err := f.Versions.FeedVersion(ctx, feed.Workspace, feed.ID, feed.Version-1); {
		case err == nil:
			before = previous.Rows
		case !errors.Is(err, feedmill.ErrNotFound) && !errors.Is(err, feedmill.ErrGone):
			return nil, err
		}
	}
	return f.checkRows(ctx, feed.Expects.Rows, lakeVersion(v), before)
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
