package feed

import (
	"context"
	"iter"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/query"
)

// Select runs a query of the versions that feeds have, which was resolved over
// their columns, as runs of a vector for each output. The query joins all feeds but the first.
func (m *Mill) Select(ctx context.Context, feeds []feedmill.Feed, t *query.Tree) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		var versions []*lake.Version
		for _, f := range feeds {
			v, err := m.Versions.FeedVersion(ctx, f.Workspace, f.ID, f.Version)
			if err != nil {
				yield(nil, err)
				return
			}
			versions = append(versions, lakeVersion(v))
		}
		m.Reader.Select(ctx, versions, t)(yield)
	}
}

// Explain is the statement that Select runs, as people read it.
func (m *Mill) Explain(feeds []feedmill.Feed, aliases []string, t *query.Tree) (sql string, args []string) {
	var tables []string
	for _, f := range feeds {
		tables = append(tables, string(f.ID))
	}
	return lake.Explain(tables, aliases, t)
}
