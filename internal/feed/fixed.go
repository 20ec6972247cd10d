package feed

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// newMisfits begins to gather what does not fit the types that were set.
func (m *Mill) newMisfits(l *loading) *misfits {
	return &misfits{blobs: m.Blobs, name: strings.TrimSuffix(l.file, ".parquet") + ".rejects", survey: l.survey}
}

// fitSchema makes a schema that of the feed's next version: with the columns that the
// feed has, and with the names and types that somebody has set. It returns the
// warnings, of which those about other names and types than the columns then have are
// gone.
func fitSchema(ctx context.Context, l *loading, schema *model.Schema, warnings []feedmill.Warning, table model.Table) ([]feedmill.Warning, error) {
	if err := schema.CheckLocale(); err != nil {
		return nil, err
	}
	before := slices.Clone(schema.Columns)
	var changes []feedmill.Warning
	if l.before.Version > 0 {
		changes = schema.Fit(l.before.Columns, l.before.LastColumn)
		changes = l.fetched.changed(schema.Columns, schema.Rows, changes)
	}
	columns, unfound, err := l.changeColumns(schema.Columns)
	if err != nil {
		return nil, err
	}
	changes = append(changes, unfound...)
	schema.Columns = columns
	more, err := schema.Retype(ctx, table)
	if err != nil {
		return nil, err
	}
	stored := l.fetched.stored(schema.Columns)
	if err := l.wantKept(stored); err != nil {
		return nil, err
	}
	l.reshaped = l.before.Version > 0 && !slices.Equal(stored, l.before.Columns)
	reported := make([]feedmill.Warning, 0, len(warnings))
	for _, w := range warnings {
		at := slices.IndexFunc(before, func(c feedmill.Column) bool { return c.Name == w.Column })
		if w.Column != "" && at >= 0 {
			now := columns[schema.ColumnOf(at)]
			if now.Fixed && slices.Contains(aboutTypes, w.Code) {
				continue
			}
			w.Column = now.Name
		}
		reported = append(reported, w)
	}
	return slices.Concat(reported, changes, more, l.keyWarnings(stored)), nil
}

// aboutTypes are the warnings about how the type of a column was found.
var aboutTypes = []string{
	feedmill.WarnDates, feedmill.WarnLocale, feedmill.WarnCurrency, feedmill.WarnDigits, feedmill.WarnMisfit, feedmill.WarnAssumedLocale,
	feedmill.WarnAssumedOrder, feedmill.WarnNumericText, feedmill.WarnThousands,
}

// fitTyped is fitSchema for columns that have types already.
func fitTyped(l *loading, columns []feedmill.Column, rows int64) ([]feedmill.Column, []feedmill.Warning, error) {
	var changes []feedmill.Warning
	if l.before.Version > 0 {
		fitting := model.Fit(l.before.Columns, columns, l.before.LastColumn, rows)
		if l.declared && len(l.before.Position) == 0 {
			fitting.DropMissing()
		}
		columns, changes = fitting.Columns, fitting.Changes
	}
	columns, unfound, err := l.changeColumns(columns)
	if err != nil {
		return nil, nil, err
	}
	changes = append(changes, unfound...)
	for i := range columns {
		c := &columns[i]
		if c.Retype != "" {
			c.Type, c.Retype, c.Fixed, c.Precision, c.Scale = c.Retype, "", true, 0, 0
		}
	}
	l.reshaped = l.before.Version > 0 && !slices.Equal(columns, l.before.Columns)
	return columns, append(changes, l.keyWarnings(columns)...), l.wantKept(columns)
}

// convertFresh makes rows that have types already those of the types that were set.
func (m *Mill) convertFresh(ctx context.Context, l *loading, fresh lake.Version, columns []feedmill.Column, found *misfits) (lake.Version, []feedmill.Column, error) {
	options, err := modelOptions(l.reading)
	if err != nil {
		return lake.Version{}, nil, err
	}
	defer m.remove(l.file)
	l.file = strings.TrimSuffix(l.file, ".parquet") + "-typed.parquet"
	return m.convert(ctx, l.file, &fresh, columns, options, found)
}

// convertKept is convertFresh for the rows that a feed has.
func (m *Mill) convertKept(ctx context.Context, l *loading, old *lake.Version, columns []feedmill.Column, found *misfits) (lake.Version, []feedmill.Column, error) {
	options, err := modelOptions(remembering(l.reading, l.before))
	if err != nil {
		return lake.Version{}, nil, err
	}
	return m.convert(ctx, strings.TrimSuffix(l.file, ".parquet")+"-kept.parquet", old, columns, options, found)
}

// keyColumns names the columns of a key, which may be given by what the data calls
// them.
func keyColumns(key []string, columns []feedmill.Column) []string {
	names := slices.Clone(key)
	for i, name := range names {
		if slices.ContainsFunc(columns, func(c feedmill.Column) bool { return c.Name == name }) {
			continue
		}
		if at := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.SourceName == name }); at >= 0 {
			names[i] = columns[at].Name
		}
	}
	return names
}

// blame says of misfits in a column whose type comes with the request where in the request
// that is.
func (l *loading) blame(err error) error {
	refusal, ok := errors.AsType[*misfitError](err)
	if !ok {
		return err
	}
	blamed := *refusal.refusal
	for _, c := range slices.Concat(l.columns, l.defined) {
		if c.Type == nil {
			continue
		}
		for _, name := range refusal.columns {
			if c.Name != nil && *c.Name == name || c.Name == nil && (c.SourceName == name || l.nameOf(c.ID) == name) {
				at := c.Place
				if at.Parameter == "" {
					at.Pointer += "/type"
				}
				at.Detail = blamed.Detail
				blamed.Faults = append(blamed.Faults, at)
			}
		}
	}
	return &blamed
}

// labelled is columns of the feed with what came with the data that they are from.
func (l *loading) labelled(columns []feedmill.Column) []feedmill.Column {
	if len(l.columns) == 0 {
		return columns
	}
	return feedmill.Label(columns, l.version.Columns)
}

// nameOf is what the feed calls a column.
func (l *loading) nameOf(id string) string {
	for _, c := range l.before.Columns {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}
