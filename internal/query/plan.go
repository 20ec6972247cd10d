package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// Database is a table of a database that a statement selects from: its dialect,
// and what it calls things. All of it is SQL.
type Database interface {
	Dialect
	// From is the table.
	From() string
	// Column is a column as predicates compare it. Its values have an order and
	// an equality that are those of this package: texts by their code points.
	Column(c Column) string
	// Fetched is a column as it is selected, for its value to be read. Key is an
	// expression as rows are grouped and sorted by and as groups select it: equal
	// and in order exactly where the values that are read are.
	Fetched(c Column) string
	Key(e Expression) string
	// Can reports whether the database tests a predicate exactly as this package
	// means it. It is asked of predicates that have no parts.
	Can(p Predicate) bool
}

// Plan is a query divided between a database and this process.
type Plan struct {
	Tree *Tree
	// SQL is the statement, and Args the values of its parameters.
	SQL  string
	Args []string
	// Fetched are the columns of its rows. First come the outputs in their order,
	// unless the rows are grouped here, then what is needed besides.
	Fetched []Expression
	// Here is what is left to test of the rows, and Sent says of each test of the
	// tree whether the database makes it instead.
	Here All
	Sent []bool
	// GroupHere says that the rows are those that the groups are made of, so that
	// grouping, sorting and the limit are left too. LimitHere says it of the limit.
	GroupHere, LimitHere bool
}

// NewPlan divides a query: what the database tests exactly it is asked to, and
// all the rest is left.
func NewPlan(t *Tree, d Database) *Plan {
	p := &Plan{Tree: t}
	var sent All
	for _, test := range t.Where {
		can := canAll(d, test)
		p.Sent = append(p.Sent, can)
		if can {
			sent = append(sent, test)
		} else {
			p.Here = append(p.Here, test)
		}
	}
	p.LimitHere = t.Limit > 0 && len(p.Here) > 0
	p.GroupHere = t.Grouped() && len(p.Here) > 0
	p.fetch()
	w := &selection{Writer: NewWriter(d, d.Column), database: d}
	p.SQL = w.write(p, sent)
	p.Args = w.Args()
	return p
}

// canAll reports whether the database tests a predicate and all of its parts.
func canAll(d Database, p Predicate) bool {
	switch p := p.(type) {
	case All:
		return !slices.ContainsFunc(p, func(part Predicate) bool { return !canAll(d, part) })
	case Any:
		return !slices.ContainsFunc(p, func(part Predicate) bool { return !canAll(d, part) })
	case Not:
		return canAll(d, p.Predicate)
	}
	return d.Can(p)
}

// fetch finds what has to be selected.
func (p *Plan) fetch() {
	for _, o := range p.Tree.Outputs {
		e := o.Expression
		if p.GroupHere {
			e.Aggregate = ""
			p.need(e)
			continue
		}
		p.Fetched = append(p.Fetched, e)
	}
	for _, c := range columnsOf(p.Here) {
		p.need(Expression{Column: c})
	}
	if p.Tree.Latest != nil {
		p.need(Expression{Column: *p.Tree.Latest})
	}
}

func (p *Plan) need(e Expression) {
	if p.At(e) < 0 {
		p.Fetched = append(p.Fetched, e)
	}
}

// At is where an expression is fetched, -1 for nowhere.
func (p *Plan) At(e Expression) int {
	return slices.IndexFunc(p.Fetched, func(f Expression) bool {
		return f.Column.Index == e.Column.Index && f.Aggregate == e.Aggregate
	})
}

// Columns are the columns of the statement's rows, by the names that they have in
// the table.
func (p *Plan) Columns() []feedmill.Column {
	columns := make([]feedmill.Column, len(p.Fetched))
	for i, e := range p.Fetched {
		columns[i] = e.Type()
		columns[i].Name = e.Column.Name
	}
	return columns
}

// columnsOf are the columns of a predicate, each once.
func columnsOf(p Predicate) (all []Column) {
	add := func(more ...Column) {
		for _, c := range more {
			if !slices.ContainsFunc(all, func(other Column) bool { return other.Index == c.Index }) {
				all = append(all, c)
			}
		}
	}
	switch p := p.(type) {
	case All:
		for _, part := range p {
			add(columnsOf(part)...)
		}
	case Any:
		for _, part := range p {
			add(columnsOf(part)...)
		}
	case Not:
		add(columnsOf(p.Predicate)...)
	case IsNull:
		add(p.Column)
	case IsEmpty:
		add(p.Column)
	case Compare:
		add(p.Column)
	case Range:
		add(p.Column)
	case Match:
		add(p.Column)
	}
	return all
}

// selection writes the statement of a plan.
type selection struct {
	*Writer
	database Database
}

func (s *selection) write(p *Plan, where All) string {
	selected := make([]string, len(p.Fetched))
	for i, e := range p.Fetched {
		sql := ""
		if p.Tree.Grouped() && !p.GroupHere {
			sql = s.database.Key(e)
		} else {
			sql = s.database.Fetched(e.Column)
		}
		selected[i] = sql + " AS f" + strconv.Itoa(i)
	}
	sql := "SELECT " + strings.Join(selected, ", ") + " FROM " + s.database.From()
	if len(where) > 0 {
		sql += " WHERE " + s.Predicate(where)
	}
	if p.GroupHere {
		return sql
	}
	if p.Tree.Grouped() {
		sql += s.groupBy(p)
	}
	if order := s.orderBy(p.Tree); order != "" {
		sql += " ORDER BY " + order
	}
	if p.Tree.Limit > 0 && !p.LimitHere {
		sql += " LIMIT " + strconv.FormatInt(p.Tree.Limit, 10)
	}
	return sql
}

func (s *selection) groupBy(p *Plan) string {
	var keys []string
	for _, o := range p.Tree.Outputs {
		if o.Aggregate == "" {
			keys = append(keys, s.database.Key(o.Expression))
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(keys, ", ")
}

// sortsNulls is a database that has words for where nulls are sorted.
type sortsNulls interface{ SortsNulls() }

// sortsOtherwise is a database that sorts rows, but not groups, by something else than
// the key that it groups by.
type sortsOtherwise interface{ SortKey(c Column) string }

// orderBy sorts with nulls last, which not every database has words for. A column
// without nulls is sorted by as it is, so that an index can help.
func (s *selection) orderBy(t *Tree) string {
	var order []string
	for _, k := range t.Sort {
		sql := s.database.Key(k.Expression)
		direction := ""
		if k.Descending {
			direction = " DESC"
		}
		if other, ok := s.database.(sortsOtherwise); ok && !t.Grouped() {
			sql = other.SortKey(k.Column)
		}
		_, words := s.database.(sortsNulls)
		switch {
		case k.Aggregate == "" && !k.Column.Nullable && sql == s.database.Column(k.Column):
			order = append(order, sql+direction)
		case words:
			order = append(order, sql+direction+" NULLS LAST")
		default:
			order = append(order, sql+" IS NULL", sql+direction)
		}
	}
	return strings.Join(order, ", ")
}
