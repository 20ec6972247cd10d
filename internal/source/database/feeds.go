package database

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// Feeds are the data feeds of workspaces.
type Feeds interface {
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error)
	// Select runs a tree that was resolved over the columns of the feeds'
	// versions, with a vector for each of its outputs. The tree joins all feeds but the first.
	Select(ctx context.Context, feeds []feedmill.Feed, t *query.Tree) iter.Seq2[[]columnar.Vector, error]
	// Explain is the statement that Select runs, and the values of its parameters. The aliases
	// are those of the feeds.
	Explain(feeds []feedmill.Feed, aliases []string, t *query.Tree) (sql string, args []string)
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
	return &feedTable{source: d.feeds, feeds: []feedmill.Feed{f}}, nil
}

// SQLTable fails: feeds have no SQL views.
func (d *feedDatabase) SQLTable(context.Context, feedmill.SQLView, feedmill.Rules) (Table, error) {
	return nil, NoSQLViews()
}

// feedTable is a feed as it stands, or several that are joined.
type feedTable struct {
	source  Feeds
	feeds   []feedmill.Feed
	aliases []string
}

// At is the first feed's id.
func (t *feedTable) At() (schema, name string) { return "", string(t.feeds[0].ID) }

// SQLView returns no id: the rows are those of feeds.
func (t *feedTable) SQLView() feedmill.ID { return "" }

// Join returns the feeds with another joined to them.
func (t *feedTable) Join(first, as string, other Table) Table {
	joined := *t
	if len(t.feeds) == 1 {
		joined.aliases = []string{first}
	}
	joined.aliases = append(slices.Clip(joined.aliases), as)
	joined.feeds = append(slices.Clip(t.feeds), other.(*feedTable).feeds...)
	return &joined
}

// CanJoin returns no error: all columns of feeds can be compared.
func (t *feedTable) CanJoin([]query.Join) (join, pair int, err error) { return 0, 0, nil }

// Fields are the columns of the feeds. All that can be asked is asked where they are.
func (t *feedTable) Fields() (fields []Field) {
	for i, f := range t.feeds {
		for _, c := range f.Columns {
			field := Field{Column: c, Native: string(c.Type), Pushdown: query.Operators(c.Type)}
			if i > 0 {
				field.From = t.aliases[i]
			}
			fields = append(fields, field)
		}
	}
	return fields
}

func (t *feedTable) Explain(tree *query.Tree) Explanation {
	sql, args := t.source.Explain(t.feeds, t.aliases, tree)
	return Explanation{SQL: sql, Parameters: args, Ran: func(query.Placed) feedmill.RanIn { return feedmill.RanInSource }}
}

// CannotCompute is the reason why the worker of a feed does not compute a field.
func (t *feedTable) CannotCompute(f *query.Formulas, formula int) string {
	return f.CannotWrite(formula, duckdb.Computed{})
}

// Read runs a query of the feeds.
func (t *feedTable) Read(ctx context.Context, tree *query.Tree, out Rows) (Done, error) {
	for _, f := range t.feeds {
		if f.Version == 0 {
			return Done{}, Fail(ProblemStatement, "The feed "+string(f.ID)+" has no data yet.", nil)
		}
	}
	plan := &query.Plan{Tree: tree}
	for _, o := range tree.Outputs {
		plan.Fetched = append(plan.Fetched, o.Expression)
	}
	finish := NewFinish(plan, out, "")
	if err := finish.Columns(ctx, tree.Columns()); err != nil {
		return Done{}, err
	}
	for run, err := range t.source.Select(ctx, t.feeds, tree) {
		if err == nil {
			err = finish.Rows(ctx, run)
		}
		if err != nil {
			return Done{}, err
		}
	}
	return finish.End(ctx)
}
