package query

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Database is a table of a database that a statement selects from: its dialect,
// and what it calls things. All of it is SQL.
type Database interface {
	Dialect
	// CannotCompute is the reason why the database does not compute a formula, empty where it
	// does. Compute adds formulas to the columns, of which some are used. Bound are the values of
	// the first parameters, which they need.
	CannotCompute(f *Formulas, formula int) string
	Compute(f *Formulas, used []int)
	Bound() []string
	// From is the first table.
	From() string
	// Join is a table that is joined, counted from 1, and the condition that columns are
	// equal: exactly where the values that are read are, and none of them is null. The error
	// says which columns the database cannot compare so.
	Join(view int, on []Pair) (from, condition string, err error)
	// Column is a column as predicates compare it. Its values have an order and
	// an equality that are those of this package: texts by their code points.
	Column(c Column) string
	// Fetched is a column as it is selected, for its value to be read. Key is an
	// expression as rows are grouped and sorted by and as groups select it: equal
	// and in order exactly where the values that are read are.
	Fetched(c Column) string
	Key(e Expression) string
	// KeyHidesIndex reports whether an index begins with the column but does not serve
	// its Key: the column can have values that are null once they are read.
	KeyHidesIndex(c Column) bool
	// Can reports whether the database tests a predicate exactly as this package
	// means it. It is asked of predicates that have no parts.
	Can(p Predicate) bool
	// SortsNulls reports whether the database has words for where nulls are sorted.
	SortsNulls() bool
	// SortKey is what rows, but not groups, are sorted by where it is not Key; else it is empty.
	SortKey(c Column) string
}

// Plan is a query divided between a database and this process.
type Plan struct {
	Tree *Tree
	// SQL is the statement, and Args the values of its parameters.
	SQL  string
	Args []string
	// Rest is a second statement, which takes the same values and has no limit. It
	// selects the rows that come after those of SQL: the ones whose first sort key is
	// null. It is empty where SQL selects them too.
	Rest string
	// Fetched are the columns of its rows. First come the outputs in their order,
	// unless the rows are grouped here, then what is needed besides.
	Fetched []Expression
	// Here is what is left to test of the rows, and Sent says of each test of the
	// tree whether the database makes it instead.
	Here All
	Sent []bool
	// GroupHere says that the rows are those that the groups are made of, so that
	// grouping, sorting and the limit are left too. HavingHere says it of the filters on
	// groups that the database makes, and LimitHere of the limit and the offset.
	GroupHere, HavingHere, LimitHere bool
	// SortHere says that the rows, which are no groups, come in another order.
	SortHere bool
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
	p.GroupHere = t.Grouped() && len(p.Here) > 0
	p.HavingHere = !p.GroupHere && !canAll(d, t.Having)
	p.LimitHere = (t.Limit > 0 || t.Offset > 0) && (len(p.Here) > 0 || p.HavingHere)
	p.fetch()
	w := newSelection(d)
	switch {
	case p.isExtremes(d):
		p.SQL = w.extremes(p, sent)
	case p.isTop(d):
		// An index serves the order of the column itself, which Key is not.
		column := t.Sort[0].Column
		p.SQL = w.top(p, append(slices.Clip(sent), Not{IsNull{column}})) + limit(t.Limit, 0)
		rest := newSelection(d)
		p.Rest = rest.selectWhere(p, append(slices.Clip(sent), IsNull{column})) + rest.orderBy(t, t.Sort[1:])
	default:
		p.SQL = w.write(p, sent)
	}
	p.Args = w.Args()
	return p
}

// limit ends a statement that selects at most n rows, 0 for all, after those that it skips.
// Not every database has an OFFSET without a LIMIT.
func limit(n, skipped int64) string {
	switch {
	case skipped == 0 && n == 0:
		return ""
	case skipped == 0:
		return " LIMIT " + strconv.FormatInt(n, 10)
	case n == 0:
		n = math.MaxInt64
	}
	return " LIMIT " + strconv.FormatInt(n, 10) + " OFFSET " + strconv.FormatInt(skipped, 10)
}

// RestSQL is the statement for the rest of the rows once SQL has selected some; it is
// empty where there is nothing left to select.
func (p *Plan) RestSQL(selected int64) string {
	if p.Rest == "" || selected >= p.Tree.Limit {
		return ""
	}
	return p.Rest + limit(p.Tree.Limit-selected, 0)
}

// isTop reports whether the query wants the first rows by an indexed column whose Key no
// index serves. Rows with open decimals may be counted only once all have come, so there
// must not be a second statement for some of them.
func (p *Plan) isTop(d Database) bool {
	t := p.Tree
	if len(t.Joins) > 0 || t.Grouped() || t.Limit == 0 || t.Offset > 0 || p.LimitHere || len(t.Sort) == 0 {
		return false
	}
	open := slices.ContainsFunc(p.Fetched, func(e Expression) bool {
		return IsOpen(e.Column.Column)
	})
	return !open && d.KeyHidesIndex(t.Sort[0].Column)
}

// isExtremes reports whether the query wants nothing but the least and greatest values
// of indexed columns whose Key no index serves.
func (p *Plan) isExtremes(d Database) bool {
	if len(p.Tree.Joins) > 0 || p.GroupHere || len(p.Tree.Sort) > 0 || len(p.Tree.Having) > 0 || p.Tree.Offset > 0 {
		return false
	}
	return !slices.ContainsFunc(p.Tree.Outputs, func(o Output) bool {
		extreme := o.Aggregate == feedmill.AggregateMin || o.Aggregate == feedmill.AggregateMax
		return !extreme || !d.KeyHidesIndex(o.Column) || o.Column.Type == columnar.TypeDecimal
	})
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
			e.Aggregate, e.Period = "", nil
			p.need(e)
			continue
		}
		p.Fetched = append(p.Fetched, e)
	}
	for _, e := range p.Tree.Tested() {
		if p.GroupHere {
			e.Aggregate = ""
		}
		if p.GroupHere || p.HavingHere {
			p.need(e)
		}
	}
	if p.SortHere {
		for _, k := range p.Tree.Sort {
			p.need(k.Expression)
		}
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
	return slices.IndexFunc(p.Fetched, e.Same)
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
			if !slices.ContainsFunc(all, func(other Column) bool { return other.Of().Same(c.Of()) }) {
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

func newSelection(d Database) *selection {
	s := &selection{Writer: NewWriter(d, d.Column), database: d}
	s.args = slices.Clone(d.Bound())
	return s
}

func (s *selection) write(p *Plan, where All) string {
	sql := s.selectWhere(p, where)
	if p.GroupHere {
		return sql
	}
	if p.Tree.Grouped() {
		sql += s.groupBy(p)
	}
	if !p.HavingHere {
		sql += s.Having(p.Tree, s.database.Key)
	}
	sql += s.orderBy(p.Tree, p.Tree.Sort)
	if !p.LimitHere {
		sql += limit(p.Tree.Limit, p.Tree.Offset)
	}
	return sql
}

// selectWhere selects what is fetched of the rows that pass a test.
func (s *selection) selectWhere(p *Plan, where All) string {
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
	from, exist := Joined(s.database, p.Tree.Joins)
	sql := "SELECT " + strings.Join(selected, ", ") + " FROM " + from
	switch {
	case len(where) > 0 && exist != "":
		sql += " WHERE " + exist + " AND (" + s.Predicate(where) + ")"
	case len(where) > 0:
		sql += " WHERE " + s.Predicate(where)
	case exist != "":
		sql += " WHERE " + exist
	}
	return sql
}

// top selects rows in the order of a first key that is never null.
func (s *selection) top(p *Plan, where All) string {
	first := p.Tree.Sort[0]
	sql := s.selectWhere(p, where) + " ORDER BY " + s.database.Column(first.Column) + direction(first)
	if more := s.keys(p.Tree, p.Tree.Sort[1:]); more != "" {
		sql += ", " + more
	}
	return sql
}

// extremes selects the first value of each output in its order, which is what its
// aggregate comes to.
func (s *selection) extremes(p *Plan, where All) string {
	selected := make([]string, len(p.Fetched))
	for i, e := range p.Fetched {
		column := s.database.Column(e.Column)
		key := Key{Expression: e, Descending: e.Aggregate == feedmill.AggregateMax}
		test := s.Predicate(append(slices.Clip(where), Not{IsNull{e.Column}}))
		selected[i] = "(SELECT " + column + " FROM " + s.database.From() + " WHERE " + test + " ORDER BY " + column + direction(key) + limit(1, 0) + ") AS f" + strconv.Itoa(i)
	}
	return "SELECT " + strings.Join(selected, ", ")
}

func direction(k Key) string {
	if k.Descending {
		return " DESC"
	}
	return ""
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

// orderBy sorts by some of a query's keys.
func (s *selection) orderBy(t *Tree, keys []Key) string {
	if order := s.keys(t, keys); order != "" {
		return " ORDER BY " + order
	}
	return ""
}

// keys writes sort keys with nulls last, which not every database has words for. A
// column without nulls is sorted by as it is, so that an index can help.
func (s *selection) keys(t *Tree, keys []Key) string {
	var order []string
	for _, k := range keys {
		sql := s.database.Key(k.Expression)
		direction := direction(k)
		if other := s.database.SortKey(k.Column); other != "" && !t.Grouped() {
			sql = other
		}
		sql = t.Bounded(k.Expression, sql)
		switch {
		case k.Aggregate == "" && !k.Column.Nullable && sql == s.database.Column(k.Column):
			order = append(order, sql+direction)
		case s.database.SortsNulls():
			order = append(order, sql+direction+" NULLS LAST")
		default:
			order = append(order, sql+" IS NULL", sql+direction)
		}
	}
	return strings.Join(order, ", ")
}
