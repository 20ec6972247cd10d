package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Join is a view that is joined with those before it.
type Join struct {
	Kind feedmill.JoinKind
	// On are the columns that must be equal.
	On []Pair
	// Exists keeps the rows that have a match, each once, without the columns of the view. It
	// is true of the last join only.
	Exists bool
}

// Pair is a column of the views before a join and one of the joined view, of one type.
type Pair struct{ Left, Right Column }

// Label returns the name of a column with the alias of its view.
func (c Column) Label() string { return feedmill.FieldName{From: c.From, Name: c.Name}.String() }

// placedView is a view and where its columns begin among those of all views.
type placedView struct {
	as         string
	first, end int
}

// addViews takes the columns of all views. The columns of a left join can be null.
func (r *resolver) addViews(views []View) {
	if len(views) == 1 {
		r.columns = views[0].Columns
		r.views = []placedView{{end: len(r.columns)}}
		return
	}
	for i, v := range views {
		first := len(r.columns)
		r.columns = append(r.columns, v.Columns...)
		r.views = append(r.views, placedView{v.As, first, len(r.columns)})
		if i > 0 && i <= len(r.query.Joins) && r.query.Joins[i-1].Kind == feedmill.JoinLeft {
			for c := first; c < len(r.columns); c++ {
				r.columns[c].Nullable = true
			}
		}
	}
}

// view finds a view by its alias. One that is not there is a fault.
func (r *resolver) view(from string, place feedmill.Fault) (placedView, bool) {
	at := slices.IndexFunc(r.views, func(v placedView) bool { return v.as == from })
	if at >= 0 {
		return r.views[at], true
	}
	aliases := r.aliases(len(r.views))
	detail := fmt.Sprintf("no join has the alias %q", from)
	if near := suggest.Nearest(from, aliases); len(near) > 0 {
		detail += "; did you mean " + strings.Join(near, " or ") + "?"
	} else if len(aliases) > 0 {
		detail += "; use one of " + strings.Join(aliases, ", ")
	} else {
		detail += ", because the query has no joins"
	}
	r.faults.Add(beside(place, "from"), detail)
	return placedView{}, false
}

// aliases are those of the first views.
func (r *resolver) aliases(views int) (all []string) {
	for _, v := range r.views[1:views] {
		all = append(all, v.as)
	}
	return all
}

// aliasOf returns the alias of the view that has a column, which is empty for computed fields.
func (r *resolver) aliasOf(index int) string {
	for _, v := range r.views {
		if index < v.end {
			return v.as
		}
	}
	return ""
}

// taken is where a column of the first view or a computed field has a name, -1 for nowhere.
func (r *resolver) taken(columns []feedmill.Column, name string) int {
	for i := range columns {
		if columns[i].Name == name && r.aliasOf(i) == "" {
			return i
		}
	}
	return -1
}

// find finds a column of a view by its name. Computed fields are found in the first view.
func (r *resolver) find(v placedView, name string) (Column, bool) {
	if at := r.taken(r.columns, name); v.as == "" && at >= 0 {
		return Column{Column: &r.columns[at], Index: at}, true
	}
	for i := v.first; i < v.end; i++ {
		if r.columns[i].Name == name {
			return Column{Column: &r.columns[i], Index: i, From: v.as}, true
		}
	}
	return Column{}, false
}

// known finds a column, without a fault where there is none.
func (r *resolver) known(from, name string) (Column, bool) {
	for _, v := range r.views {
		if v.as == from {
			return r.find(v, name)
		}
	}
	return Column{}, false
}

// noColumn is the fault of a name that a view does not have.
func (r *resolver) noColumn(v placedView, name string) string {
	detail := fmt.Sprintf("there is no column %q", feedmill.FieldName{From: v.as, Name: name})
	var names []string
	for i, c := range r.columns {
		if r.aliasOf(i) == v.as {
			names = append(names, c.Name)
		}
	}
	if near := suggest.Nearest(name, names); len(near) > 0 {
		return detail + "; did you mean " + strings.Join(near, " or ") + "?"
	}
	for _, other := range r.views {
		if _, ok := r.find(other, name); ok && other.as != "" {
			return detail + fmt.Sprintf("; %s has a column of this name: set \"from\": %q", other.as, other.as)
		} else if ok {
			return detail + "; the first view has a column of this name: remove from"
		}
	}
	return detail
}

// joins resolves what the views are joined on.
func (r *resolver) joins() (joins []Join) {
	if len(r.query.Joins) > 0 && len(r.views) != len(r.query.Joins)+1 {
		r.faults.Add(r.query.Joins[0].Place, "joins are not supported here; create a feed from a query with joins, and query that feed")
		return nil
	}
	for i, j := range r.query.Joins {
		join := Join{Kind: j.Kind}
		for _, p := range j.On {
			left, right := p.Place, p.Place
			left.Pointer += "/left"
			right.Pointer += "/right"
			l, okLeft := r.joined(p.Left, i+1, left)
			rc, okRight := r.joinedOf(p.Right, r.views[i+1], right)
			if okLeft && okRight && r.comparable(l, rc, right) {
				join.On = append(join.On, Pair{l, rc})
			}
		}
		joins = append(joins, join)
	}
	return joins
}

// joined finds the left column of a pair, which one of the first views has.
func (r *resolver) joined(text string, views int, place feedmill.Fault) (Column, bool) {
	names := feedmill.FieldNames(text, r.aliases(views))
	var found []Column
	for _, n := range names {
		if c, ok := r.known(n.From, n.Name); ok {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], true
	case len(found) > 1:
		r.faults.Add(place, fmt.Sprintf(`%s can mean a column of the first view or of %s; write %q or %s`, text, found[1].From, Quote(text), found[1].From+"."+Quote(found[1].Name)))
	default:
		last := names[min(len(names)-1, 1)]
		v, _ := r.view(last.From, place)
		detail := r.noColumn(v, last.Name)
		if alias, _, ok := strings.Cut(text, "."); ok && last.From == "" && slices.Contains(r.aliases(len(r.views)), alias) {
			detail = fmt.Sprintf("%s belongs to a join that follows; only earlier joins can be used", text)
		}
		r.faults.Add(place, detail)
	}
	return Column{}, false
}

// joinedOf finds the right column of a pair, in the joined view.
func (r *resolver) joinedOf(text string, v placedView, place feedmill.Fault) (Column, bool) {
	for _, n := range feedmill.FieldNames(text, []string{v.as}) {
		if c, ok := r.find(v, n.Name); ok {
			return c, true
		}
	}
	r.faults.Add(place, r.noColumn(v, text))
	return Column{}, false
}

// comparable refuses columns of different types, and of types that cannot be compared.
func (r *resolver) comparable(left, right Column, place feedmill.Fault) bool {
	switch {
	case left.Type != right.Type:
		r.faults.Add(place, fmt.Sprintf("%s has the type %s and %s the type %s; join columns of the same type, or cast one of them in a view", left.Label(), left.Type, right.Label(), right.Type))
	case left.Type == columnar.TypeJSON:
		r.faults.Add(place, fmt.Sprintf("%s has the type json, which cannot be compared; join on columns of another type", left.Label()))
	default:
		return true
	}
	return false
}

// CannotCompare is the error of columns that a database cannot compare exactly.
type CannotCompare struct {
	Pair
	Reason string
}

func (e *CannotCompare) Error() string {
	return fmt.Sprintf("%s and %s cannot be compared exactly in this database: %s", e.Left.Label(), e.Right.Label(), e.Reason)
}

// Joined writes the tables that a statement selects from, and the condition that rows have a
// match, which is empty where no join tests for one. All of them must be comparable.
func Joined(d Database, joins []Join) (from, exist string) {
	from = d.From()
	for i, j := range joins {
		table, on, err := d.Join(i+1, j.On)
		if err != nil {
			panic("query: " + err.Error()) // CheckJoins refuses it
		}
		switch {
		case j.Exists:
			exist = "EXISTS (SELECT 1 FROM " + table + " WHERE " + on + ")"
		case j.Kind == feedmill.JoinLeft:
			from += " LEFT JOIN " + table + " ON " + on
		default:
			from += " JOIN " + table + " ON " + on
		}
	}
	return from, exist
}

// CheckJoins returns the error of columns that a database cannot compare exactly, with the places
// of the join and of the pair.
func CheckJoins(d Database, joins []Join) (join, pair int, err error) {
	for i, j := range joins {
		for k := range j.On {
			if _, _, err := d.Join(i+1, j.On[k:k+1]); err != nil {
				return i, k, err
			}
		}
	}
	return 0, 0, nil
}

// Places are where the tables of a statement are: the first, and those that are joined.
type Places struct {
	Place
	Joined []Place
}

// Join adds the place of a joined table.
func (p *Places) Join(first, as string, other Place) {
	p.Place.As, other.As = first, as
	p.Joined = append(slices.Clip(p.Joined), other)
}

// HasSelect reports whether any of the tables is the rows of a statement.
func (p *Places) HasSelect() bool {
	return p.Select != "" || slices.ContainsFunc(p.Joined, func(j Place) bool { return j.Select != "" })
}

// On writes conditions that must all hold.
func On(conditions []string) string { return strings.Join(conditions, " AND ") }
