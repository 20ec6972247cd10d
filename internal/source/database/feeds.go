package database

import (
	"context"
	"errors"
	"iter"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// Feeds are the data feeds of workspaces.
type Feeds interface {
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error)
	// Select runs a tree that was resolved over the columns of the feed's
	// version, with a vector for each of its outputs.
	Select(ctx context.Context, f feedmill.Feed, t *query.Tree) iter.Seq2[[]columnar.Vector, error]
	// Explain is the statement that Select runs, and the values of its parameters.
	Explain(f feedmill.Feed, t *query.Tree) (sql string, args []string)
}

// KindFeed is the kind of a view that is a feed.
const KindFeed ViewKind = "feed"

// feedDatabase is the feeds of a workspace as a database: each is a view, which
// goes by its id.
type feedDatabase struct {
	feeds     Feeds
	workspace feedmill.ID
}

// NewFeedDatabase is the feeds of a workspace as a database.
func NewFeedDatabase(feeds Feeds, workspace feedmill.ID) Database {
	return &feedDatabase{feeds, workspace}
}

func (d *feedDatabase) Ping(context.Context) error { return nil }

func (d *feedDatabase) Close() error { return nil }

// Views lists the feeds.
func (d *feedDatabase) Views(ctx context.Context) (views []View, err error) {
	const step = 500
	for page := (feedmill.Page{Limit: step}); ; {
		feeds, err := d.feeds.Feeds(ctx, d.workspace, page)
		if err != nil {
			return nil, err
		}
		for _, f := range feeds {
			views = append(views, View{Name: string(f.ID), Label: f.Name, Description: f.Description, Kind: KindFeed, RowEstimate: f.RowCount})
			page.Before = f.ID
		}
		if len(feeds) < step {
			return views, nil
		}
	}
}

// Table finds a feed.
func (d *feedDatabase) Table(ctx context.Context, view string, _ feedmill.Rules) (Table, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, view)
	var f feedmill.Feed
	if err == nil {
		f, err = d.feeds.Feed(ctx, d.workspace, id)
	}
	switch {
	case errors.Is(err, feedmill.ErrNotFound):
		return nil, Fail(ProblemView, "No feed with the id "+view+" exists in this workspace.", nil)
	case err != nil:
		return nil, err
	}
	return &feedTable{d.feeds, f}, nil
}

// feedTable is a feed as it stands.
type feedTable struct {
	feeds Feeds
	feed  feedmill.Feed
}

// At is the feed's id.
func (t *feedTable) At() (schema, name string) { return "", string(t.feed.ID) }

// Fields are the columns of the feed. All that can be asked is asked where they are.
func (t *feedTable) Fields() []Field {
	fields := make([]Field, len(t.feed.Columns))
	for i, c := range t.feed.Columns {
		fields[i] = Field{Column: c, Native: string(c.Type), Pushdown: query.Operators(c.Type)}
	}
	return fields
}

func (t *feedTable) Explain(tree *query.Tree) Explanation {
	sql, args := t.feeds.Explain(t.feed, tree)
	return Explanation{SQL: sql, Parameters: args, Ran: func(query.Placed) feedmill.RanIn { return feedmill.RanInSource }}
}

// CannotCompute is the reason why the worker of a feed does not compute a field.
func (t *feedTable) CannotCompute(f *query.Formulas, formula int) string {
	return f.CannotWrite(formula, duckdb.Computed{})
}

// Read runs a query of the feed.
func (t *feedTable) Read(ctx context.Context, tree *query.Tree, out Rows) (Done, error) {
	if t.feed.Version == 0 {
		return Done{}, Fail(ProblemStatement, "The feed "+string(t.feed.ID)+" has no data yet.", nil)
	}
	plan := &query.Plan{Tree: tree}
	for _, o := range tree.Outputs {
		plan.Fetched = append(plan.Fetched, o.Expression)
	}
	finish := NewFinish(plan, out, "")
	if err := finish.Columns(ctx, tree.Columns()); err != nil {
		return Done{}, err
	}
	for run, err := range t.feeds.Select(ctx, t.feed, tree) {
		if err == nil {
			err = finish.Rows(ctx, run)
		}
		if err != nil {
			return Done{}, err
		}
	}
	return finish.End(ctx)
}
