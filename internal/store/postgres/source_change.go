package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// ChangeSource changes a source and its feeds, alone with them.
func (db *DB) ChangeSource(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.SourceChange) error, maxAttempts int) ([]feedmill.DueDelivery, error) {
	var refusal error
	due, err := db.telling(ctx, nil, maxAttempts, func(tx tx, p *publication) error {
		c, err := tx.sourceChange(ctx, workspace, id)
		if err != nil {
			return err
		}
		before := record.NoteSource(&c)
		if refusal = change(&c); refusal != nil {
			return refusal
		}
		write, err := before.Check(&c)
		if err != nil {
			return err
		}
		p.events = c.Events
		if err := tx.keep(ctx, c.IdempotentResponse); err != nil {
			return err
		}
		return tx.writeSourceChange(ctx, c, write)
	})
	if refusal != nil {
		return nil, refusal // as it is, whatever it would mean coming from the server
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
		queueSource(b, c.Source)
		for _, f := range w.There {
			queueFeed(b, f)
		}
		for _, f := range w.Added {
			queueNewFeed(b, f)
		}
		for _, v := range c.Versions {
			queueVersion(b, workspace, v)
		}
		for _, r := range w.Replaced {
			b.Queue(supersede, workspace, r.Feed, r.ID)
		}
		for i, r := range c.Refreshes {
			queueRefresh(b, workspace, r, w.Superseded[i])
		}
		for _, trace := range c.Traces {
			b.Queue(`INSERT INTO refresh_traces (workspace_id, feed_id, refresh_id, trace) VALUES ($1, $2, $3, $4)
				ON CONFLICT (workspace_id, feed_id, refresh_id) DO UPDATE SET trace = excluded.trace`,
				workspace, trace.Feed, trace.Refresh, record.PackedJSON(&trace.Requests))
		}
		return nil
	})
}
