package feedmill

import (
	"slices"

	"github.com/feedmill/feedmill/internal/columnar"
)

// Pins is what the names in a query were resolved to when the query was
// created. A refresh follows the pins or fails; it never resolves a name anew.
type Pins struct {
	// Origin tells the database apart in which Schema and View were resolved. In
	// another one they are resolved again, and the types stay.
	Origin string `json:"origin,omitzero"`
	// Schema and View are where the rows are, empty where not pinned yet.
	Schema string `json:"schema,omitzero"`
	View   string `json:"view,omitzero"`
	// SQLView is the SQL view that has the rows, empty for a view of the database.
	SQLView ID `json:"sqlView,omitzero"`
	// Joins are where the joined views are.
	Joins []PinnedView `json:"joins,omitzero"`
	// Fields are the fields that the query uses: selected, filtered, sorted,
	// grouped or incremental.
	Fields []PinnedField `json:"fields,omitzero"`
}

// PinnedView is where a joined view is.
type PinnedView struct {
	As     string `json:"as"`
	Schema string `json:"schema,omitzero"`
	View   string `json:"view"`
	// SQLView is the SQL view that has the rows, empty for a view of the database.
	SQLView ID `json:"sqlView,omitzero"`
}

// PinnedField is a field of a view with the type that it had when it was pinned.
type PinnedField struct {
	// From is the alias of a joined view; empty for the first view.
	From string        `json:"from,omitzero"`
	Name string        `json:"name"`
	Type columnar.Type `json:"type"`
	// Zoned reports whether the times of the field have a time zone.
	Zoned bool `json:"zoned,omitzero"`
}

// Field returns the pinned field of that name and alias.
func (p Pins) Field(from, name string) (PinnedField, bool) {
	for _, f := range p.Fields {
		if f.From == from && f.Name == name {
			return f, true
		}
	}
	return PinnedField{}, false
}

// SQLViewOf returns the SQL view of an alias, empty for a view of the database.
func (p Pins) SQLViewOf(from string) ID {
	if from == "" {
		return p.SQLView
	}
	for _, j := range p.Joins {
		if j.As == from {
			return j.SQLView
		}
	}
	return ""
}

// Equal reports whether both pin the same.
func (p Pins) Equal(q Pins) bool {
	return p.Origin == q.Origin && p.Schema == q.Schema && p.View == q.View && p.SQLView == q.SQLView &&
		slices.Equal(p.Joins, q.Joins) && slices.Equal(p.Fields, q.Fields)
}

// ProblemTypeChanged is the type of the refusal of data in which a field has another
// order or equality than a query, key or cursor was created with.
const ProblemTypeChanged = "type-changed"

// KeepsOrder reports whether values of a type that become those of another compare as
// they did. Whole numbers and decimals do. A number is one with them as long as every
// value survives the conversion, which the caller checks.
func KeepsOrder(was, now columnar.Type) bool {
	numeric := []columnar.Type{columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber}
	return was == now || slices.Contains(numeric, was) && slices.Contains(numeric, now)
}
