package shape

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// nameValues adds the values of a record under the names that the page has for them: those of each
// path of values have the names of the path of names at its place.
func (r *reshaper) nameValues(ctx context.Context, record *find.RecordTree, names []string) error {
	group, unnamed, all := 0, 0, len(names)
	for i, path := range r.shape.Values {
		nodes, err := record.Find(ctx, path)
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
			of, claimed := r.claims[name]
			switch {
			case claimed:
				err = r.pick(of, record.Text(node))
			case r.shape.Keep:
				r.row.set(name, record.Text(node))
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
	if r.finds != nil || len(r.shape.Columns) == 0 {
		return
	}
	r.finds = make([]int64, len(r.shape.Columns))
	r.claims = make(map[string]int)
	for i, c := range r.shape.Columns {
		if c.Own != "" && len(r.shape.Values) > 0 {
			r.claims[c.Own] = i
		}
	}
}

// pick adds a value of a column.
func (r *reshaper) pick(column int, raw []byte) error {
	c := &r.shape.Columns[column]
	value, err := columnValue(c, raw)
	if err != nil && c.KeepsMisfits() {
		value, err = asScalar(raw), nil
	}
	if err != nil {
		return fmt.Errorf("the column %q %w", c.Name, err)
	}
	r.finds[column]++
	r.row.set(c.Name, value)
	return nil
}

// replaces reports whether a column has the name of a member that it has nothing of.
func replaces(s *spec.Shape, name string) bool {
	if s.KeyAs == name {
		return true
	}
	for _, c := range s.Columns {
		if c.Own == name {
			return false
		}
	}
	for _, c := range s.Columns {
		if steps, ok := c.Path.Steps(); c.Name == name && ok && len(steps) > 0 {
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
	if p := r.shape.Pairs; p != nil && p.Unnamed > 0 {
		notes = append(notes, feedmill.Warning{
			Code: feedmill.WarnLongRows, Count: p.Unnamed,
			Detail: fmt.Sprintf("Elements of %s have more values than response.explode.as has names; those columns are numbered. Add names to as.", strings.Join(p.Names, ".")),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(r.replaced)) {
		notes = append(notes, feedmill.Warning{
			Code: feedmill.WarnHeader, Column: name, Count: r.replaced[name],
			Detail: "The records already have a value of this name, which the column of the definition replaced. Rename the column of the definition to keep both.",
		})
	}
	for i, finds := range r.finds {
		if c := r.shape.Columns[i]; finds == 0 && r.seen > 0 {
			notes = append(notes, feedmill.Warning{
				Code: feedmill.WarnNothingFound, Column: c.Name, Count: r.seen,
				Detail: fmt.Sprintf("The path %s finds nothing in %d records, so the column is empty. Correct the path, or remove the column.", c.Path, r.seen),
			})
		}
	}
	return notes
}
