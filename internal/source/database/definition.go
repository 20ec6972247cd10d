package database

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// definition is a feed of a query, as a user wrote it.
type definition struct {
	name, description string
	service, view     string
	query             feedmill.Query
	incremental       bool
	schedule          feedmill.Schedule
	mode              feedmill.FeedMode
	key               []string
	columns           []feedmill.ColumnChange
	rules             feedmill.Rules // 0 where the definition does not name any
	keyed             bool           // the feed has a key, by which rows that come again are known
	doc               strictjson.Value
	// joined is what the views of the joins are, once they are open.
	joined joined
}

var (
	// sourceMembers are the members of a definition that say what is fetched, and
	// feedMembers those that say what becomes of it.
	sourceMembers = []string{"serviceName", "viewName", "query", "incremental", "schedule"}
	feedMembers   = []string{"mode", "key", "columns"}
)

// maxFaults is how many faults are listed. Past it nobody reads them.
const maxFaults = 200

// parse reads a definition, as far as it can be understood without a look at what
// it names. Periods count from now. Where what it names could be read, the definition is
// returned with the error, so that the rest of it can be checked.
func parse(body []byte, now time.Time) (*definition, error) {
	faults := feedmill.Faults{Max: maxFaults}
	doc, ok := strictjson.Read(body, strictjson.Part{}, faults.Note)
	if !ok || len(faults.List) > 0 {
		return nil, feedmill.Invalid("The body is not valid JSON or has duplicate keys.", faults.List...)
	}
	d := &definition{doc: doc}
	if doc.Kind != '{' {
		return nil, feedmill.Invalid("", feedmill.Fault{Detail: "The body must be an object."})
	}
	o := strictjson.NewObject(&d.doc, "", faults.Note)
	d.readSource(o, now)
	d.schedule = feedmill.ReadSchedule(o)
	d.mode, d.key = feedmill.ReadMode(o, d.incremental)
	d.columns = readColumns(o)
	feedmill.CheckDefinedColumns(d.columns, d.key, faults.Note)
	if d.incremental && replaces(doc) {
		o.Fault("mode", "mode must be append, or merge with a key, for an incremental query. Remove mode or incremental.")
	}
	if d.incremental && d.query.Limit > 0 {
		o.Fault("incremental", "incremental cannot be combined with limit, because rows beyond the limit would never be fetched. Remove one of them.")
	}
	if d.incremental && d.query.Offset > 0 {
		o.Fault("incremental", "incremental cannot be combined with offset, because the skipped rows would never be fetched. Remove one of them.")
	}
	if d.incremental && len(d.query.Joins) > 0 {
		o.Fault("incremental", "incremental cannot be combined with joins, because changed rows of a joined view would not be fetched. Remove one of them.")
	}
	if len(d.query.Computed) > 0 && d.rules.Or(feedmill.RulesCurrent) < feedmill.RulesCurrent {
		o.Fault("rules", fmt.Sprintf("Computed fields require rules %d. Remove rules or computed.", feedmill.RulesCurrent))
	}
	o.RefuseUnknown()
	if slices.ContainsFunc(faults.List, hidesQuery) {
		return nil, faults.Refusal()
	}
	return d, faults.Refusal()
}

// hidesQuery reports whether a fault leaves a query that cannot be held against its view.
func hidesQuery(f feedmill.Fault) bool {
	member, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
	return !strictjson.IsUnknown(f.Detail) && f.Pointer != "/query/limit" && slices.Contains([]string{"serviceName", "viewName", "query", "incremental"}, member)
}

// parseStored reads a definition that was checked when it was sent. Only a query that
// cannot be read is an error.
func parseStored(spec []byte, now time.Time) (*definition, error) {
	faults := feedmill.Faults{Max: maxFaults}
	doc, ok := strictjson.Read(spec, strictjson.Part{}, faults.Note)
	if !ok || doc.Kind != '{' {
		return nil, feedmill.Invalid("The stored definition is not a JSON object.", faults.List...)
	}
	d := &definition{doc: doc}
	d.readSource(strictjson.NewObject(&d.doc, "", faults.Note), now)
	unchecked := strictjson.NewObject(&d.doc, "", func(string, string) bool { return true })
	d.mode, d.key = feedmill.ReadMode(unchecked, d.incremental)
	return d, faults.Refusal()
}

// readColumns reads the changes to columns of the result. A query picks its columns by its
// fields, so an entry has a sourceName and no path.
func readColumns(o *strictjson.Object) (changes []feedmill.ColumnChange) {
	f, ok := o.Given("columns")
	switch {
	case !ok:
		return nil
	case f.Kind != '[':
		f.Fault("columns must be an array, not " + strictjson.KindName(f.Kind) + ".")
		return nil
	case len(f.Items) > feedmill.MaxDefinedColumns:
		f.Fault(fmt.Sprintf("columns can have at most %d elements; it has %d.", feedmill.MaxDefinedColumns, len(f.Items)))
		return nil
	}
	for _, item := range f.Elements() {
		entry, ok := item.Object()
		if !ok {
			continue
		}
		if path, given := entry.Get("path"); given {
			path.Fault("path applies only to REST feeds; a query picks columns by its fields. Use sourceName to change a column of the query.")
		}
		changes = append(changes, feedmill.ReadFoundColumn(entry))
		entry.RefuseUnknown()
	}
	return changes
}

// replaces reports whether a definition sets the mode replace, which is not the same
// as leaving it out: an incremental query without a mode appends or merges.
func replaces(doc strictjson.Value) bool {
	mode := doc.Member("mode")
	return mode != nil && mode.Kind == '"' && mode.Text() == string(feedmill.ModeReplace)
}

// readSource reads what the rows are.
func (d *definition) readSource(o *strictjson.Object, now time.Time) {
	d.service, d.view = needName(o, "serviceName"), needName(o, "viewName")
	if f, ok := o.Given("name"); ok {
		d.name = f.Name(feedmill.MaxNameLen)
	}
	d.description = feedmill.ReadDescription(o)
	d.rules = feedmill.ReadRules(o)
	if f, ok := o.Need("query"); ok {
		if q, ok := f.Object(); ok {
			q.Need("fields")
			d.query = query.Read(q, now)
			q.RefuseUnknown()
		}
	}
	d.readIncremental(o)
}

// needName reads the name of a service or of a view.
func needName(o *strictjson.Object, name string) string {
	const longest = 1000
	f, ok := o.Need(name)
	if !ok {
		return ""
	}
	text, _ := f.Label(longest)
	return text
}

// readIncremental reads how a feed fetches only what is new.
func (d *definition) readIncremental(o *strictjson.Object) {
	f, ok := o.Given("incremental")
	if !ok {
		return
	}
	in, ok := f.Object()
	if !ok {
		return
	}
	d.incremental = true
	d.query.Since = &feedmill.Since{Field: needName(in, "field"), Place: feedmill.Fault{Pointer: in.Pointer}}
	if f, ok := in.Given("lookback"); ok {
		if text, ok := f.Text(); ok {
			lookback, err := feedmill.ParseDuration(text)
			if err != nil {
				f.Fault("Must be a duration such as 1h.")
			}
			d.query.Since.Lookback = lookback
		}
	}
	in.RefuseUnknown()
}

// part is some members of the definition, as JSON text.
func (d *definition) part(names ...[]string) []byte {
	part := strictjson.Value{Kind: '{'}
	for _, list := range names {
		for _, name := range list {
			if v := d.doc.Member(name); v != nil && v.Kind != 'n' {
				part.Set(name, *v)
			}
		}
	}
	return part.Append(nil)
}

// split is the definition in the parts that are kept.
func (d *definition) split() feedmill.FeedDefinition {
	rules := d.rules.Or(feedmill.RulesCurrent)
	return feedmill.FeedDefinition{
		Name: d.name, Description: d.description, Mode: d.mode, Key: d.key, Spec: d.part(sourceMembers, feedMembers), Rules: rules,
		Source: feedmill.SourceDefinition{Host: d.service, Schedule: d.schedule, Spec: d.part(sourceMembers), Secrets: []byte("{}"), Rules: rules},
	}
}
