package model

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Fitting is how the columns of data become those of a feed's next version.
type Fitting struct {
	// Columns are those of the next version.
	Columns []feedmill.Column
	// From says for each of them which one of the data it is, or -1.
	From []int
	// Changes warn of everything that is not as the feed had it.
	Changes []feedmill.Warning
}

// Fit fits columns that have types already, of data with so many rows, to those
// that a feed has. Those stay where they are, with their ids and names, found
// again by what the data calls them; where values would not fit a type any more,
// it widens, and new columns come last. Their numbers follow the last one that the feed has used.
func Fit(kept, columns []feedmill.Column, last int, rows int64) Fitting {
	return fit(kept, columns, last, rows, false, func(old feedmill.Column, i int) feedmill.Column { return Widen(old, columns[i]) })
}

// fit is Fit with a way to widen a column that the feed has for values of column
// i of the data. By the original rules there is a warning of more digits for whole numbers.
func fit(kept, columns []feedmill.Column, last int, rows int64, original bool, widen func(old feedmill.Column, i int) feedmill.Column) (f Fitting) {
	found := make([]bool, len(columns))
	for _, old := range kept {
		i := find(old, columns, found)
		if i < 0 {
			old.Nullable = true
			f.add(old, -1)
			f.warn(feedmill.WarnMissing, old.Name, rows, fmt.Sprintf("The data no longer contains the column, so it is null in the %d imported rows. Restore the column at the source, or hide it.", rows))
			continue
		}
		found[i] = true
		if old.Fixed || old.Retype != "" {
			old.Nullable = old.Nullable || columns[i].Nullable
			f.add(old, i)
			continue
		}
		now := widen(old, i)
		f.add(now, i)
		// Whole numbers get room among decimals without a look at how long they are, so that
		// nobody knows whether there was one that did not fit.
		whole := !original && old.Type == columnar.TypeDecimal && columns[i].Type == columnar.TypeInteger && now.Type == old.Type
		if now.Type != old.Type || now.Scale != old.Scale || now.Precision != old.Precision && !whole {
			f.warn(feedmill.WarnWidened, old.Name, 1, fmt.Sprintf("The column type changed from %s to %s because some values did not fit.", typeName(old), typeName(now)))
		}
	}
	last = feedmill.LastNumber(last, kept)
	for i, column := range columns {
		if found[i] {
			continue
		}
		column.ID = columnID(last)
		last++
		column.Name = freeName(f.Columns, column.Name)
		column.Nullable = true // in the rows of earlier versions
		f.add(column, i)
		f.warn(feedmill.WarnAdded, column.Name, 1, "The data contains a new column, which was added to the feed. Hide it if you do not need it.")
	}
	return f
}

func (f *Fitting) add(c feedmill.Column, from int) {
	f.Columns, f.From = append(f.Columns, c), append(f.From, from)
}

// DropMissing takes out the columns that the data does not have, and the warnings
// of them, for data that is another table.
func (f *Fitting) DropMissing() {
	var columns []feedmill.Column
	var from []int
	for i, at := range f.From {
		if at >= 0 {
			columns, from = append(columns, f.Columns[i]), append(from, at)
		}
	}
	f.Columns, f.From = columns, from
	f.Changes = slices.DeleteFunc(f.Changes, func(w feedmill.Warning) bool { return w.Code == feedmill.WarnMissing })
}

func (f *Fitting) warn(code, column string, count int64, detail string) {
	f.Changes = append(f.Changes, feedmill.Warning{Code: code, Column: column, Count: count, Detail: detail})
}

// Label returns the columns of the data with the ids and names that they have in
// the next version. Their types stay.
func (f *Fitting) Label(columns []feedmill.Column) []feedmill.Column {
	labelled := slices.Clone(columns)
	for to, from := range f.From {
		if from >= 0 {
			labelled[from].ID, labelled[from].Name = f.Columns[to].ID, f.Columns[to].Name
		}
	}
	return labelled
}

// find is the column of the data that an old one is.
func find(old feedmill.Column, columns []feedmill.Column, found []bool) int {
	for i, column := range columns {
		if !found[i] && column.SourceName == old.SourceName {
			return i
		}
	}
	return -1
}

// Fit makes the schema one for a later version of a feed that has the columns
// already; see [Fit]. It warns of everything that changes. Fit changes the schema.
func (s *Schema) Fit(kept []feedmill.Column, last int) (changes []feedmill.Warning) {
	f := fit(kept, s.Columns, last, s.Rows, s.options.Rules == feedmill.RulesOriginal, s.widen)
	plans, found := make([]plan, len(f.Columns)), make([]columnar.Type, len(f.Columns))
	for to, from := range f.From {
		plans[to] = plan{decimals: point}
		if from >= 0 {
			plans[to], found[to] = s.plans[from], s.found[from]
		}
	}
	s.Columns, s.plans, s.found, s.source = f.Columns, plans, found, f.From
	return f.Changes
}

// widen is an old column with the values of column i, of which more is known
// than its type.
func (s *Schema) widen(old feedmill.Column, i int) feedmill.Column {
	if s.plans[i].empty {
		old.Nullable = true
		return old
	}
	now := s.Columns[i]
	if old.Type == columnar.TypeNumber && isExact(now) && !s.plans[i].long && now.Format == "" {
		old.Nullable = old.Nullable || now.Nullable
		return old
	}
	return Widen(old, now)
}

func freeName(taken []feedmill.Column, name string) string {
	free := name
	for n := 2; slices.ContainsFunc(taken, func(c feedmill.Column) bool { return c.Name == free }); n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	return free
}
