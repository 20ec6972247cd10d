package feedmill

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/suggest"
)

// MaxColumnName is how long the name of a column can be, in bytes.
const MaxColumnName = 256

// ColumnChange is what is to be different about a column. What is nil stays.
type ColumnChange struct {
	// ID or SourceName says which column it is.
	ID, SourceName            string
	Name, Format, Description *string
	Type                      *columnar.Type
	Hidden                    *bool
	// Position is the place that the column moves to, from 1.
	Position *int
	OnMisfit *MisfitPolicy
	// Place is where the request has the change.
	Place Fault
}

// at is the place of a member of the change.
func (c *ColumnChange) at(member, detail string) Fault {
	f := c.Place
	if f.Detail = detail; f.Parameter == "" {
		f.Pointer += "/" + member
	}
	return f
}

// NewName is the name that the change gives the column, empty where it gives none.
func (c *ColumnChange) NewName() string {
	if c.Name == nil {
		return ""
	}
	return *c.Name
}

// ChangeColumns makes changes to columns. Types are noted only: they are those of
// the next version, see [Column.Retype]. The error lists every fault.
func ChangeColumns(columns []Column, changes []ColumnChange) ([]Column, error) {
	changed := slices.Clone(columns)
	var faults Faults
	by := make([]*ColumnChange, len(columns))
	for i := range changes {
		c := &changes[i]
		at, fault := c.find(columns)
		switch {
		case at < 0:
			faults.Add(fault)
		case by[at] != nil:
			faults.Add(c.at(c.member(), "another change applies to the same column"))
		default:
			by[at] = c
			c.apply(&changed[at])
		}
	}
	names := make(map[string]int, len(changed))
	for i, c := range changed {
		lower := strings.ToLower(c.Name)
		if other, taken := names[lower]; taken {
			for _, at := range []int{i, other} {
				if by[at] != nil && by[at].Name != nil {
					faults.Add(by[at].at("name", fmt.Sprintf("another column is named %q", changed[i+other-at].Name)))
					break
				}
			}
		}
		names[lower] = i
	}
	for _, c := range by {
		if c != nil && c.Name != nil {
			if wrong := wrongColumnName(*c.Name); wrong != "" {
				faults.Add(c.at("name", wrong))
			}
		}
	}
	placeColumns(changed, by)
	return changed, faults.Refusal()
}

// member is the one that says which column the change is for.
func (c *ColumnChange) member() string {
	if c.ID == "" {
		return "sourceName"
	}
	return "id"
}

// find is the index of the column that the change is for, or why there is none.
func (c *ColumnChange) find(columns []Column) (int, Fault) {
	member, want := c.member(), c.ID
	name := func(column Column) string { return column.ID }
	if c.ID == "" {
		want = c.SourceName
		name = func(column Column) string { return column.SourceName }
	}
	var there []string
	for i, column := range columns {
		if name(column) == want {
			return i, Fault{}
		}
		there = append(there, name(column))
	}
	detail := fmt.Sprintf("there is no column with the %s %q", member, want)
	if near := suggest.Nearest(want, there); len(near) > 0 {
		detail += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return -1, c.at(member, detail)
}

func (c *ColumnChange) apply(to *Column) {
	if c.Name != nil {
		to.Name = *c.Name
	}
	if c.Description != nil {
		to.Description = *c.Description
	}
	if c.Format != nil {
		if !to.FormatSet {
			to.FormatSet, to.DataFormat = true, to.Format
		}
		to.Format = *c.Format
	}
	if c.Hidden != nil {
		to.Hidden = *c.Hidden
	}
	if c.OnMisfit != nil {
		to.OnMisfit = *c.OnMisfit
	}
	if c.Type != nil {
		to.Retype = *c.Type
		if to.Type == to.Retype {
			to.Fixed, to.Retype = true, ""
		}
	}
}

func wrongColumnName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "the name of a column must not be empty"
	case name != strings.TrimSpace(name):
		return "the name of a column must not start or end with spaces"
	case len(name) > MaxColumnName:
		return fmt.Sprintf("the name of a column must have at most %d bytes", MaxColumnName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "the name of a column must not contain control characters"
	}
	return ""
}

// placeColumns moves columns to the places that were asked for, the first place first.
func placeColumns(columns []Column, by []*ColumnChange) {
	var moving []int
	for i, c := range by {
		if c != nil && c.Position != nil {
			moving = append(moving, i)
		}
	}
	if len(moving) == 0 {
		return
	}
	slices.SortStableFunc(moving, func(a, b int) int { return cmp.Compare(*by[a].Position, *by[b].Position) })
	order := slices.DeleteFunc(ShownOrder(columns), func(i int) bool { return slices.Contains(moving, i) })
	for _, i := range moving {
		order = slices.Insert(order, min(max(*by[i].Position-1, 0), len(order)), i)
	}
	for at, i := range order {
		columns[i].Position = at + 1
	}
}

// ShownOrder is the order in which columns are shown, as their indices.
func ShownOrder(columns []Column) []int {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(columns[a].place(), columns[b].place()) })
	return order
}

func (c *Column) place() int {
	if c.Position == 0 {
		return math.MaxInt
	}
	return c.Position
}

// ShownColumns are columns in the order in which they are shown.
func ShownColumns(columns []Column) []Column {
	shown := make([]Column, len(columns))
	for at, i := range ShownOrder(columns) {
		shown[at] = columns[i]
	}
	return shown
}

// Label gives columns of a version what the feed says of them: their names and how they are
// shown. Columns are known by their ids and by what the data calls them.
func Label(columns, described []Column) []Column {
	labelled := slices.Clone(columns)
	for i := range labelled {
		c := &labelled[i]
		for _, s := range described {
			if s.ID == c.ID && s.SourceName == c.SourceName {
				c.Name, c.Description, c.Hidden, c.Position, c.OnMisfit = s.Name, s.Description, s.Hidden, s.Position, s.OnMisfit
				if s.Type == c.Type {
					c.Format, c.FormatSet, c.DataFormat = s.Format, s.FormatSet, s.DataFormat
				}
				break
			}
		}
	}
	return labelled
}

// rename changes the names in a list to those that columns have now.
func rename(names []string, before, now []Column) []string {
	renamed := slices.Clone(names)
	for i, name := range renamed {
		if at := slices.IndexFunc(before, func(c Column) bool { return c.Name == name }); at >= 0 {
			renamed[i] = now[at].Name
		}
	}
	return renamed
}

// Relabel makes changes to the feed's columns, and to what names them.
func (f *Feed) Relabel(changes []ColumnChange) error {
	columns, err := ChangeColumns(f.Columns, changes)
	if err != nil {
		return err
	}
	f.Key = rename(f.Key, f.Columns, columns)
	f.Expects.Rows.NotNull = rename(f.Expects.Rows.NotNull, f.Columns, columns)
	f.Expects.Rows.Unique = rename(f.Expects.Rows.Unique, f.Columns, columns)
	f.Columns = columns
	return nil
}
