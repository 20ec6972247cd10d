package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// errRefused stands for the error of a caller's change inside the transaction,
// where an error can mean more than that the change is to be undone.
var errRefused = errors.New("the change is refused")

// ChangeSource changes a source and its feeds, alone with them.
func (db *DB) ChangeSource(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.SourceChange) error, maxAttempts int) ([]feedmill.DueDelivery, error) {
	var refusal error
	due, err := db.writeWithEvents(ctx, maxAttempts, func(tx tx) ([]feedmill.Event, error) {
		c, err := tx.sourceChange(ctx, workspace, id)
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
		if err := tx.keepResponse(ctx, c.IdempotentResponse); err != nil {
			return nil, err
		}
		return c.Events, tx.writeSourceChange(ctx, c, write)
	})
	if errors.Is(err, errRefused) {
		return nil, refusal
	}
	return due, err
}

// sourceChange reads a source and its feeds and keeps everybody else from
// changing them. A lock comes before what is read under it: what one statement
// finds, after it has waited for a lock, can be of two moments.
func (t tx) sourceChange(ctx context.Context, workspace, id feedmill.ID) (c feedmill.SourceChange, err error) {
	if c.Source, err = t.lockSource(ctx, workspace, id); err != nil {
		return c, err
	}
	err = t.send(ctx, func(b *pgx.Batch) error {
		b.Queue(`SELECT 1 FROM feeds WHERE workspace_id = $1 AND source_id = $2 ORDER BY id FOR UPDATE`, workspace, id)
		each(b.Queue(selectFeeds+`WHERE f.workspace_id = $1 AND f.source_id = $2 ORDER BY f.id`, workspace, id),
			func(row record.Row) error {
				f, err := scanFeed(row)
				c.Feeds = append(c.Feeds, f)
				return err
			})
		return nil
	})
	return c, err
}

func (t tx) writeSourceChange(ctx context.Context, c feedmill.SourceChange, w record.SourceWrite) error {
	workspace := c.Source.Workspace
	return t.send(ctx, func(b *pgx.Batch) error {
		updateSource(b, c.Source)
		for _, f := range w.There {
			updateFeed(b, f)
		}
		for _, f := range w.Added {
			insertFeed(b, f)
		}
		for _, v := range c.Versions {
			insertVersion(b, workspace, v)
		}
		for _, r := range w.Replaced {
			b.Queue(supersede, workspace, r.Feed, r.ID)
		}
		for i, r := range c.Refreshes {
			putRefresh(b, workspace, r, w.Superseded[i])
		}
		for _, trace := range c.Traces {
			b.Queue(`INSERT INTO refresh_traces (workspace_id, feed_id, refresh_id, trace) VALUES ($1, $2, $3, $4)
				ON CONFLICT (workspace_id, feed_id, refresh_id) DO UPDATE SET trace = excluded.trace`,
				workspace, trace.Feed, trace.Refresh, record.PackedJSON(&trace.Requests))
		}
		return nil
	})
}
