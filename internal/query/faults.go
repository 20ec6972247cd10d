package query

import "github.com/feedmill/feedmill"

// Faults are the places of a query that are wrong. The zero value has none.
type Faults struct {
	list []feedmill.Fault
	// repeated is how many of them are fields that are named again.
	repeated int
}

// Add adds a place and what is wrong there.
func (f *Faults) Add(place feedmill.Fault, detail string) {
	place.Detail = detail
	f.list = append(f.list, place)
}

// Err is the refusal of the query, or nil where nothing is wrong.
func (f *Faults) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	if f.repeated == len(f.list) {
		return &feedmill.Error{
			Kind: feedmill.ErrInvalid, Type: "duplicate-field", Faults: f.list,
			Detail: "A query contains a field more than once. List it once; use a list for several aggregates of it.",
		}
	}
	return feedmill.Invalid("The query does not fit the columns of this feed.", f.list...)
}
