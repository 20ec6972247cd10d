package duckdb

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/source/database"
)

// defaultSchema is the schema whose views have bare names.
const defaultSchema = "main"

const selectViews = `SELECT schema_name, table_name, 'table', coalesce(comment, ''), CAST(estimated_size AS VARCHAR)
FROM duckdb_tables() WHERE database_name = '` + dialect.Attached + `' AND NOT internal
UNION ALL SELECT schema_name, view_name, 'view', coalesce(comment, ''), '-1'
FROM duckdb_views() WHERE database_name = '` + dialect.Attached + `' AND NOT internal`

// place is where a view is.
type place struct{ schema, name string }

func (p place) shown() string { return database.ViewName(p.schema, p.name, p.schema == defaultSchema) }

// Views lists the tables and views.
func (f *file) Views(ctx context.Context) ([]database.View, error) {
	views, _, err := f.places(ctx)
	return views, err
}

// places are the tables and views, and where each of them is.
func (f *file) places(ctx context.Context) ([]database.View, map[string]place, error) {
	rows, err := f.texts(ctx, "", selectViews, 5)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	views := make([]database.View, 0, len(rows))
	places := make(map[string]place)
	for _, row := range rows {
		at := place{row[0], row[1]}
		v := database.View{
			Name: at.shown(), Label: database.FirstLine(row[3]), Description: database.Said(row[3]), Kind: database.KindTable, RowEstimate: -1,
		}
		if row[2] == "view" {
			v.Kind = database.KindView
		}
		if n, err := strconv.ParseInt(row[4], 10, 64); err == nil {
			v.RowEstimate = n
		}
		places[v.Name] = at
		views = append(views, v)
	}
	return views, places, nil
}

// Table describes a view.
func (f *file) Table(ctx context.Context, view string, rules feedmill.Rules) (database.Table, error) {
	views, places, err := f.places(ctx)
	if err != nil {
		return nil, err
	}
	schema, name, ok := database.ParseViewName(view)
	at, there := places[place{cmp.Or(schema, defaultSchema), name}.shown()]
	if !ok || !there {
		return nil, database.NoView(view, views)
	}
	t := &table{file: f}
	t.View, t.Rules = view, rules
	t.SQL.Schema, t.SQL.Name = at.schema, at.name
	return t, t.describe(ctx)
}
