package record

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
)

// errRefused stands for the error of a caller's change inside the transaction,
// where an error can mean more than that the change is to be undone.
var errRefused = errors.New("the change is refused")

// ChangeSource changes a source and its feeds, alone with them.
func (s Store) ChangeSource(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.SourceChange) error) error {
	var refusal error
	err := s.db.WriteWithEvents(ctx, func(tx Tx) ([]feedmill.Event, error) {
		c, err := s.sourceChange(ctx, tx, workspace, id)
		if err != nil {
			return nil, err
		}
		before := NoteSource(&c)
		if refusal = change(&c); refusal != nil {
			return nil, errRefused
		}
		write, err := before.Check(&c)
		if err != nil {
			return nil, err
		}
		for i, f := range c.Feeds {
			was := ""
			if i < len(before.feeds) {
				was = before.feeds[i].feed.TableName
			}
			if err := s.checkTableName(ctx, tx, f, was); err != nil {
				return nil, err
			}
		}
		if err := tx.KeepResponse(ctx, c.IdempotentResponse); err != nil {
			return nil, err
		}
		if err := tx.Send(ctx, append(s.writeSource(before, c, write), Audited(ctx, s.d, workspace, write.made())...)...); err != nil {
			return nil, err
		}
		if err := s.writeParents(ctx, tx, workspace, before.parents, c.Parents); err != nil {
			return nil, err
		}
		for _, v := range c.Versions {
			if err := s.requestChildren(ctx, tx, workspace, v.Feed, v.CreatedAt); err != nil {
				return nil, err
			}
		}
		return c.Events, nil
	})
	if errors.Is(err, errRefused) {
		return refusal
	}
	return err
}

// sourceChange reads a source and its feeds and keeps everybody else from
// changing them.
func (s Store) sourceChange(ctx context.Context, tx Tx, workspace, id feedmill.ID) (c feedmill.SourceChange, err error) {
	if c.Source, err = s.lockSource(ctx, tx, workspace, id); err != nil {
		return c, err
	}
	if err := s.lock(ctx, tx, `feeds WHERE workspace_id = ?1 AND source_id = ?2 ORDER BY id`, workspace, id); err != nil {
		return c, err
	}
	if c.Feeds, err = s.listFeeds(ctx, tx, `WHERE f.workspace_id = ?1 AND f.source_id = ?2 ORDER BY f.id`, workspace, id); err != nil {
		return c, err
	}
	c.Parents, err = s.parentLinks(ctx, tx, workspace, id)
	return c, err
}

func (s Store) writeSource(before NotedSource, c feedmill.SourceChange, w SourceWrite) []Statement {
	workspace := c.Source.Workspace
	all := []Statement{update("sources", SourceChanging, ChangingSource(&c.Source, s.d), workspace, c.Source.ID)}
	for i, f := range w.There {
		all = append(append(all, s.updateFeed(f)), s.keepOthers(&before.feeds[i].feed, &f)...)
	}
	for _, f := range w.Added {
		all = append(all, s.insertFeed(f))
	}
	for _, v := range c.Versions {
		all = append(all, s.insertVersion(c.Feed(v.Feed), v)...)
	}
	for _, r := range w.Replaced {
		all = append(all, Statement{supersede, []any{workspace, r.Feed, r.ID}})
	}
	for i, r := range c.Refreshes {
		all = append(all, s.putRefresh(workspace, r, w.Superseded[i])...)
	}
	for _, trace := range c.Traces {
		all = append(all, putTrace(workspace, trace))
	}
	return all
}
