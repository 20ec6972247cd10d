package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// loading is data on its way to be a version, and what the record is to say of
// it, which is gathered on the way.
type loading struct {
	// before is the feed as it was, without a version for a new one.
	before feedmill.Feed
	// mode says what becomes of the rows that the feed has, and key names the
	// columns of which each value has one row.
	mode    feedmill.FeedMode
	key     []string
	again   feedmill.FetchedAgain
	fetched deletes
	version feedmill.FeedVersion
	// file is the name of the file that fresh rows are written to, and written
	// are further files that were written for the version.
	file    string
	written []string
	refresh feedmill.Refresh
	// reshaped says that the columns are not those of the version before.
	reshaped bool
	// columns are changes that came with the data, and reading is how it is read.
	columns []feedmill.ColumnChange
	// defined are the changes in the definition of a feed that fetches its data.
	defined []feedmill.ColumnChange
	reading feedmill.Reading
	// shared says that the original is another version's as well.
	shared bool
	// pageOf is the page of a record; nil where the data does not come in pages.
	pageOf func(record int64) int
	// accept takes rows that are not what is expected of them.
	accept bool
	// declared says that the source has named all columns, so that the others are gone.
	declared bool
	// unchanged says that the version would be the one that is there.
	unchanged bool
	// shown is what a preview shows rows of.
	shown *lake.Version
	// survey counts misfits for a trial; nil for a version that is to be kept.
	survey *survey
}

// write makes a version of cells whose types are known. If it fails, nothing is
// left.
func (m *Mill) write(ctx context.Context, l *loading, schema *model.Schema, warnings []feedmill.Warning, table model.Table) error {
	found := m.newMisfits(l)
	defer found.close()
	warnings, err := fitSchema(ctx, l, schema, warnings, table)
	if err != nil {
		return err
	}
	loading := model.Loading{}
	found.pageOf = l.pageOf
	if slices.ContainsFunc(schema.Columns, func(c feedmill.Column) bool { return c.Fixed }) {
		loading.Misfit = found.add
	}
	fresh, err := lake.Write(ctx, m.Blobs, l.file, found.watch(schema.Load(ctx, table, loading), schema.Columns))
	if err != nil {
		return l.blame(err)
	}
	l.version.Found = schema.Found
	return m.complete(ctx, l, fresh, l.fetched.stored(schema.Columns), schema.Rows, warnings, found)
}

// complete makes a version with some columns of fresh rows, together with those
// that the feed keeps, and notes what is to be said of it. If it fails, nothing is
// left.
func (m *Mill) complete(ctx context.Context, l *loading, fresh lake.Version, columns []feedmill.Column, rows int64, warnings []feedmill.Warning, found *misfits) error {
	v, err := m.combine(ctx, l, fresh, columns, found)
	if err != nil {
		return l.blame(err)
	}
	if err := m.restoreNullable(ctx, l, &v); err != nil {
		m.dropWritten(l)
		return err
	}
	if err := m.wantExpected(ctx, l, &v.Version); err != nil {
		m.dropWritten(l)
		return err
	}
	if err := found.keep(ctx, &l.refresh); err != nil {
		m.dropWritten(l)
		return err
	}
	warnings = append(warnings, found.warnings()...)
	warnings = append(warnings, l.notDeleted(v.Deletions)...)
	l.version.Files, l.version.Columns = v.Files, v.Columns
	l.version.Rows, l.version.Bytes, l.version.ContentHash = v.Rows, v.Bytes, v.ContentHash
	l.count(rows, fresh.Rows, v)
	if warning, any := l.superseded(v); any {
		warnings = append(warnings, warning)
	}
	l.version.Warnings, l.refresh.Warnings = warnings, warnings
	return m.compareWithLast(ctx, l, v)
}

// combine puts fresh rows together with those that the feed keeps. The file of
// the fresh ones goes, unless the version has it.
func (m *Mill) combine(ctx context.Context, l *loading, fresh lake.Version, columns []feedmill.Column, found *misfits) (lake.Combined, error) {
	keeps := l.adds()
	if !keeps && len(l.key) == 0 && slices.Equal(fresh.Columns, columns) {
		return lake.Combined{Version: fresh, Added: fresh.Rows}, nil
	}
	c := lake.Combination{New: &fresh, Columns: columns, Key: keyColumns(l.key, columns), Deletes: l.deletes(fresh, found.rejected)}
	if keeps {
		old, err := m.Versions.FeedVersion(ctx, l.before.Workspace, l.before.ID, l.before.Version)
		if err != nil {
			m.dropWritten(l)
			return lake.Combined{}, fmt.Errorf("the version before: %w", err)
		}
		c.Old = lakeVersion(old)
		if mustConvert(c.Old.Columns, columns) {
			converted, fixed, err := m.convertKept(ctx, l, c.Old, columns, found)
			if err != nil {
				m.dropWritten(l)
				return lake.Combined{}, err
			}
			l.written = append(l.written, converted.Name)
			c.Old, c.Columns = &converted, fixed
		}
		if l.again.Came > 0 && l.before.Rules != feedmill.RulesOriginal {
			c.Overlap = &lake.Overlap{OldFrom: max(old.Rows-l.again.Kept, 0), NewTo: l.again.Came}
		}
	}
	v, err := m.Reader.Combine(ctx, strings.TrimSuffix(l.file, ".parquet")+"-combined.parquet", c)
	if err != nil {
		m.dropWritten(l)
		return lake.Combined{}, err
	}
	made := append(l.files(), v.Written...)
	l.written = nil
	for _, name := range made {
		if slices.ContainsFunc(v.Files, func(f feedmill.VersionFile) bool { return f.Name == name }) {
			l.written = append(l.written, name)
		} else {
			m.remove(name)
		}
	}
	return v, nil
}

func lakeVersion(v feedmill.FeedVersion) *lake.Version {
	return &lake.Version{
		Name: fmt.Sprintf("%s/%d", v.Feed, v.Number), Files: v.Files, Columns: v.Columns, Rows: v.Rows, Bytes: v.Bytes, ContentHash: v.ContentHash,
	}
}

// columnIDs are the ids of columns that have some names, all of them or none.
func columnIDs(columns []feedmill.Column, names []string) (ids []string) {
	for _, name := range names {
		at := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.Name == name })
		if at < 0 {
			return nil
		}
		ids = append(ids, columns[at].ID)
	}
	return ids
}

// files are those that are written for a version.
func (l *loading) files() []string { return append([]string{l.file}, l.written...) }

// dropWritten removes the files that were written for a version.
func (m *Mill) dropWritten(l *loading) {
	for _, name := range l.files() {
		m.remove(name)
	}
}

// drop removes the files of a loading that failed, and returns the failure.
func (m *Mill) drop(l *loading, cause error) error {
	m.dropWritten(l)
	if l.version.Original != "" && !l.shared {
		m.remove(l.version.Original)
	}
	if l.refresh.Rejects != "" {
		m.remove(l.refresh.Rejects)
	}
	return cause
}

// dropRefused is drop for a loading that the store did not take. Where the store
// cannot say whether it did, the files stay: they are swept if it did not.
func (m *Mill) dropRefused(l *loading, cause error) error {
	refused := []error{feedmill.ErrConflict, feedmill.ErrNotFound, feedmill.ErrInvalid, feedmill.ErrIdempotencyKeyUsed}
	if slices.ContainsFunc(refused, func(kind error) bool { return errors.Is(cause, kind) }) {
		return m.drop(l, cause)
	}
	return cause
}
