package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// parentLinks reads the links of a source's feeds to their parents.
func (s Store) parentLinks(ctx context.Context, r Reader, workspace, source feedmill.ID) ([]feedmill.ParentLink, error) {
	return list(ctx, r, s, parentLink, `SELECT p.child_id, p.parent_id, COALESCE(f.version, 0), p.seen_version
		FROM feeds c JOIN feed_parents p ON p.workspace_id = c.workspace_id AND p.child_id = c.id
		LEFT JOIN feeds f ON f.workspace_id = p.workspace_id AND f.id = p.parent_id
		WHERE c.workspace_id = ?1 AND c.source_id = ?2 ORDER BY p.child_id, p.parent_id`, workspace, source)
}

func parentLink(l *feedmill.ParentLink, _ Kinds) []any {
	return []any{&l.Child, &l.Parent, &l.Version, &l.Seen}
}

// writeParents replaces links of feeds to their parents. A feed that would be built from
// its own rows is [feedmill.ErrOwnParent].
func (s Store) writeParents(ctx context.Context, tx Tx, workspace feedmill.ID, was, links []feedmill.ParentLink) error {
	var write []Statement
	var added []feedmill.ParentLink
	for _, l := range was {
		if !slices.ContainsFunc(links, sameFeeds(l)) {
			write = append(write, Statement{`DELETE FROM feed_parents WHERE workspace_id = ?1 AND child_id = ?2 AND parent_id = ?3`, []any{workspace, l.Child, l.Parent}})
		}
	}
	for _, l := range links {
		switch at := slices.IndexFunc(was, sameFeeds(l)); {
		case at < 0:
			added = append(added, l)
			write = append(write, insert("feed_parents", `workspace_id, child_id, parent_id, seen_version`, workspace, l.Child, l.Parent, l.Seen))
		case was[at].Seen != l.Seen:
			write = append(write, Statement{
				`UPDATE feed_parents SET seen_version = ?4 WHERE workspace_id = ?1 AND child_id = ?2 AND parent_id = ?3`, []any{workspace, l.Child, l.Parent, l.Seen},
			})
		}
	}
	if len(added) > 0 && s.d.LockWorkspace != "" {
		// Two requests could each add a part of a cycle.
		if _, err := tx.Run(ctx, s.d.LockWorkspace, workspace); err != nil {
			return err
		}
	}
	for _, l := range added {
		// A version that the parent is getting is committed before, or finds the link.
		if err := s.lock(ctx, tx, `feeds WHERE workspace_id = ?1 AND id = ?2`, workspace, l.Parent); err != nil {
			return err
		}
	}
	if err := tx.Send(ctx, write...); err != nil {
		return err
	}
	for _, l := range added {
		var own int64
		err := tx.One(ctx, `WITH RECURSIVE above (id) AS (
				SELECT parent_id FROM feed_parents WHERE workspace_id = ?1 AND child_id = ?2
				UNION SELECT p.parent_id FROM feed_parents p JOIN above a ON p.child_id = a.id WHERE p.workspace_id = ?1
			) SELECT count(*) FROM above WHERE id = ?2`, []any{workspace, l.Child}, &own)
		if err != nil {
			return err
		}
		if own > 0 {
			return feedmill.ErrOwnParent
		}
	}
	return nil
}

func sameFeeds(l feedmill.ParentLink) func(feedmill.ParentLink) bool {
	return func(other feedmill.ParentLink) bool { return other.Child == l.Child && other.Parent == l.Parent }
}

// requestChildren requests refreshes of the feeds that are built from a feed that has a
// new version or was deleted.
func (s Store) requestChildren(ctx context.Context, tx Tx, workspace, parent feedmill.ID, at time.Time) error {
	var sources []feedmill.ID
	err := tx.Each(ctx, func(row Row) error {
		var id feedmill.ID
		err := row.Scan(&id)
		sources = append(sources, id)
		return err
	}, `SELECT DISTINCT c.source_id FROM feed_parents p JOIN feeds c ON c.workspace_id = p.workspace_id AND c.id = p.child_id
		WHERE p.workspace_id = ?1 AND p.parent_id = ?2 ORDER BY c.source_id`, workspace, parent)
	if err != nil {
		return err
	}
	for _, id := range sources {
		c, err := s.sourceChange(ctx, tx, workspace, id)
		if errors.Is(err, feedmill.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		before := NoteSource(&c)
		if c.Follow(parent, at); len(c.Refreshes) == 0 {
			continue
		}
		write, err := before.Check(&c)
		if err != nil {
			return err
		}
		if err := tx.Send(ctx, s.writeSource(before, c, write)...); err != nil {
			return err
		}
	}
	return nil
}

// FeedParents lists the feeds that a feed is built from.
func (s Store) FeedParents(ctx context.Context, workspace, id feedmill.ID) (parents []feedmill.ID, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var parent feedmill.ID
		err := row.Scan(&parent)
		parents = append(parents, parent)
		return err
	}, `SELECT parent_id FROM feed_parents WHERE workspace_id = ?1 AND child_id = ?2 ORDER BY parent_id`, workspace, id)
	return parents, err
}

// FeedChildren lists the feeds that are built from a feed, newest first.
func (s Store) FeedChildren(ctx context.Context, workspace, id feedmill.ID) ([]feedmill.FeedReference, error) {
	return list(ctx, s.db, s, func(r *feedmill.FeedReference, _ Kinds) []any { return []any{&r.ID, &r.Name} },
		`SELECT c.id, c.name FROM feed_parents p JOIN feeds c ON c.workspace_id = p.workspace_id AND c.id = p.child_id
		WHERE p.workspace_id = ?1 AND p.parent_id = ?2 ORDER BY c.id DESC`, workspace, id)
}

// UnlinkedFeeds lists feeds of earlier releases whose definitions have not been searched
// for parents yet.
func (s Store) UnlinkedFeeds(ctx context.Context, limit int) ([]feedmill.Feed, error) {
	return s.listFeeds(ctx, s.db, `JOIN unlinked_feeds u ON u.workspace_id = f.workspace_id AND u.feed_id = f.id ORDER BY f.workspace_id, f.id LIMIT ?1`, limit)
}

// MarkLinked notes that a feed has the links to its parents.
func (s Store) MarkLinked(ctx context.Context, workspace, id feedmill.ID) error {
	return s.db.Write(ctx, func(tx Tx) error {
		_, err := tx.Run(ctx, `DELETE FROM unlinked_feeds WHERE workspace_id = ?1 AND feed_id = ?2`, workspace, id)
		return err
	})
}
