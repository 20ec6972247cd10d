package manifest

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// api is a service as a database: its views are tables, which are fetched when they
// are read.
type api struct {
	manifest *Manifest
	use      database.APIUse
	services *Services
}

func (a *api) Close() error { return nil }

// Ping fetches a record of the first view.
func (a *api) Ping(ctx context.Context) error {
	v := &a.manifest.Views[0]
	table := &apiTable{a, v}
	q := feedmill.Query{Fields: []feedmill.Field{{Name: v.Fields[0].Name}}, Limit: 1}
	tree, faults := query.Resolve(q, database.Columns(table.Fields()))
	if err := faults.Err(); err != nil {
		return err
	}
	_, err := table.Read(ctx, tree, nowhere{})
	return err
}

// nowhere takes rows that nobody wants.
type nowhere struct{}

func (nowhere) Columns(context.Context, []feedmill.Column) error { return nil }

func (nowhere) Rows(context.Context, []columnar.Vector) error { return nil }

// Views lists what the manifest describes.
func (a *api) Views(context.Context) ([]database.View, error) { return a.views(), nil }

func (a *api) views() []database.View {
	views := make([]database.View, len(a.manifest.Views))
	for i, v := range a.manifest.Views {
		views[i] = database.View{Name: v.Name, Label: v.Title, Description: v.Description, Kind: database.KindView, RowEstimate: -1, Cursor: v.Cursor, Key: v.Key}
	}
	return views
}

// Table finds a view.
func (a *api) Table(_ context.Context, view string, _ feedmill.Rules) (database.Table, error) {
	v, ok := a.manifest.View(view)
	if !ok {
		return nil, database.NoView(view, a.views())
	}
	return &apiTable{a, v}, nil
}

// SQLTable fails: an API has no SQL views.
func (a *api) SQLTable(context.Context, feedmill.SQLView, feedmill.Rules) (database.Table, error) {
	return nil, database.NoSQLViews()
}

// Keys returns none: a manifest describes no keys for joins.
func (a *api) Keys(context.Context, string, string) (database.Keys, error) {
	return database.Keys{}, nil
}

// apiTable is a view of a service.
type apiTable struct {
	*api
	view *View
}

// At is the view's name.
func (t *apiTable) At() (schema, name string) { return "", t.view.Name }

// SQLView returns no id: the rows come from an API.
func (t *apiTable) SQLView() feedmill.ID { return "" }

// Fields are those of the view. What is passed on to the API is said, and tested
// here all the same.
func (t *apiTable) Fields() []database.Field {
	columns := t.view.columns()
	fields := make([]database.Field, len(columns))
	for i, c := range columns {
		f := &t.view.Fields[i]
		fields[i] = database.Field{Column: c, Label: f.Title, Native: string(f.Type), Pushdown: f.Operators()}
	}
	return fields
}

// Explain says which parameters the API is given.
func (t *apiTable) Explain(tree *query.Tree) database.Explanation {
	e := database.Explanation{GroupedHere: tree.Grouped()}
	told := make(map[int]bool)
	for _, p := range t.view.parameters(tree) {
		e.Parameters = append(e.Parameters, p.Name+"="+p.Value.Text())
		told[p.field] = true
	}
	e.Ran = func(f query.Placed) feedmill.RanIn {
		if f.Column.Derived == nil && told[f.Column.Index] && !f.Inverted && slices.Contains(t.view.Fields[f.Column.Index].Operators(), f.Op) {
			return feedmill.RanInBoth
		}
		return feedmill.RanInHere
	}
	return e
}

// previewRecords is how many records a preview looks at where filters, sorting or
// groups need more than the first ones.
const previewRecords = 1000

// Read fetches the records of the view, as few as the API can be told, and returns
// the tree over them.
func (t *apiTable) Read(ctx context.Context, tree *query.Tree, out database.Rows) (database.Done, error) {
	plan := &query.Plan{Tree: tree}
	for _, o := range tree.Outputs {
		plan.Fetched = append(plan.Fetched, o.Expression)
	}
	if err := t.complete(); err != nil {
		return database.Done{}, err
	}
	definition, err := t.manifest.Definition(t.view, t.use.Config, t.needed(tree), t.view.parameters(tree))
	if err != nil {
		return database.Done{}, database.Fail(database.ProblemStatement, "The service cannot be queried: "+err.Error()+".", nil)
	}
	most := int64(0)
	switch {
	case len(tree.Where) == 0 && len(tree.Sort) == 0 && !tree.Grouped() && tree.Limit > 0:
		most = tree.Limit + tree.Offset
	case t.use.Fetch.Enough > 0:
		most = max(previewRecords, tree.Limit)
	}
	finish := database.NewFinish(plan, out, "")
	warnings, err := t.services.Tables.SelectFetched(ctx, t.job(), definition, t.view.columns(), tree, most, func(columns []feedmill.Column, rows []columnar.Vector) error {
		if columns != nil {
			return finish.Columns(ctx, columns)
		}
		return finish.Rows(ctx, rows)
	})
	if err != nil {
		return database.Done{}, err
	}
	done, err := finish.End(ctx)
	done.Warnings = append(done.Warnings, warnings...)
	return done, err
}

// needed are the fields that a query asks for or tests.
func (t *apiTable) needed(tree *query.Tree) (fields []*Field) {
	for i := range t.view.Fields {
		if tree.Tests(i) || tree.Gives(i) {
			fields = append(fields, &t.view.Fields[i])
		}
	}
	return fields
}

// job is the fetch that the records are for. What is received for a credential is
// kept with the connection, so that all feeds of it share that.
func (t *apiTable) job() feedmill.Fetch {
	job := t.use.Fetch
	if job.KeepSecrets = nil; t.use.Connection.ID != "" {
		job.Source = t.use.Connection.ID
	}
	if job.Source == "" {
		job.Source = feedmill.NewID(feedmill.PrefixDataSource)
	}
	job.Renew = t.use.Renew
	return job
}

// complete refuses a connection that lacks a setting.
func (t *apiTable) complete() error {
	for _, s := range t.manifest.Settings {
		if _, ok := t.use.Config[s.Name]; !ok && s.Required {
			return database.Fail(database.ProblemStatement, "The connection of this service has no value for "+s.Name+". Set it in the connection.", nil)
		}
	}
	return nil
}

// textAt is the text at a place of a document, empty where there is none.
func textAt(doc *strictjson.Value, pointer string) string {
	if v := doc.At(pointer); v != nil && v.Kind == '"' {
		return v.Text()
	}
	return ""
}

// FieldNames lists the names of the fields that the manifest describes.
func (a *api) FieldNames(context.Context) (map[string][]string, error) {
	names := make(map[string][]string)
	for _, v := range a.manifest.Views {
		for _, f := range v.Fields {
			names[v.Name] = append(names[v.Name], f.Name)
		}
	}
	return names, nil
}
