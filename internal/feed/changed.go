package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// compareWithLast notes what is different between the version that is made and the
// one that is there, or that nothing is.
func (m *Mill) compareWithLast(ctx context.Context, l *loading, made lake.Combined) error {
	l.version.Changes.Columns = feedmill.CompareColumns(l.before.Columns, l.version.Columns)
	key := l.key
	if len(key) == 0 && l.mode == feedmill.ModeReplace {
		key = l.before.Key // in this upload's data nobody has made sure of it
	}
	ids := columnIDs(l.version.Columns, key)
	// Rows that were merged have the key if those had it that they were merged into.
	sure := len(l.key) > 0
	var last feedmill.FeedVersion
	var err error
	if l.before.Version > 0 {
		if last, err = m.Versions.FeedVersion(ctx, l.before.Workspace, l.before.ID, l.before.Version); err != nil {
			return m.drop(l, fmt.Errorf("the version before: %w", err))
		}
		sure = sure && (!l.adds() || last.Rows == 0 || slices.Equal(last.Keyed, ids))
	}
	keyed, err := m.keyedBy(ctx, &made.Version, ids, sure)
	if err != nil {
		return m.drop(l, err)
	}
	l.version.Keyed = keyed
	if len(l.key) == 0 && l.mode == feedmill.ModeReplace && ids != nil && keyed == nil {
		if err := m.warnDuplicates(ctx, l, &made.Version, ids); err != nil {
			return m.drop(l, err)
		}
	}
	if l.before.Version == 0 {
		if keyed != nil {
			l.version.Changes.Rows = &feedmill.RowChanges{Inserted: made.Rows}
		}
		return nil
	}
	if err := m.compareRows(ctx, l, last, made); err != nil {
		return m.drop(l, err)
	}
	return nil
}

// compareRows notes which rows of a version are others than those of the last one.
func (m *Mill) compareRows(ctx context.Context, l *loading, last feedmill.FeedVersion, made lake.Combined) (err error) {
	if l.unchanged, err = m.same(ctx, last, made.Version); err == nil && !l.unchanged {
		l.version.Changes.Rows, err = m.countChanges(ctx, l, last, made)
	}
	if errors.Is(err, feedmill.ErrDamaged) && !l.adds() {
		l.version.Changes.Rows = nil // data that replaces a damaged version cannot be compared with it
		return nil
	}
	return err
}

// warnDuplicates warns of rows that have the same values in some columns.
func (m *Mill) warnDuplicates(ctx context.Context, l *loading, v *lake.Version, ids []string) error {
	found, err := m.Reader.Duplicates(ctx, v, ids)
	if err != nil {
		return err
	}
	if warning, any := l.keptDuplicates(found); any {
		l.version.Warnings = append(l.version.Warnings, warning)
		l.refresh.Warnings = l.version.Warnings
	}
	return nil
}

// keyedBy are the ids of columns where they are a key of a version, nil where they
// are not. sure says that it has been made so.
func (m *Mill) keyedBy(ctx context.Context, v *lake.Version, ids []string, sure bool) ([]string, error) {
	if ids == nil || sure {
		return ids, nil
	}
	if unique, err := m.Reader.Unique(ctx, v, ids); err != nil || !unique {
		return nil, err
	}
	return ids, nil
}

// same reports whether a version has the columns and rows of another.
func (m *Mill) same(ctx context.Context, last feedmill.FeedVersion, v lake.Version) (bool, error) {
	if last.Rows != v.Rows || last.ContentHash == v.ContentHash {
		return last.ContentHash == v.ContentHash, nil
	}
	if lake.Summed(last.Files) {
		return false, nil
	}
	// Its hash is that of an old release.
	rehashed, err := m.Reader.Rehash(ctx, *lakeVersion(last))
	return rehashed.ContentHash == v.ContentHash, err
}

// countChanges counts the rows that are different from those of the last version,
// where both have the same key.
func (m *Mill) countChanges(ctx context.Context, l *loading, last feedmill.FeedVersion, made lake.Combined) (*feedmill.RowChanges, error) {
	if same, err := m.haveKey(ctx, last, l.version.Keyed); err != nil || !same {
		return nil, err
	}
	if l.mode != feedmill.ModeReplace && !l.deletesRows(made) {
		return &feedmill.RowChanges{Inserted: made.Added - made.Replaced, Updated: made.Replaced}, nil
	}
	counted, err := m.Reader.CountChanges(ctx, lake.Comparison{Old: lakeVersion(last), New: &made.Version, Key: l.version.Keyed})
	return &counted, err
}

// haveKey reports whether columns of some ids are a key of a version.
func (m *Mill) haveKey(ctx context.Context, v feedmill.FeedVersion, ids []string) (bool, error) {
	if len(ids) == 0 {
		return false, nil
	}
	if slices.Equal(v.Keyed, ids) {
		return true, nil
	}
	keyed, err := m.keyedBy(ctx, lakeVersion(v), ids, false)
	return keyed != nil, err
}
