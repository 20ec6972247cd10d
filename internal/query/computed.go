package query

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query/compute"
)

// Formula is a computed field. Its column follows those of the table and of the formulas before it.
type Formula struct {
	Name string
	// Node is the expression. Its fields are columns of the table or of formulas before it.
	Node *compute.Node
	// Zone is where timestamps have their dates.
	Zone *time.Location
	// column is what the values are.
	column *feedmill.Column
	syntax *compute.Syntax
}

// Formulas are the computed fields of a tree.
type Formulas struct {
	// Base is how many columns the table has.
	Base int
	List []Formula
	// Columns are those of the table, and after them those of the formulas.
	Columns []Column
}

// Of returns the place of the formula that a column is, or -1 for a column of the table.
func (f *Formulas) Of(c Column) int {
	if len(f.List) == 0 {
		return -1
	}
	return max(c.Index-f.Base, -1)
}

// Reads lists the columns of the table and formulas that a formula names, each once.
func (f *Formulas) Reads(formula int) (indexes []int) {
	f.List[formula].Node.Walk(func(n *compute.Node) {
		if n.Op == "field" && !slices.Contains(indexes, n.Field) {
			indexes = append(indexes, n.Field)
		}
	})
	return indexes
}

// With adds the formulas that some formulas name to them, and theirs. They are in order.
func (f *Formulas) With(formulas []int) []int {
	used := make([]bool, len(f.List))
	for _, i := range formulas {
		used[i] = true
	}
	var all []int
	for i := len(f.List) - 1; i >= 0; i-- {
		if !used[i] {
			continue
		}
		all = append(all, i)
		for _, index := range f.Reads(i) {
			if index >= f.Base {
				used[index-f.Base] = true
			}
		}
	}
	slices.Reverse(all)
	return all
}

// reads reports whether a column is one of the table, or is computed from it.
func (f *Formulas) reads(c Column, index int) bool {
	if c.Index < f.Base || len(f.List) == 0 {
		return c.Index == index
	}
	return slices.ContainsFunc(f.With([]int{c.Index - f.Base}), func(formula int) bool {
		return slices.Contains(f.Reads(formula), index)
	})
}

// Inputs lists the columns of the table that formulas read, each once.
func (f *Formulas) Inputs(formulas []int) (indexes []int) {
	for _, i := range f.With(formulas) {
		for _, index := range f.Reads(i) {
			if index < f.Base && !slices.Contains(indexes, index) {
				indexes = append(indexes, index)
			}
		}
	}
	return indexes
}

// Used lists the formulas that a tree needs, in order.
func (t *Tree) Used() []int {
	var formulas []int
	add := func(c Column) {
		if i := t.Formulas.Of(c); i >= 0 {
			formulas = append(formulas, i)
		}
	}
	for _, c := range columnsOf(t.Where) {
		add(c)
	}
	for _, e := range t.Tested() {
		add(e.Column)
	}
	for _, o := range t.Outputs {
		add(o.Column)
	}
	for _, k := range t.Sort {
		add(k.Column)
	}
	return t.Formulas.With(formulas)
}

// computed resolves the computed fields, as columns that follow those of the table.
func (r *resolver) computed() Formulas {
	f := Formulas{Base: len(r.columns)}
	if len(r.query.Computed) == 0 {
		return f
	}
	var fields []compute.Field
	for i := range r.columns {
		fields = append(fields, compute.Field{From: r.aliasOf(i), Column: &r.columns[i]})
	}
	columns := slices.Clone(r.columns)
	for _, c := range r.query.Computed {
		name, expression := c.Place, c.Place
		name.Pointer += "/name"
		expression.Pointer += "/expression"
		if at := r.taken(columns, c.Name); at >= 0 {
			detail := fmt.Sprintf("the view already has a field %q; choose another name", c.Name)
			if at >= f.Base {
				detail = fmt.Sprintf("the computed field %q is listed twice; choose another name", c.Name)
			}
			r.faults.Add(name, detail)
			continue
		}
		formula := Formula{Name: c.Name, Zone: r.zone}
		var faults []*compute.Fault
		if syntax, fault := compute.Parse(c.Expression); fault != nil {
			faults = []*compute.Fault{fault}
		} else {
			formula.syntax = syntax
			formula.Node, faults = compute.Check(syntax, fields)
		}
		for _, fault := range faults {
			r.faults.Add(expression, fault.Detail)
		}
		if formula.Node == nil {
			r.failed = append(r.failed, c.Name)
			fields = append(fields, compute.Field{Column: &feedmill.Column{Name: c.Name}, Failed: true})
			continue
		}
		column := formula.Node.Type.Column(c.Name)
		formula.column = &column
		f.List = append(f.List, formula)
		columns = append(columns, column)
		fields = append(fields, compute.Field{Column: &column})
	}
	r.columns = columns
	f.Columns = numberedColumns(columns, r.aliasOf)
	return f
}

// over is the formulas over other columns of the same table, and all columns with theirs.
func (f Formulas) over(columns []feedmill.Column) (Formulas, []feedmill.Column) {
	if len(f.List) == 0 {
		return f, columns
	}
	columns = slices.Clone(columns[:f.Base])
	var fields []compute.Field
	alias := func(i int) string { return f.Columns[i].From }
	for i := range columns {
		fields = append(fields, compute.Field{From: alias(i), Column: &columns[i]})
	}
	f.List = slices.Clone(f.List)
	for i := range f.List {
		formula := &f.List[i]
		if node, _ := compute.Check(formula.syntax, fields); node != nil {
			column := node.Type.Column(formula.Name)
			formula.Node, formula.column = node, &column
		}
		fields = append(fields, compute.Field{Column: formula.column})
	}
	for i := range f.List {
		columns = append(columns, *f.List[i].column)
	}
	f.Columns = numberedColumns(columns, alias)
	return f, columns
}

func numberedColumns(columns []feedmill.Column, alias func(int) string) []Column {
	all := make([]Column, len(columns))
	for i := range columns {
		all[i] = Column{Column: &columns[i], Index: i, From: alias(i)}
	}
	return all
}

// CannotWrite is the reason why a database with a dialect does not compute a formula, empty where
// it does. Fields that Feedmill computes are no reason.
func (f *Formulas) CannotWrite(formula int, d compute.Dialect) string {
	reason := compute.CannotWrite(f.List[formula].Node)
	switch {
	case reason != "":
		return reason
	case len(f.Inputs([]int{formula})) == 0: // databases take a constant that rows are sorted by for a position
		return "it is a constant"
	}
	w := Written{Formulas: f, Dialect: d, Column: func(c Column) string { return c.Name }, Bind: func(text string) string { return text }}
	switch w.SQL(f.Columns[f.Base+formula]); {
	case w.large:
		return "the expression is too large for a statement"
	case w.failed:
		return "the database does not compute all of its functions exactly"
	}
	return ""
}

// maxFormulaSQL is how long a formula in a statement can be, with those that it names. The depth of
// expressions is limited in databases.
const maxFormulaSQL = 16 << 10

// Written writes formulas in a statement. A formula is written in the same way each time.
type Written struct {
	Formulas *Formulas
	Dialect  compute.Dialect
	// Column is a column of the table, and Bind binds a text.
	Column func(Column) string
	Bind   func(text string) string
	done   map[int]string
	// failed says that the database does not compute a formula exactly, and large that one is
	// too long.
	failed, large bool
}

// SQL is a column of the table or a formula.
func (w *Written) SQL(c Column) string {
	i := w.Formulas.Of(c)
	if i < 0 {
		return w.Column(c)
	}
	sql, ok := w.done[i]
	if !ok {
		s := compute.Statement{Dialect: w.Dialect, Bind: w.Bind, Field: func(field int) string { return w.SQL(w.Formulas.Columns[field]) }}
		sql = "(" + s.Write(w.Formulas.List[i].Node) + ")"
		if w.failed = w.failed || s.Failed; len(sql) > maxFormulaSQL {
			w.large, sql = true, ""
		}
		if w.done == nil {
			w.done = make(map[int]string)
		}
		w.done[i] = sql
	}
	return sql
}
