package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/compute"
)

// origin tells the database of a connection apart from others. It is empty for the
// feeds of a workspace, and for APIs.
func (c *Connections) origin(ctx context.Context, of feedmill.Connection) (string, error) {
	kind, known := feedmill.FindConnector(of.Connector)
	if !known || of.ID == "" {
		return "", nil
	}
	config, err := c.config(ctx, of)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, name := range []string{"host", "port", "database", "path"} {
		parts = append(parts, strconv.Quote(kind.Setting(config, name)))
	}
	sum := sha256.Sum256([]byte(string(of.ID) + " " + strings.Join(parts, " ")))
	return hex.EncodeToString(sum[:8]), nil
}

// open finds the table of a definition: the pinned one, or the one that the name means
// now.
func (d *definition) open(ctx context.Context, db Database, pins feedmill.Pins, origin string, rules feedmill.Rules) (Table, error) {
	if len(d.query.Joins) > 0 {
		return d.openJoined(ctx, db, pins, origin, rules)
	}
	return d.openFirst(ctx, db, pins, origin, rules)
}

// openFirst finds the first table of a definition.
func (d *definition) openFirst(ctx context.Context, db Database, pins feedmill.Pins, origin string, rules feedmill.Rules) (Table, error) {
	table, err := d.find(ctx, db, pins, pins.Schema != "" && pins.Origin == origin, rules)
	if err == nil && len(pins.Fields) > 0 && pins.SQLView != table.SQLView() {
		return nil, swapped(d.view, "viewName")
	}
	return table, err
}

// swapped is the failure of a name that now means a SQL view instead of a view of the database, or
// the reverse: the rows would be others.
func swapped(view, member string) error {
	return Fail(ProblemView, fmt.Sprintf("The view %q is not the one that the query was created with: a SQL view and a view of the database have taken turns under this name. Set %s again to use it.", view, member), nil)
}

// find finds the first table of a definition. Names of an earlier release were not quoted.
func (d *definition) find(ctx context.Context, db Database, pins feedmill.Pins, pinned bool, rules feedmill.Rules) (table Table, err error) {
	switch {
	case pinned && rules >= feedmill.RulesCurrent:
		return describe(ctx, db, QualifiedName(pins.Schema, pins.View), rules)
	case pinned:
		return db.Table(ctx, QualifiedName(pins.Schema, pins.View), rules)
	case rules >= feedmill.RulesCurrent:
		return describe(ctx, db, d.view, rules)
	case !strings.ContainsAny(d.view, `."`):
		return db.Table(ctx, d.view, rules)
	}
	for _, name := range append(earlierNames(d.view), d.view) {
		table, err = db.Table(ctx, name, rules)
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || failure.Type != ProblemView {
			return table, err
		}
	}
	return nil, err
}

// describe finds a table whose names are not too long.
func describe(ctx context.Context, db Database, view string, rules feedmill.Rules) (Table, error) {
	table, err := db.Table(ctx, view, rules)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range table.Fields() {
		names = append(names, f.Name)
	}
	if err := feedmill.CheckSourceNames("field", names); err != nil {
		return nil, err
	}
	return table, nil
}

// pin is what a definition means in a table: where it is, and the types of all fields
// that the query uses.
func (d *definition) pin(table Table, tree *query.Tree, origin string) feedmill.Pins {
	pins := feedmill.Pins{Origin: origin, SQLView: table.SQLView()}
	pins.Schema, pins.View = table.At()
	pins.Joins = d.joined.places
	for i, f := range table.Fields() {
		if tree.Tests(i) || tree.Gives(i) {
			pins.Fields = append(pins.Fields, f.pinned())
		}
	}
	return pins
}

func (f *Field) pinned() feedmill.PinnedField {
	return feedmill.PinnedField{From: f.From, Name: f.Name, Type: f.Type, Zoned: f.Zoned}
}

// pinnedFields are the fields of a table with the types that they are pinned to.
func pinnedFields(table Table, pins feedmill.Pins) []Field {
	fields := slices.Clone(table.Fields())
	for i := range fields {
		f := &fields[i]
		if was, ok := pins.Field(f.From, f.Name); ok && was.Type != f.Type {
			f.Type, f.Zoned, f.Precision, f.Scale, f.Format = was.Type, was.Zoned, 0, 0, ""
		}
	}
	return fields
}

// usage is what a query compares a field for.
type usage struct {
	purposes  []string
	constants []*big.Rat
	// exact says that values must stay what they are: the field is a key or the one of
	// incremental.
	exact bool
	// strict says that any other type is a change of the query: the view is one in SQL.
	strict bool
}

// usages are the fields whose order or equality decides about the rows of a query, by
// their places in the table. Computed fields come after those of the table.
func usages(tree *query.Tree, key []string) map[int]*usage {
	all := make(map[int]*usage)
	use := func(c query.Column, purpose string) *usage {
		u := all[c.Index]
		if u == nil {
			u = new(usage)
			all[c.Index] = u
		}
		if !slices.Contains(u.purposes, purpose) {
			u.purposes = append(u.purposes, purpose)
		}
		return u
	}
	for _, j := range tree.Joins {
		for _, p := range j.On {
			use(p.Left, "join")
			use(p.Right, "join")
		}
	}
	query.Walk(tree.Where, func(p query.Predicate) {
		switch p := p.(type) {
		case query.Compare:
			u := use(p.Column, "filter")
			if n, ok := p.Value.(*big.Rat); ok {
				u.constants = append(u.constants, n)
			}
		case query.Range:
			use(p.Column, "filter")
		case query.Match:
			use(p.Column, "filter")
		case query.IsEmpty:
			use(p.Column, "filter")
		}
	})
	for _, e := range tree.Tested() {
		if e.Aggregate != feedmill.AggregateCount {
			use(e.Column, "having")
		}
	}
	query.Walk(tree.Having, func(p query.Predicate) {
		if c, ok := p.(query.Compare); ok && all[c.Column.Index] != nil {
			if n, ok := c.Value.(*big.Rat); ok {
				u := all[c.Column.Index]
				u.constants = append(u.constants, n)
			}
		}
	})
	for _, k := range tree.Sort {
		if k.Aggregate == "" {
			use(k.Column, "sort")
		}
	}
	for _, o := range tree.Outputs {
		switch {
		case o.Aggregate == "" && slices.Contains(key, o.Name):
			use(o.Column, "key").exact = true
		case o.Aggregate == "" && tree.Grouped():
			use(o.Column, "group")
		case o.Aggregate != "" && o.Aggregate != feedmill.AggregateCount:
			use(o.Column, "aggregate")
		}
	}
	if tree.Latest != nil {
		use(*tree.Latest, "incremental").exact = true
	}
	for _, i := range tree.Formulas.Inputs(tree.Used()) {
		use(tree.Formulas.Columns[i], "computed fields")
	}
	return all
}

// checked are the usages whose types must stay: also those of all fields of SQL views that the
// query uses. Anyone with a key that writes can change a SQL view, so its types are part of what
// the query means.
func (out *followed) checked(fields []Field) map[int]*usage {
	all := maps.Clone(out.uses)
	for i, f := range fields {
		if out.pins.SQLViewOf(f.From) != "" && (out.meant.Gives(i) || out.meant.Tests(i)) {
			all[i] = &usage{purposes: []string{"values"}, strict: true}
		}
	}
	return all
}

// admits reports whether a field of a type now means in a query what it was pinned with.
func (u *usage) admits(was feedmill.PinnedField, now *Field) bool {
	switch {
	case was.Type == now.Type:
		return was.Type != columnar.TypeTimestamp || was.Zoned == now.Zoned
	case u.strict || !feedmill.KeepsOrder(was.Type, now.Type):
		return false
	case was.Type == columnar.TypeNumber || now.Type == columnar.TypeNumber:
		// A float is compared with the float that is nearest to a value.
		return was.Type != columnar.TypeDecimal && !slices.ContainsFunc(u.constants, func(n *big.Rat) bool { return !survives(n) })
	}
	return true
}

// survives reports whether a number is the same once it was a float.
func survives(n *big.Rat) bool {
	float, _ := n.Float64()
	back, ok := new(big.Rat).SetString(strconv.FormatFloat(float, 'g', -1, 64))
	return ok && back.Cmp(n) == 0
}

// follow checks that the fields of a table have the types that the query was created
// with.
func (d *definition) follow(table Table, feed feedmill.Feed, origin string) (followed, error) {
	fields := table.Fields()
	if feed.Expects.Accept {
		return d.acceptTypes(table, origin)
	}
	was := feed.Pins
	var unknown []string
	if len(was.Fields) == 0 {
		was.Fields, unknown = d.pinsOf(feed, fields)
	}
	meant := pinnedFields(table, was)
	tree, err := d.resolve(Columns(meant))
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		return followed{}, changed(refusal)
	}
	if err != nil {
		return followed{}, err
	}
	out := followed{feed: feed.ID, columns: Columns(fields), meant: tree, uses: usages(tree, keyOutputs(feed)), pins: d.pin(table, tree, origin)}
	var faults []string
	for i, u := range out.checked(fields) {
		if i >= len(fields) { // a computed field, whose inputs are checked
			continue
		}
		before, ok := was.Field(fields[i].From, fields[i].Name)
		switch {
		case !ok || u.admits(before, &fields[i]):
		case fields[i].Empty:
			out.columns[i] = meant[i].Column // nothing is in it that could have another type
		default:
			faults = append(faults, d.typeChanged(before, &fields[i], u))
		}
	}
	if len(faults) > 0 {
		slices.Sort(faults)
		return followed{}, Fail(feedmill.ProblemTypeChanged, strings.Join(faults, " ")+" "+howToAccept(feed.ID), nil)
	}
	for i, field := range out.pins.Fields {
		if before, ok := was.Field(field.From, field.Name); ok {
			out.pins.Fields[i] = before
		}
	}
	out.warnings = d.zoneWarnings(was, fields, out.uses)
	if len(unknown) > 0 && hasRows(feed) {
		out.warnings = append(out.warnings, feedmill.Warning{Code: feedmill.WarnPinned, Count: int64(len(unknown)), Detail: fmt.Sprintf(
			"The earlier release did not store the types of %s. They are pinned as they are now: a refresh that finds other types fails with type-changed.", strings.Join(unknown, ", "))})
	}
	return out, nil
}

// zoneWarnings are about selected times that had a time zone and have none now, or the other way round. Those
// that the query compares fail the refresh.
func (d *definition) zoneWarnings(was feedmill.Pins, fields []Field, uses map[int]*usage) (warnings []feedmill.Warning) {
	for i := range fields {
		f := &fields[i]
		before, ok := was.Field(f.From, f.Name)
		if !ok || uses[i] != nil || f.Type != columnar.TypeTimestamp || before.Type != f.Type || before.Zoned == f.Zoned {
			continue
		}
		warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnZoneChanged, Column: f.Name, Count: 1, Detail: fmt.Sprintf(
			"The field was a %s when the query was created and is now a %s, so the same values can mean other times. Times without a time zone are read as UTC. Accept the new type with POST …/refresh?accept=true.",
			typeName(before), typeName(f.pinned()))})
	}
	return warnings
}

// acceptTypes pins the types that a table has now.
func (d *definition) acceptTypes(table Table, origin string) (followed, error) {
	columns := Columns(table.Fields())
	tree, err := d.resolve(columns)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		return followed{}, changed(refusal)
	}
	return followed{columns: columns, pins: d.pin(table, tree, origin)}, err
}

// keyOutputs are the outputs of a query that are the key of its feed, which may have
// given them other names.
func keyOutputs(feed feedmill.Feed) []string {
	names := slices.Clone(feed.Key)
	if feed.Version == 0 {
		for _, c := range feedmill.DefinedColumns(feed.Spec) {
			if at := slices.Index(names, c.NewName()); at >= 0 {
				names[at] = c.SourceName
			}
		}
	}
	for i, name := range names {
		if at := slices.IndexFunc(feed.Columns, func(c feedmill.Column) bool { return c.Name == name }); at >= 0 {
			names[i] = feed.Columns[at].SourceName
		}
	}
	return names
}

// followed is how a query that follows its pins is run.
type followed struct {
	feed    feedmill.ID
	columns []feedmill.Column
	// meant is the tree over the pinned types, nil where the present ones were accepted.
	meant    *query.Tree
	uses     map[int]*usage
	pins     feedmill.Pins
	warnings []feedmill.Warning
}

// howToAccept says what to do about a field that has another type.
func howToAccept(feed feedmill.ID) string {
	return "The feed keeps its last version. Fix the field at the source, or accept the new type with POST /data_feeds/" + string(feed) + "/refresh?accept=true."
}

// pinsOf are the types of a feed that has no pins yet: those of the selected fields from
// its current version, and the others, whose names are returned, as they are now.
func (d *definition) pinsOf(feed feedmill.Feed, fields []Field) (pins []feedmill.PinnedField, others []string) {
	selected := make(map[feedmill.FieldName]columnar.Type)
	for _, f := range d.query.Fields {
		if f.Aggregate != "" || f.FilterOnly || f.Group != "" {
			continue
		}
		name := f.As
		if name == "" {
			name = f.Name
		}
		i := slices.IndexFunc(feed.Columns, func(c feedmill.Column) bool { return c.SourceName == name })
		if i >= 0 && !feed.Columns[i].Fixed && hasRows(feed) {
			selected[feedmill.FieldName{From: f.From, Name: f.Name}] = feed.Columns[i].Type
		}
	}
	used := d.names()
	for i := range fields {
		f := &fields[i]
		name := feedmill.FieldName{From: f.From, Name: f.Name}
		if !slices.Contains(used, name) {
			continue
		}
		pin := f.pinned()
		if kind, ok := selected[name]; ok {
			if !feedmill.KeepsOrder(kind, f.Type) { // else the feed's column may have been widened
				pin.Type = kind
			}
		} else {
			others = append(others, name.String())
		}
		pins = append(pins, pin)
	}
	return pins, others
}

// hasRows reports whether a feed has rows of this query, and not of one that was changed
// since.
func hasRows(feed feedmill.Feed) bool { return feed.Version > 0 && len(feed.Position) > 0 }

// names are the fields that the query names.
func (d *definition) names() (names []feedmill.FieldName) {
	add := func(from, name string) { names = append(names, feedmill.FieldName{From: from, Name: name}) }
	for _, f := range d.query.Fields {
		add(f.From, f.Name)
	}
	for _, c := range d.query.Where {
		add(c.From, c.Name)
	}
	d.query.Tree.Leaves(func(n *feedmill.WhereNode) { add(n.From, n.Name) })
	for _, s := range d.query.Sort {
		add(s.From, s.Name)
	}
	var aliases []string
	for _, j := range d.query.Joins {
		for _, p := range j.On {
			names = append(names, feedmill.FieldNames(p.Left, aliases)...)
			for _, n := range feedmill.FieldNames(p.Right, []string{j.As}) {
				add(j.As, n.Name)
			}
		}
		aliases = append(aliases, j.As)
	}
	if d.query.Since != nil {
		add("", d.query.Since.Field)
	}
	for _, c := range d.query.Computed {
		names = append(names, compute.Names(c.Expression)...)
	}
	return names
}

func (d *definition) typeChanged(was feedmill.PinnedField, now *Field, u *usage) string {
	return fmt.Sprintf("The field %s of %s was %s when the query was created and is %s now, which changes the meaning of its %s.",
		feedmill.FieldName{From: now.From, Name: now.Name}, d.view, typeName(was), typeName(now.pinned()), strings.Join(u.purposes, ", "))
}

func typeName(f feedmill.PinnedField) string {
	switch {
	case f.Type == columnar.TypeTimestamp && f.Zoned:
		return "timestamp with a time zone"
	case f.Type == columnar.TypeTimestamp:
		return "timestamp without a time zone"
	}
	return string(f.Type)
}
