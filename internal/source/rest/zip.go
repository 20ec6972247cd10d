package rest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// zip adds the values of a record under the names that the page has for them: those of each
// path of values have the names of the path of names at its place.
func (r *reshaper) zip(ctx context.Context, record *recordTree, names []string) error {
	group, unnamed, all := 0, 0, len(names)
	for i, path := range r.shape.values {
		nodes, err := record.find(ctx, path)
		if err != nil {
			return err
		}
		if i < len(r.groups) {
			group = r.groups[i]
		}
		for _, node := range nodes {
			var name string
			if group > 0 {
				name, names = names[0], names[1:]
				group--
			} else {
				unnamed++
				name = "column_" + strconv.Itoa(all+unnamed)
			}
			of, claimed := r.zipped[name]
			switch {
			case claimed:
				err = r.pick(of, record.text(node))
			case r.shape.keep:
				r.row.set(name, record.text(node))
			}
			if err != nil {
				return err
			}
		}
		if i < len(r.groups)-1 {
			names = names[group:] // those without a value
		}
	}
	if unnamed > 0 {
		r.unnamed++
	}
	return nil
}

// claim has the columns whose path is a single name take what is zipped to that name.
func (r *reshaper) claim() {
	if r.finds != nil || len(r.shape.columns) == 0 {
		return
	}
	r.finds = make([]int64, len(r.shape.columns))
	r.zipped = make(map[string]int)
	for i, c := range r.shape.columns {
		if c.own != "" && len(r.shape.values) > 0 {
			r.zipped[c.own] = i
		}
	}
}

// pick adds a value of a column.
func (r *reshaper) pick(column int, raw []byte) error {
	c := &r.shape.columns[column]
	value, err := c.value(raw)
	if err != nil && c.keepsMisfits() {
		value, err = asScalar(raw), nil
	}
	if err != nil {
		return fmt.Errorf("the column %q %w", c.name, err)
	}
	r.finds[column]++
	r.row.set(c.name, value)
	return nil
}

// replaces reports whether a column has the name of a member that it has nothing of.
func (s *shape) replaces(name string) bool {
	if s.keyAs == name {
		return true
	}
	for _, c := range s.columns {
		if c.own == name {
			return false
		}
	}
	for _, c := range s.columns {
		if steps, ok := c.path.Steps(); c.name == name && ok && len(steps) > 0 {
			first, _ := steps[0].Name()
			return first != name
		}
	}
	return false
}

// note counts a member of a record that a column has taken the place of.
func (r *reshaper) note(name string) {
	if r.replaced == nil {
		r.replaced = make(map[string]int64)
	}
	r.replaced[name]++
}

// notes are warnings of columns whose path has found nothing in all records, and of what
// has no place in them.
func (r *reshaper) notes() (notes []feedmill.Warning) {
	if r.unnamed > 0 {
		notes = append(notes, feedmill.Warning{
			Code: feedmill.WarnLongRows, Count: r.unnamed,
			Detail: "Some records have more values than response.names has names, so those columns are numbered. Add the missing names.",
		})
	}
	if p := r.shape.pairs; p != nil && p.unnamed > 0 {
		notes = append(notes, feedmill.Warning{
			Code: feedmill.WarnLongRows, Count: p.unnamed,
			Detail: fmt.Sprintf("Elements of %s have more values than response.explode.as has names; those columns are numbered. Add names to as.", strings.Join(p.names, ".")),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(r.replaced)) {
		notes = append(notes, feedmill.Warning{
			Code: feedmill.WarnHeader, Column: name, Count: r.replaced[name],
			Detail: "The records already have a value of this name, which the column of the definition replaced. Rename the column of the definition to keep both.",
		})
	}
	for i, finds := range r.finds {
		if c := r.shape.columns[i]; finds == 0 && r.seen > 0 {
			notes = append(notes, feedmill.Warning{
				Code: feedmill.WarnNothingFound, Column: c.name, Count: r.seen,
				Detail: fmt.Sprintf("The path %s finds nothing in %d records, so the column is empty. Correct the path, or remove the column.", c.path, r.seen),
			})
		}
	}
	return notes
}
