package database

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/strictjson"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Source is databases as places that feeds have their data from. Goroutines may
// share it.
type Source struct{ *Connections }

// Define checks the definition of a feed and its source. What it names is looked
// at by Check. With an error there is a definition where Check can find more faults.
func (s Source) Define(body []byte) (feedmill.FeedDefinition, error) {
	d, err := parse(body, now())
	if d == nil {
		return feedmill.FeedDefinition{}, err
	}
	return d.split(), err
}

// DefineStored is Define: nothing assembles definitions of queries.
func (s Source) DefineStored(body []byte) (feedmill.FeedDefinition, error) { return s.Define(body) }

// DefineFeed refuses one more feed of a source: a query has the rows of one.
func (s Source) DefineFeed([]byte, []byte) (feedmill.FeedDefinition, error) {
	return feedmill.FeedDefinition{}, feedmill.Invalid("", feedmill.Fault{Parameter: "sourceOf", Detail: "sourceOf applies only to REST feeds; remove it."})
}

// Redefine changes a definition: a member of the patch takes the place of the
// whole old one, and null takes it away.
func (s Source) Redefine(feed feedmill.Feed, _, patch []byte) (feedmill.FeedDefinition, feedmill.FetchAgain, error) {
	var faults feedmill.Faults
	change, ok := strictjson.Read(patch, strictjson.Part{}, faults.Note)
	old, known := strictjson.Read(feed.Spec, strictjson.Part{}, faults.Note)
	if !ok || !known {
		return feedmill.FeedDefinition{}, 0, feedmill.Invalid("The body is not valid JSON.", faults.List...)
	}
	if in := old.Member("incremental"); in != nil && in.Kind != 'n' && replaces(old) {
		old.Remove("mode") // earlier releases accepted and ignored it
	}
	again := feedmill.FetchAsPlanned
	for _, m := range change.Members {
		if m.Name == "rules" || slices.Contains(sourceMembers, m.Name) && m.Name != "schedule" {
			again = feedmill.FetchAnew
		}
		if m.Value.Kind == 'n' {
			old.Remove(m.Name)
		} else {
			old.Set(m.Name, m.Value)
		}
	}
	d, err := parse(old.Append(nil), now())
	if d == nil {
		return feedmill.FeedDefinition{}, 0, err
	}
	d.rules = d.rules.Or(feed.Rules)
	def := d.split()
	if again == feedmill.FetchAsPlanned {
		def.Pins = feed.Pins
	}
	return def, again, err
}

// Describe is the spec of a feed whose source has another one now, which is its
// own.
func (s Source) Describe(feedSpec, _ []byte) ([]byte, error) { return feedSpec, nil }

// Parents are the feeds that a definition queries, where it queries some.
func (s Source) Parents(spec []byte) (parents []feedmill.FeedParent) {
	d, err := parseStored(spec, now())
	if err != nil || d.service != feedmill.ServiceFeeds {
		return nil
	}
	add := func(view, pointer string) {
		if feedmill.IsID(feedmill.PrefixDataFeed, view) {
			parents = append(parents, feedmill.FeedParent{ID: feedmill.ID(view), Pointer: pointer})
		}
	}
	add(d.view, "/viewName")
	for _, j := range d.query.Joins {
		add(j.View, j.Place.Pointer+"/view")
	}
	return parents
}

// Check looks at what a definition names in a workspace: the service, the view and
// its fields. A database that cannot be asked is no fault of the definition: the
// first refresh tells of it.
func (s Source) Check(ctx context.Context, workspace feedmill.ID, def feedmill.FeedDefinition) (feedmill.FeedDefinition, error) {
	d, err := parse(def.Spec, now())
	if d == nil {
		return def, err
	}
	of, err := s.service(ctx, workspace, d.service)
	if errors.Is(err, feedmill.ErrNotFound) {
		return def, s.unknownService(ctx, workspace, d.service)
	}
	if err != nil {
		return def, err
	}
	def.Source.Host = string(of.ID)
	if of.ID == "" {
		def.Source.Host = of.Connector
		if a, ok := s.api(of.Connector); ok {
			if err := s.ready(ctx, workspace, a); err != nil {
				return def, err
			}
		}
	}
	if def.Name == "" {
		def.Name = cutName(d.view)
	}
	origin, err := s.origin(ctx, of)
	if err != nil {
		return def, err
	}
	err = s.whileAwaited(ctx, lookTimeout, func(ctx context.Context) error {
		return s.withService(ctx, of, feedmill.Fetch{Workspace: workspace}, func(db Database) error {
			table, err := d.open(ctx, db, def.Pins, origin, def.Rules)
			if err != nil {
				return err
			}
			if feed, ok := table.(*feedTable); ok && def.Name == cutName(d.view) {
				def.Name = feed.feeds[0].Name
			}
			tree, err := d.resolve(Columns(pinnedFields(table, def.Pins)))
			err = feedmill.WithFaults(err, d.checkSums(table.Fields()))
			if err == nil && len(def.Pins.Fields) == 0 {
				def.Pins = d.pin(table, tree, origin)
			}
			return err
		})
	})
	if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		if failure.Type == ProblemView {
			return def, feedmill.Invalid("", feedmill.Fault{Pointer: d.joined.pointer(), Detail: failure.Detail})
		}
		return def, nil
	}
	return def, err
}

// cutName is a name that is not too long for a feed.
func cutName(name string) string {
	if runes := []rune(name); len(runes) > feedmill.MaxNameLen {
		return string(runes[:feedmill.MaxNameLen])
	}
	return name
}

func (s Source) unknownService(ctx context.Context, workspace feedmill.ID, name string) error {
	all, err := s.Services(ctx, workspace)
	if err != nil {
		return err
	}
	var names []string
	for _, service := range all {
		names = append(names, service.Name)
	}
	detail := "serviceName is not a service of this workspace. List the services with GET /query_builder/services."
	if near := suggest.Nearest(name, names); len(near) > 0 {
		detail = "serviceName is not a service of this workspace. Did you mean " + near[0] + "?"
	}
	return feedmill.Invalid("", feedmill.Fault{Pointer: "/serviceName", Detail: detail})
}

// checkColumns notes names in key and columns that are not columns of the query. A key may use
// the names that columns gives.
func (d *definition) checkColumns(tree *query.Tree, faults *query.Faults) {
	var columns []feedmill.Column
	for _, o := range tree.Outputs {
		columns = append(columns, feedmill.Column{Name: o.Name, SourceName: o.Name})
	}
	changed, err := feedmill.ChangeColumns(columns, d.columns)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		for _, f := range refusal.Faults {
			faults.Add(f, f.Detail)
		}
	}
	for i, name := range d.key {
		if !slices.ContainsFunc(changed, func(c feedmill.Column) bool { return c.Name == name || c.SourceName == name }) {
			faults.Add(feedmill.Fault{Pointer: fmt.Sprintf("/key/%d", i)}, fmt.Sprintf("the query has no column %q", name))
		}
	}
}

// checkSums refuses to add up fields whose numbers name things.
func (d *definition) checkSums(fields []Field) error {
	var faults feedmill.Faults
	for _, f := range d.query.Fields {
		at := slices.IndexFunc(fields, func(field Field) bool { return field.From == f.From && field.Name == f.Name })
		if at < 0 || !fields[at].Identifier {
			continue
		}
		asked := []feedmill.NamedAggregate{{Fn: f.Aggregate, Place: f.Place}}
		for _, a := range append(asked, f.Aggregates...) {
			if isSum(a.Fn) {
				a.Place.Detail = fmt.Sprintf("Field %s has the type %s, whose values cannot be summed. Use min, max, count or countDistinct.", f.Name, fields[at].Native)
				faults.Add(a.Place)
			}
		}
	}
	return faults.Refusal()
}

// resolve checks the query of a definition against the columns of a table.
func (d *definition) resolve(columns []feedmill.Column) (*query.Tree, error) {
	q := d.query
	q.Fields, q.Sort, q.Where = slices.Clone(q.Fields), slices.Clone(q.Sort), slices.Clone(q.Where)
	tree, faults := query.ResolveViews(q, d.joined.views(q.Joins, columns))
	d.joined.check(q.Joins, tree, faults)
	d.checkColumns(tree, faults)
	if latest := tree.Latest; latest != nil && !slices.ContainsFunc(tree.Outputs, func(o query.Output) bool { return o.Column.Index == latest.Index && o.Aggregate == "" }) {
		faults.Add(feedmill.Fault{Pointer: "/incremental/field"}, "incremental.field must be a field of the query, because rows that differ only in it could not be distinguished")
	}
	err := faults.Err()
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		for i := range refusal.Faults {
			refusal.Faults[i].Detail = sentence(refusal.Faults[i].Detail)
		}
		if refusal.Type == "" {
			refusal.Detail = "The query does not fit the columns of this view."
		}
	}
	return tree, err
}
