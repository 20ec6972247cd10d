package feed

import (
	"context"
	"iter"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/query"
)

// Select runs a query of the version that a feed has, which was resolved over
// its columns, as runs of a vector for each output.
func (m *Mill) Select(ctx context.Context, f feedmill.Feed, t *query.Tree) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		v, err := m.Versions.FeedVersion(ctx, f.Workspace, f.ID, f.Version)
		if err != nil {
			yield(nil, err)
			return
		}
		m.Reader.Select(ctx, lakeVersion(v), t)(yield)
	}
}

// Explain is the statement that Select runs, as people read it.
func (m *Mill) Explain(f feedmill.Feed, t *query.Tree) (sql string, args []string) {
	return lake.Explain(string(f.ID), t)
}
