package feed

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// typedTable is rows of one feed whose columns have types already. They are
// written as they come, in the types that they have, as a version of their own.
type typedTable struct {
	columns  []feedmill.Column
	warnings []feedmill.Warning // about names
	rows     int64

	runs  chan []columnar.Vector
	ended bool
	// cancel gives up the writing, which is done once written is closed: the
	// version is then there or why it is not.
	cancel  context.CancelFunc
	written chan struct{}
	version lake.Version
	fault   error
}

// beginTyped begins to write rows with some columns.
func (m *Mill) beginTyped(ctx context.Context, l *loading, columns []feedmill.Column) *typedTable {
	t := &typedTable{runs: make(chan []columnar.Vector), written: make(chan struct{})}
	t.columns, t.warnings = nameTyped(l, columns)
	ctx, t.cancel = context.WithCancel(ctx)
	go func() {
		defer close(t.written)
		t.version, t.fault = lake.Write(ctx, m.Blobs, l.file, feedmill.TypedTable{Columns: t.columns, Runs: t.each})
	}()
	return t
}

func (t *typedTable) each(yield func([]columnar.Vector, error) bool) {
	for run := range t.runs {
		if !yield(run, nil) {
			return
		}
	}
}

// add hands some rows to whoever writes them, unless that has failed.
func (t *typedTable) add(run []columnar.Vector) error {
	select {
	case t.runs <- run:
		if len(run) > 0 {
			t.rows += int64(run[0].Len)
		}
		return nil
	case <-t.written:
		return t.fault
	}
}

// end waits until all rows are written.
func (t *typedTable) end() (lake.Version, error) {
	t.ended = true
	close(t.runs)
	<-t.written
	t.cancel()
	return t.version, t.fault
}

// close gives up what was not written to its end. Nothing is left of it.
func (t *typedTable) close() {
	if !t.ended {
		t.cancel()
		_, _ = t.end()
	}
}

// writeTyped makes a version of rows that have types already, in the columns that
// the feed has. If it fails, nothing is left.
func (m *Mill) writeTyped(ctx context.Context, l *loading, t *typedTable) error {
	fresh, err := t.end()
	if err != nil {
		return err
	}
	return m.completeTyped(ctx, l, fresh, t.columns, t.warnings)
}

// nameTyped names columns that have types, as the feed calls them where it has them.
func nameTyped(l *loading, columns []feedmill.Column) ([]feedmill.Column, []feedmill.Warning) {
	named, warnings := model.Name(columns)
	if l.before.Version > 0 {
		fitting := model.Fit(l.before.Columns, named, l.before.LastColumn, 0)
		named = fitting.Label(named)
	}
	return named, warnings
}

// completeTyped is complete for rows that have types already, in columns that they are to
// have in a feed of their own.
func (m *Mill) completeTyped(ctx context.Context, l *loading, fresh lake.Version, columns []feedmill.Column, warnings []feedmill.Warning) error {
	found := m.newMisfits(l)
	defer found.close()
	rows := fresh.Rows
	columns, changes, err := fitTyped(l, columns, rows)
	if err != nil {
		m.remove(l.file)
		return err
	}
	if mustConvert(fresh.Columns, columns) {
		if fresh, columns, err = m.convertFresh(ctx, l, fresh, columns, found); err != nil {
			return l.blame(err)
		}
	}
	return m.complete(ctx, l, fresh, columns, rows, slices.Concat(relabelled(warnings, columns), changes), found)
}
