package spec

import (
	"slices"

	"github.com/feedmill/feedmill"
)

// readColumns reads the entries of columns. One with a path picks a column; one with a
// sourceName changes a column that was found, which is done where the table is made
// (see [feedmill.DefinedColumns]).
func (o *object) readColumns() (columns []PickedColumn) {
	var changes []feedmill.ColumnChange
	for _, f := range o.elements("columns", feedmill.MaxDefinedColumns) {
		in := o.inner(f)
		if in == nil {
			continue
		}
		picks, changesFound := in.Has("path"), in.Has("sourceName")
		switch {
		case picks && changesFound:
			in.Fault("sourceName", "An entry has either path, which selects a column, or sourceName, which changes a detected column. Remove one of them.")
		case changesFound:
			changes = append(changes, feedmill.ReadFoundColumn(in.Object))
			in.RefuseUnknown()
			continue
		case !picks:
			in.unreadable("path", "An entry needs path, which selects a column, or sourceName, which changes a detected column.")
			continue
		}
		c := in.readPick()
		if slices.ContainsFunc(columns, func(other PickedColumn) bool { return other.Name == c.Name }) {
			in.Fault("name", "Two columns have this name.")
		} else {
			changes = append(changes, c.change)
		}
		columns = append(columns, c)
	}
	if !o.r.stored {
		o.checkColumns(changes)
	}
	return columns
}

// checkColumns notes entries that contradict each other or the key.
func (o *object) checkColumns(changes []feedmill.ColumnChange) {
	var key []string
	if f, ok := o.Given("key"); ok && f.Kind == '[' {
		for _, name := range f.Items {
			if name.Kind == '"' {
				key = append(key, name.Text())
			}
		}
	}
	feedmill.CheckDefinedColumns(changes, key, o.r.faults.Note)
}

// readPick reads an entry that picks a column by its path.
func (o *object) readPick() PickedColumn {
	c := PickedColumn{at: o.Pointer, Name: o.needText("name"), Path: o.path("path", true)}
	c.As = o.choice("type", "", feedmill.ColumnTypes...)
	c.readFormat(o)
	if c.Path != nil {
		if steps, ok := c.Path.Steps(); ok && len(steps) == 1 {
			c.Own, _ = steps[0].Name()
		}
	}
	c.change = feedmill.ReadPickedColumn(o.Object, c.Name, c.As)
	o.RefuseUnknown()
	return c
}

// KeepsMisfits reports whether values of another type are kept for the table, which
// leaves them or their rows out.
func (c *PickedColumn) KeepsMisfits() bool { return c.change.Type != nil }
