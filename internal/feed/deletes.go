package feed

import (
	"context"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// deletes is what a fetch says of rows that the source no longer has.
type deletes struct {
	// marks says which rows mark deletions, nil where none does.
	marks *feedmill.PageDeletes
	// full says that everything was fetched, and partial why nothing is deleted all the same.
	full    bool
	partial string
	// held says that deletions were not applied, so the next fetch has to bring them again.
	held bool
}

// isMark reports whether a column marks deletions.
func (d *deletes) isMark(c feedmill.Column) bool {
	return d.marks != nil && c.SourceName == d.marks.Column
}

// stored are the columns of a schema without the one that marks deletions.
func (d *deletes) stored(columns []feedmill.Column) []feedmill.Column {
	if !slices.ContainsFunc(columns, d.isMark) {
		return columns
	}
	return slices.DeleteFunc(slices.Clone(columns), d.isMark)
}

// changed are the warnings about columns, without those that come of rows that mark
// deletions: these have no columns but the key.
func (d *deletes) changed(columns []feedmill.Column, rows int64, warnings []feedmill.Warning) []feedmill.Warning {
	if d.marks == nil || d.marks.Count() == 0 {
		return warnings
	}
	mark := slices.IndexFunc(columns, d.isMark)
	return slices.DeleteFunc(warnings, func(w feedmill.Warning) bool {
		return mark >= 0 && w.Column == columns[mark].Name || w.Code == feedmill.WarnMissing && rows == d.marks.Count()
	})
}

// listed is how many of the rows that a page has are not records of it.
func (d *deletes) listed() int64 {
	if d.marks == nil {
		return 0
	}
	return d.marks.Listed()
}

// deletes is what is deleted when fresh rows are combined with those that the feed has. A
// fetch that may lack rows deletes nothing.
func (l *loading) deletes(fresh lake.Version, rejected int64) (d lake.Deletes) {
	if l.fetched.partial == "" && rejected > 0 {
		l.fetched.partial = "rows were rejected"
	}
	if at := slices.IndexFunc(fresh.Columns, l.fetched.isMark); at >= 0 {
		d.Mark = fresh.Columns[at].ID
	}
	d.Ignore = l.fetched.partial != ""
	d.Rest = l.fetched.full && !d.Ignore
	return d
}

// deletesRows reports whether rows can have been deleted.
func (l *loading) deletesRows(made lake.Combined) bool {
	return made.Deletions > 0 || l.fetched.full
}

// notDeleted warns of rows that were not deleted.
func (l *loading) notDeleted(deletions int64) (warnings []feedmill.Warning) {
	d := &l.fetched
	if d.partial == "" {
		return nil
	}
	if d.held = deletions > 0; d.held {
		warnings = append(warnings, feedmill.Warning{
			Code: feedmill.WarnNotDeleted, Count: deletions,
			Detail: fmt.Sprintf("%d deletions were not applied, because %s. The next fetch requests them again and applies them if it is complete.", deletions, d.partial),
		})
	}
	if d.full && l.adds() {
		warnings = append(warnings, feedmill.Warning{
			Code: feedmill.WarnNotDeleted, Count: 1,
			Detail: fmt.Sprintf("The full fetch deleted no rows, because %s. The next full fetch follows after fullEvery, or immediately when you refresh with accept=true.", d.partial),
		})
	}
	return warnings
}

// emptied decides what a full fetch without rows means. Without accept=true it deletes
// nothing, which is what the warnings say.
func (t *fetchedTable) emptied() []feedmill.Warning {
	if !t.fetched.full || t.rows() > 0 || !t.adds() || t.notModified {
		return nil
	}
	if t.fetched.partial != "" {
		return t.notDeleted(0)
	}
	if !t.before.Expects.Accept {
		return []feedmill.Warning{{
			Code: feedmill.WarnNotDeleted, Count: 1,
			Detail: "The full fetch returned no records, so no rows were deleted. Refresh with accept=true to delete all rows.",
		}}
	}
	t.mode = feedmill.ModeReplace
	return nil
}

// restoreNullable has columns stay without nulls that only rows which mark deletions have no
// values in.
func (m *Mill) restoreNullable(ctx context.Context, l *loading, made *lake.Combined) error {
	if made.Deletions == 0 {
		return nil
	}
	made.Columns = slices.Clone(made.Columns)
	for i := range made.Columns {
		c := &made.Columns[i]
		at := slices.IndexFunc(l.before.Columns, func(had feedmill.Column) bool { return had.ID == c.ID })
		if !c.Nullable || l.before.Version > 0 && (at < 0 || l.before.Columns[at].Nullable) {
			continue
		}
		nulls, err := m.Reader.CountNulls(ctx, &made.Version, []string{c.ID})
		if err != nil {
			return err
		}
		c.Nullable = nulls > 0
	}
	l.reshaped = l.before.Version > 0 && !slices.Equal(made.Columns, l.before.Columns)
	return nil
}
