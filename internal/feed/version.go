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
	version feedmill.FeedVersion
	refresh feedmill.Refresh
	// reshaped says that the columns are not those of the version before.
	reshaped bool
	// columns are changes that came with the data, and reading is how it is read.
	columns []feedmill.ColumnChange
	reading feedmill.Reading
	// shared says that the original is another version's as well.
	shared bool
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
	if slices.ContainsFunc(schema.Columns, func(c feedmill.Column) bool { return c.Fixed }) {
		loading.Misfit = found.add
	}
	fresh, err := lake.Write(ctx, m.Blobs, l.version.File, found.watch(schema.Load(ctx, table, loading), schema.Columns))
	if err != nil {
		return l.blame(err)
	}
	l.version.Found = schema.Found
	return m.complete(ctx, l, fresh, schema.Columns, schema.Rows, warnings, found)
}

// complete makes a version with some columns of fresh rows, together with those
// that the feed keeps, and notes what is to be said of it. If it fails, nothing is
// left.
func (m *Mill) complete(ctx context.Context, l *loading, fresh lake.Version, columns []feedmill.Column, rows int64, warnings []feedmill.Warning, found *misfits) error {
	v, err := m.combine(ctx, l, fresh, columns, found)
	if err != nil {
		return l.blame(err)
	}
	if err := found.keep(ctx, &l.refresh); err != nil {
		m.remove(v.Blob)
		return err
	}
	warnings = append(warnings, found.warnings()...)
	l.version.File = v.Blob
	l.version.Columns, l.version.Rows, l.version.Bytes, l.version.ContentHash = v.Columns, v.Rows, v.Bytes, v.ContentHash
	l.version.Warnings = warnings
	l.refresh.RowsIn, l.refresh.RowsStored, l.refresh.Warnings = rows, max(rows-l.refresh.RowsRejected, 0), warnings
	return nil
}

// combine puts fresh rows together with those that the feed keeps. The file of
// the fresh ones goes, unless it is all that there is.
func (m *Mill) combine(ctx context.Context, l *loading, fresh lake.Version, columns []feedmill.Column, found *misfits) (lake.Version, error) {
	keeps := l.adds()
	if !keeps && len(l.key) == 0 && slices.Equal(fresh.Columns, columns) {
		return fresh, nil
	}
	c := lake.Combination{New: &fresh, Columns: columns, Key: keyColumns(l.key, columns)}
	if keeps {
		old, err := m.Versions.FeedVersion(ctx, l.before.Workspace, l.before.ID, l.before.Version)
		if err != nil {
			m.remove(fresh.Blob)
			return lake.Version{}, fmt.Errorf("the version before: %w", err)
		}
		c.Old = lakeVersion(old)
		if mustConvert(c.Old.Columns, columns) {
			converted, fixed, err := m.convertKept(ctx, l, c.Old, columns, found)
			if err != nil {
				m.remove(fresh.Blob)
				return lake.Version{}, err
			}
			defer m.remove(converted.Blob)
			c.Old, c.Columns = &converted, fixed
		}
		if l.again.Came > 0 {
			c.Overlap = &lake.Overlap{OldFrom: max(old.Rows-l.again.Kept, 0), NewTo: l.again.Came}
		}
	}
	v, err := m.Reader.Combine(ctx, strings.TrimSuffix(fresh.Blob, ".parquet")+"-combined.parquet", c)
	if err != nil || v.Blob != fresh.Blob {
		m.remove(fresh.Blob)
	}
	return v, err
}

func lakeVersion(v feedmill.FeedVersion) *lake.Version {
	return &lake.Version{Blob: v.File, Columns: v.Columns, Rows: v.Rows, Bytes: v.Bytes, ContentHash: v.ContentHash}
}

// drop removes the files of a loading that failed, and returns the failure.
func (m *Mill) drop(l *loading, cause error) error {
	m.remove(l.version.File)
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
