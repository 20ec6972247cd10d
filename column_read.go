package feedmill

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// MaxColumnChanges is how many columns one request may change, and MaxDefinedColumns how
// many entries the columns of a definition may have.
const (
	MaxColumnChanges  = 10_000
	MaxDefinedColumns = 1000
)

// ColumnTypes are the types that a column can be given.
var ColumnTypes = []string{"text", "integer", "decimal", "number", "boolean", "date", "timestamp", "json"}

// ReadColumnChange reads how an object changes a column. The caller reads which column
// it is.
func ReadColumnChange(o *strictjson.Object) (change ColumnChange) {
	change.Place.Pointer = o.Pointer
	if f, ok := o.Get("name"); ok {
		if text, ok := f.Text(); ok {
			change.Name = &text
		}
	}
	if f, ok := o.Get("format"); ok {
		if f.Kind == 'n' {
			change.Format = new("")
		} else if text, ok := f.Label(MaxNameLen); ok {
			change.Format = &text
		}
	}
	if f, ok := o.Get("type"); ok {
		if text, ok := f.Choice(ColumnTypes...); ok {
			change.Type = new(columnar.Type(text))
		}
	}
	if f, ok := o.Get("position"); ok {
		if n, ok := f.Integer(0, MaxColumnChanges); ok {
			change.Position = &n
		}
	}
	change.readLabels(o)
	return change
}

// readLabels reads the members that mean the same for every entry of columns.
func (c *ColumnChange) readLabels(o *strictjson.Object) {
	if f, ok := o.Get("description"); ok {
		c.Description = ReadText(f)
	}
	if f, ok := o.Get("hidden"); ok {
		if hidden, ok := f.Boolean(); ok {
			c.Hidden = &hidden
		}
	}
	if f, ok := o.Get("onMisfit"); ok {
		c.OnMisfit = readMisfitPolicy(f)
	}
}

// readMisfitPolicy reads what becomes of misfits. The word null is often written
// without its quotes.
func readMisfitPolicy(f strictjson.Field) *MisfitPolicy {
	if f.Kind == 'n' {
		return new(MisfitsNull)
	}
	switch text, _ := f.Choice("fail", "null", "reject"); text {
	case "fail":
		return new(MisfitsFail)
	case "null", "reject":
		return new(MisfitPolicy(text))
	}
	return nil
}

// ReadText reads a text of several lines, such as a description; null is none.
func ReadText(f strictjson.Field) *string {
	if f.Kind == 'n' {
		return new("")
	}
	text, ok := f.Text()
	if !ok {
		return nil
	}
	if n := utf8.RuneCountInString(text); n > MaxDescription {
		f.Fault(fmt.Sprintf("description must have at most %d characters; it has %d.", MaxDescription, n))
	}
	if strings.ContainsRune(text, 0) {
		f.Fault("description must not contain the character U+0000.")
	}
	return &text
}

// ReadFoundColumn reads an entry of the columns of a definition that changes a column
// that was found, by its sourceName.
func ReadFoundColumn(o *strictjson.Object) ColumnChange {
	change := ReadColumnChange(o)
	if f, ok := o.Need("sourceName"); ok {
		change.SourceName, _ = f.Text()
	}
	if change.Name != nil {
		if wrong := wrongColumnName(*change.Name); wrong != "" {
			o.Fault("name", wrong)
		}
	}
	return change
}

// ReadPickedColumn reads an entry that picks a column of a name by its path. Values
// of another type are misfits where the entry sets what becomes of them. Otherwise they
// fail the refresh before they are part of a table.
func ReadPickedColumn(o *strictjson.Object, name, as string) ColumnChange {
	change := ColumnChange{SourceName: name}
	change.Place.Pointer = o.Pointer
	change.readLabels(o)
	if change.OnMisfit == nil {
		return change
	}
	if as == "" {
		o.Fault("onMisfit", "onMisfit applies to values that do not fit type. Set type as well.")
		return change
	}
	if *change.OnMisfit != MisfitsFail {
		change.Type = new(columnar.Type(as))
	}
	return change
}

// CheckDefinedColumns notes entries of the columns of a definition that contradict each
// other or its key.
func CheckDefinedColumns(changes []ColumnChange, key []string, note strictjson.Note) {
	for i := range changes {
		c := &changes[i]
		for _, other := range changes[:i] {
			switch {
			case other.SourceName == c.SourceName:
				note(c.Place.Pointer, fmt.Sprintf("Another entry also changes the column %q. Put all changes of a column into one entry.", c.SourceName))
			case c.Name != nil && other.Name != nil && strings.EqualFold(*c.Name, *other.Name):
				note(c.Place.Pointer+"/name", fmt.Sprintf("Another entry also sets the name %q. Choose another name.", *other.Name))
			}
		}
		if c.Name == nil || !slices.Contains(key, *c.Name) {
			continue
		}
		if slices.ContainsFunc(changes, func(other ColumnChange) bool { return other.SourceName == *c.Name && other.SourceName != c.SourceName }) {
			note(c.Place.Pointer+"/name", fmt.Sprintf("key contains %q, which is also the sourceName of another entry. Choose another name.", *c.Name))
		}
	}
}

// DefinedColumns are the changes to columns in the stored definition of a feed that
// fetches its data.
func DefinedColumns(spec []byte) (changes []ColumnChange) {
	ignore := func(string, string) bool { return true } // it was checked when it was sent
	doc, ok := strictjson.Read(spec, strictjson.Part{}, ignore)
	if !ok || doc.Kind != '{' {
		return nil
	}
	list := doc.Member("columns")
	if list == nil || list.Kind != '[' {
		return nil
	}
	for _, item := range strictjson.Elements(list, "/columns", ignore) {
		o, ok := item.Object()
		if !ok {
			continue
		}
		if o.Has("path") {
			changes = append(changes, storedPick(o))
		} else {
			changes = append(changes, ReadFoundColumn(o))
		}
	}
	return slices.DeleteFunc(changes, func(c ColumnChange) bool { return c.isEmpty() })
}

func storedPick(o *strictjson.Object) ColumnChange {
	text := func(member string) (text string) {
		if f, ok := o.Given(member); ok {
			text, _ = f.Text()
		}
		return text
	}
	return ReadPickedColumn(o, text("name"), text("type"))
}

// isEmpty reports whether nothing is to be different.
func (c *ColumnChange) isEmpty() bool {
	return c.Name == nil && c.Format == nil && c.Description == nil && c.Type == nil && c.Hidden == nil && c.Position == nil && c.OnMisfit == nil
}
