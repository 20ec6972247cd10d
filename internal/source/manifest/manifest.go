package manifest

import (
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Limits of a manifest.
const (
	MaxBytes    = 256 << 10
	maxViews    = 200
	maxFields   = 500
	maxSettings = 50
	maxName     = 100
	maxText     = 2_000
)

// Manifest is an API as a service.
type Manifest struct {
	// Service is its name, and Title what people call it.
	Service, Title, Description string
	// Docs is where the API is documented.
	Docs string
	// Rules is the version of the rules that the manifest was written for: the first
	// where it names none, because a file can be older than this release.
	Rules feedmill.Rules
	// Settings are what a connection says, in their order.
	Settings []Setting
	// SignIn is how a person connects, nil for a service that needs none.
	SignIn *feedmill.Provider
	Views  []View

	doc strictjson.Value
}

// Setting is something that a connection says: a secret, an account, a region.
type Setting struct {
	Name, Title, Description string
	Secret                   bool
	// Default is what it is where a connection does not say; Required says that a
	// connection must.
	Default  string
	Required bool
}

// View is a list of records of the API.
type View struct {
	Name, Title, Description string
	Fields                   []Field
	// Key names the fields that tell records apart.
	Key []string
	// Cursor is the field by which a feed fetches only what is new, empty for none.
	Cursor string
}

// Field is something that every record of a view may have.
type Field struct {
	Name, Title, Description string
	Type                     columnar.Type
	// Path is where it is in a record, empty where it is a column that response.keyAs
	// or each.include adds.
	Path string
	// Written is how the API writes its times, empty where that is found.
	Written string
	// Format is how its values are read, such as USD, empty where nothing is said.
	Format string
	// Pass are the ways in which filters are passed on to the API.
	Pass []Pass
}

// Pass is a parameter of the API that makes the answer smaller.
type Pass struct {
	// Kind is what the parameter means.
	Kind PassKind
	// Param is its name, and In where it is sent: query, headers, body, or token for
	// where {{filter.NAME}} stands in the request.
	Param, In string
	// Default is what a token stands for where there is no filter.
	Default string
	// Format is how a time is written: rfc3339, date, unix, unixMs or a pattern.
	Format string
	// Values are the only ones that the API knows, nil for any; As are what they
	// are called there.
	Values, As []string
	// Separator stands between several values; without it only one can be passed.
	Separator string
}

// PassKind is what a parameter means.
type PassKind string

// The kinds of parameters. From and To may let more through at their ends.
const (
	PassEqual PassKind = "eq"
	PassFrom  PassKind = "from"
	PassTo    PassKind = "to"
)

// Operators are the operators of which a filter on the field is passed on.
func (f *Field) Operators() (all []feedmill.FilterOp) {
	has := func(k PassKind) bool {
		return slices.ContainsFunc(f.Pass, func(p Pass) bool { return p.Kind == k })
	}
	equal, from, to := has(PassEqual), has(PassFrom), has(PassTo)
	if equal || from || to {
		all = append(all, feedmill.OpEq)
	}
	if from {
		all = append(all, feedmill.OpGt, feedmill.OpGte)
	}
	if to {
		all = append(all, feedmill.OpLt, feedmill.OpLte)
	}
	if from || to {
		all = append(all, feedmill.OpBetween)
		if f.Type == columnar.TypeDate || f.Type == columnar.TypeTimestamp {
			all = append(all, feedmill.OpLast, feedmill.OpNext, feedmill.OpCurrent, feedmill.OpToDate)
		}
	}
	slices.Sort(all)
	return all
}

// View finds a view by its name.
func (m *Manifest) View(name string) (*View, bool) {
	i := slices.IndexFunc(m.Views, func(v View) bool { return v.Name == name })
	if i < 0 {
		return nil, false
	}
	return &m.Views[i], true
}

// All are the fields.
func (v *View) All() []*Field {
	all := make([]*Field, len(v.Fields))
	for i := range v.Fields {
		all[i] = &v.Fields[i]
	}
	return all
}

// columns are the fields as columns of a table.
func (v *View) columns() []feedmill.Column {
	columns := make([]feedmill.Column, len(v.Fields))
	for i, f := range v.Fields {
		columns[i] = feedmill.Column{
			ID: "c" + strconv.Itoa(i+1), Name: f.Name, SourceName: f.Name, Description: f.Description, Type: f.Type, Format: f.Format, Nullable: true,
		}
	}
	return columns
}
