package feedmill

import "github.com/feedmill/feedmill/internal/columnar"

// Pins is what the names in a query were resolved to when the query was
// created. A refresh follows the pins or fails; it never resolves a name anew.
// The types of the selected columns are pinned by the feed's current version.
type Pins struct {
	// Schema and View are where the rows are, empty where not pinned yet.
	Schema string `json:"schema,omitzero"`
	View   string `json:"view,omitzero"`
	// Fields are the fields that the query uses: selected, filtered, sorted,
	// grouped or incremental.
	Fields []PinnedField `json:"fields,omitzero"`
}

// PinnedField is a field of a view with the type that it had when it was pinned.
type PinnedField struct {
	Name string        `json:"name"`
	Type columnar.Type `json:"type"`
	// Zoned reports whether the times of the field have a time zone.
	Zoned bool `json:"zoned,omitzero"`
}

// Field returns the pinned field of that name.
func (p Pins) Field(name string) (PinnedField, bool) {
	for _, f := range p.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return PinnedField{}, false
}
