package rest

import (
	"slices"

	"github.com/feedmill/feedmill"
)

// readColumns reads the entries of columns. One with a path picks a column; one with a
// sourceName changes a column that was found, which is done where the table is made
// (see [feedmill.DefinedColumns]).
func (o *object) readColumns() (columns []picked) {
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
		if slices.ContainsFunc(columns, func(other picked) bool { return other.name == c.name }) {
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
func (o *object) readPick() picked {
	c := picked{at: o.Pointer, name: o.needText("name"), path: o.path("path", true)}
	c.as = o.choice("type", "", feedmill.ColumnTypes...)
	c.readFormat(o)
	if c.path != nil {
		if steps, ok := c.path.Steps(); ok && len(steps) == 1 {
			c.own, _ = steps[0].Name()
		}
	}
	c.change = feedmill.ReadPickedColumn(o.Object, c.name, c.as)
	o.RefuseUnknown()
	return c
}

// keepsMisfits reports whether values of another type are kept for the table, which
// leaves them or their rows out.
func (c *picked) keepsMisfits() bool { return c.change.Type != nil }
