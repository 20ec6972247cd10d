package feed

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// Lineage finds what a feed is built from, and what is built from it, in however many steps.
func (f *Feeds) Lineage(ctx context.Context, of feedmill.Feed) (feedmill.Lineage, error) {
	w := lineageWalk{feeds: f, workspace: of.Workspace, steps: map[feedmill.ID]int{of.ID: 0}}
	w.add(of, false)
	up := func(ctx context.Context, id feedmill.ID) ([]feedmill.ID, error) {
		return f.Store.FeedParents(ctx, of.Workspace, id)
	}
	down := func(ctx context.Context, id feedmill.ID) (ids []feedmill.ID, err error) {
		children, err := f.Store.FeedChildren(ctx, of.Workspace, id)
		for _, c := range children {
			ids = append(ids, c.ID)
		}
		return ids, err
	}
	if err := w.walk(ctx, of.ID, -1, up); err != nil {
		return feedmill.Lineage{}, err
	}
	if err := w.walk(ctx, of.ID, 1, down); err != nil {
		return feedmill.Lineage{}, err
	}
	w.finish()
	return w.lineage, nil
}

// lineageWalk collects a lineage.
type lineageWalk struct {
	feeds     *Feeds
	workspace feedmill.ID
	lineage   feedmill.Lineage
	// steps has the feeds that were found.
	steps map[feedmill.ID]int
}

// walk adds the feeds in one direction, the nearest first.
func (w *lineageWalk) walk(ctx context.Context, from feedmill.ID, direction int, neighbours func(context.Context, feedmill.ID) ([]feedmill.ID, error)) error {
	for next := []feedmill.ID{from}; len(next) > 0; next = next[1:] {
		ids, err := neighbours(ctx, next[0])
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, found := w.steps[id]; found {
				continue
			}
			if len(w.lineage.Feeds) == feedmill.MaxLineage {
				w.lineage.Cut = true
				return nil
			}
			feed, err := w.feeds.Store.Feed(ctx, w.workspace, id)
			if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
				return err
			}
			w.steps[id] = w.steps[next[0]] + direction
			feed.ID = id
			w.add(feed, err != nil)
			next = append(next, id)
		}
	}
	return nil
}

// add adds a feed and what it reads.
func (w *lineageWalk) add(f feedmill.Feed, deleted bool) {
	n := feedmill.LineageFeed{
		ID: f.ID, Name: f.Name, Type: f.Type, State: f.State, Stale: f.Stale, Version: f.Version, Schedule: f.Schedule, UpdatedAt: f.UpdatedAt,
		Deleted: deleted, Step: w.steps[f.ID],
	}
	if f.LastError != nil {
		short := *f.LastError
		short.Source = nil // the response of the source is on the feed itself
		n.LastError = &short
	}
	w.lineage.Feeds = append(w.lineage.Feeds, n)
	kind, err := w.feeds.source(f.Type)
	if deleted || err != nil {
		return // a deleted feed and an upload read nothing
	}
	upstream := kind.Upstream(f.Position)
	for _, p := range kind.Parents(f.Spec) {
		r := feedmill.LineageRead{Reader: f.ID, Read: p.ID, Use: useOf(p.Pointer)}
		for _, u := range upstream {
			if u.ID == p.ID || u.ID == "" && u.Version > 0 { // the first releases did not keep the id
				r.Version = u.Version
			}
		}
		w.lineage.Reads = append(w.lineage.Reads, r)
	}
}

// finish drops the reads of feeds that are not part of the lineage, and counts the versions since
// each read.
func (w *lineageWalk) finish() {
	current := make(map[feedmill.ID]int64, len(w.lineage.Feeds))
	for _, f := range w.lineage.Feeds {
		current[f.ID] = f.Version
	}
	w.lineage.Reads = slices.DeleteFunc(w.lineage.Reads, func(r feedmill.LineageRead) bool {
		_, found := current[r.Read]
		return !found
	})
	for i := range w.lineage.Reads {
		if r := &w.lineage.Reads[i]; r.Version > 0 {
			r.Behind = max(current[r.Read]-r.Version, 0)
		}
	}
}

// useOf is how a feed is used that is named at a place of a definition.
func useOf(pointer string) feedmill.LineageUse {
	switch {
	case strings.HasPrefix(pointer, "/each/"):
		return feedmill.UseEach
	case strings.Contains(pointer, "/joins/"):
		return feedmill.UseJoin
	}
	return feedmill.UseView
}
