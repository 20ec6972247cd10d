package sqlite

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// errRefused stands for the error of a caller's change inside the transaction,
// where an error can mean more than that the change is to be undone.
var errRefused = errors.New("the change is refused")

// ChangeSource changes a source and its feeds, alone with them.
func (db *DB) ChangeSource(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.SourceChange) error, maxAttempts int) ([]feedmill.DueDelivery, error) {
	var refusal error
	due, err := db.writeWithEvents(ctx, maxAttempts, func(tx *tx) ([]feedmill.Event, error) {
		c, err := tx.sourceChange(workspace, id)
		if err != nil {
			return nil, err
		}
		before := record.NoteSource(&c)
		if refusal = change(&c); refusal != nil {
			return nil, errRefused
		}
		write, err := before.Check(&c)
		if err != nil {
			return nil, err
		}
		if err := tx.keepResponse(c.IdempotentResponse); err != nil {
			return nil, err
		}
		return c.Events, tx.writeSourceChange(c, write)
	})
	if errors.Is(err, errRefused) {
		return nil, refusal
	}
	return due, err
}

// sourceChange reads a source and its feeds.
func (t *tx) sourceChange(workspace, id feedmill.ID) (c feedmill.SourceChange, err error) {
	if c.Source, err = scanSource(t.row(oneSource, workspace, id)); err != nil {
		return c, err
	}
	rows, err := t.rows(selectFeeds+`WHERE f.workspace_id = ? AND f.source_id = ? ORDER BY f.id`, workspace, id)
	c.Feeds, err = all(rows, err, scanFeed)
	return c, err
}

func (t *tx) writeSourceChange(c feedmill.SourceChange, w record.SourceWrite) error {
	workspace := c.Source.Workspace
	if err := t.updateSource(c.Source); err != nil {
		return err
	}
	for _, f := range w.There {
		if err := t.updateFeed(f); err != nil {
			return err
		}
	}
	for _, f := range w.Added {
		if err := t.insertFeed(f); err != nil {
			return err
		}
	}
	for _, v := range c.Versions {
		if err := t.insertVersion(workspace, v); err != nil {
			return err
		}
	}
	for _, r := range w.Replaced {
		if _, err := t.exec(supersede, workspace, r.Feed, r.ID); err != nil {
			return err
		}
	}
	for i, r := range c.Refreshes {
		if err := t.putRefresh(workspace, r, w.Superseded[i]); err != nil {
			return err
		}
	}
	for _, trace := range c.Traces {
		if _, err := t.exec(`INSERT INTO refresh_traces (workspace_id, feed_id, refresh_id, trace) VALUES (?, ?, ?, ?)
			ON CONFLICT (workspace_id, feed_id, refresh_id) DO UPDATE SET trace = excluded.trace`,
			workspace, trace.Feed, trace.Refresh, record.PackedJSON(&trace.Requests)); err != nil {
			return err
		}
	}
	return nil
}
