package feed

import (
	"errors"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// changeColumns makes the changes that came with the data and those of the feed's definition.
// A definition changes a column when it is first found. What users change afterwards
// stays. The warnings are about entries whose columns were not found.
func (l *loading) changeColumns(columns []feedmill.Column) ([]feedmill.Column, []feedmill.Warning, error) {
	had := sourceNames(l.before.Columns)
	here := sourceNames(columns)
	changes := slices.Clone(l.columns)
	var warnings []feedmill.Warning
	for _, c := range l.defined {
		switch {
		case slices.Contains(had, c.SourceName):
		case slices.Contains(here, c.SourceName):
			changes = append(changes, c)
		case len(columns) > 0:
			warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnNothingFound, Column: c.SourceName, Count: 1, Detail: fmt.Sprintf(
				"The data has no column %q, so its entry in columns has no effect yet. Correct the sourceName, or remove the entry.", c.SourceName)})
		}
	}
	changed, err := feedmill.ChangeColumns(columns, changes)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && len(l.defined) > 0 {
		err = unfitChanges(refusal)
	}
	return changed, warnings, err
}

// unfitChanges is the failure of changes in a definition that do not fit the columns that
// were found.
func unfitChanges(refusal *feedmill.Error) error {
	refused := &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: "columns", Detail: "The changes in columns do not fit the data:", Faults: refusal.Faults}
	for _, f := range refusal.Faults {
		refused.Detail += fmt.Sprintf(" %s: %s;", f.Pointer, f.Detail)
	}
	refused.Detail = refused.Detail[:len(refused.Detail)-1] + ". Correct columns with PATCH /data_feeds/{id}."
	return refused
}

func sourceNames(columns []feedmill.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.SourceName)
	}
	return names
}

// redefineColumns makes the changes of a new definition to the columns that a feed has. The others
// are made when their columns are found.
func redefineColumns(feed *feedmill.Feed) error {
	had := sourceNames(feed.Columns)
	changes := slices.DeleteFunc(feedmill.DefinedColumns(feed.Spec), func(c feedmill.ColumnChange) bool { return !slices.Contains(had, c.SourceName) })
	return feed.Relabel(changes)
}

// relabelled are warnings that name columns as the feed does, and not as the source.
func relabelled(warnings []feedmill.Warning, columns []feedmill.Column) []feedmill.Warning {
	named := slices.Clone(warnings)
	for i := range named {
		w := &named[i]
		if slices.ContainsFunc(columns, func(c feedmill.Column) bool { return c.Name == w.Column }) {
			continue
		}
		if at := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.SourceName == w.Column }); at >= 0 {
			w.Column = columns[at].Name
		}
	}
	return named
}
