package database

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/compute"
)

// Computer is a table whose source computes fields.
type Computer interface {
	// CannotCompute is the reason why the source does not compute a field, empty where it does.
	CannotCompute(f *query.Formulas, formula int) string
}

// cannotCompute is the reason why a field is not computed by the source of a table.
func cannotCompute(table Table, f *query.Formulas, formula int) string {
	c, ok := table.(Computer)
	if !ok {
		return "this source does not compute fields"
	}
	return c.CannotCompute(f, formula)
}

// split divides a query of a table, or returns nil where the source runs all of it.
func split(table Table, t *query.Tree) *query.Split {
	return query.NewSplit(t, func(formula int) bool { return cannotCompute(table, &t.Formulas, formula) == "" })
}

// ExplainRun is what [Run] sends, and what is left to do here.
func ExplainRun(table Table, t *query.Tree) Explanation {
	s := split(table, t)
	if s == nil {
		e := table.Explain(t)
		for _, i := range t.Used() {
			e.Computed = append(e.Computed, feedmill.RanComputed{Name: t.Formulas.List[i].Name, RanIn: feedmill.RanInSource})
		}
		return e
	}
	e := table.Explain(s.Inner)
	inner := e.Ran
	e.Ran = func(f query.Placed) feedmill.RanIn { return s.Ran(f, inner) }
	e.GroupedHere = t.Grouped()
	for _, i := range t.Used() {
		ran := feedmill.RanComputed{Name: t.Formulas.List[i].Name, RanIn: feedmill.RanInSource}
		if slices.Contains(s.First, i) || slices.Contains(s.Then, i) {
			ran.RanIn, ran.Reason = feedmill.RanInHere, cannotCompute(table, &t.Formulas, i)
			if ran.Reason == "" {
				ran.Reason = "it uses a field that Feedmill computes"
			}
		}
		e.Computed = append(e.Computed, ran)
	}
	return e
}

// Run runs a query of a table. What its source does not compute is computed here.
func Run(ctx context.Context, table Table, t *query.Tree, out Rows) (Done, error) {
	s := split(table, t)
	if s == nil {
		return table.Read(ctx, t, out)
	}
	c := &computing{Split: s, finish: NewFinish(s.Outer, out, "")}
	defer c.finish.Close()
	inner, err := table.Read(ctx, s.Inner, c)
	if err != nil && !errors.Is(err, ErrEnough) {
		return Done{Warnings: inner.Warnings}, err
	}
	done, err := c.finish.End(ctx)
	done.Warnings = slices.Concat(inner.Warnings, c.warnings(), done.Warnings)
	return done, err
}

// computing adds computed fields to the rows of a source, and hands them to what finishes the
// query.
type computing struct {
	*query.Split
	finish *Finish
	// evaluators and builders are those of the formulas, nil for others.
	evaluators []*compute.Evaluator
	builders   []*Builder
	test       query.Test
	// passed counts the rows that were handed on.
	passed int64
}

// place is where a column is among the vectors of a row: those that come, and then the formulas.
func (c *computing) place(column query.Column) int {
	if i := c.At(column); i >= 0 {
		return i
	}
	return len(c.Fetched) + c.Outer.Tree.Formulas.Of(column)
}

// Columns takes the columns of the rows that come.
func (c *computing) Columns(ctx context.Context, columns []feedmill.Column) error {
	f := &c.Outer.Tree.Formulas
	c.evaluators, c.builders = make([]*compute.Evaluator, len(f.List)), make([]*Builder, len(f.List))
	at := func(field int) int { return c.place(f.Columns[field]) }
	for _, i := range slices.Concat(c.First, c.Then) {
		formula := &f.List[i]
		c.evaluators[i] = compute.NewEvaluator(formula.Node, at, formula.Zone)
		c.builders[i] = NewBuilder(*f.Columns[f.Base+i].Column)
		c.builders[i].silent = true
	}
	c.test = query.NewTest(c.Tests, c.place)
	fetched := c.Outer.Columns()
	for i, e := range c.Outer.Fetched {
		if at := c.At(e.Column); at >= 0 {
			fetched[i].Type, fetched[i].Precision, fetched[i].Scale = columns[at].Type, columns[at].Precision, columns[at].Scale
		}
	}
	return c.finish.Columns(ctx, fetched)
}

// Rows takes rows. Fields that tests need are computed for all of them, and the others for those
// that pass.
func (c *computing) Rows(ctx context.Context, run []columnar.Vector) error {
	if len(run) == 0 || run[0].Len == 0 {
		return nil
	}
	rows := append(slices.Clone(run), make([]columnar.Vector, len(c.builders))...)
	if err := c.compute(rows, c.First); err != nil {
		return err
	}
	kept := make([]int, 0, run[0].Len)
	for i := range run[0].Len {
		if c.test(rows, i) {
			kept = append(kept, i)
		}
	}
	if c.Outer.LimitHere && c.Outer.Tree.Limit > 0 {
		// Rows after the limit are not computed, because they could fail.
		kept = kept[:min(int64(len(kept)), c.Outer.Tree.Limit+c.Outer.Tree.Offset-c.passed)]
	}
	c.passed += int64(len(kept))
	if len(kept) < run[0].Len {
		for i := range rows {
			if rows[i].Len > 0 {
				rows[i] = pick(&rows[i], kept)
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	for from := 0; from < len(kept); from += BatchRows { // which the builders have room for
		part := rows
		if len(kept) > BatchRows {
			part = make([]columnar.Vector, len(rows))
			for i := range rows {
				if rows[i].Len > 0 {
					part[i] = pick(&rows[i], sequence(from, min(from+BatchRows, len(kept))))
				}
			}
		}
		if err := c.hand(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// sequence lists the numbers from one to before another.
func sequence(from, before int) []int {
	all := make([]int, before-from)
	for i := range all {
		all[i] = from + i
	}
	return all
}

// hand computes the other fields and hands rows on.
func (c *computing) hand(ctx context.Context, rows []columnar.Vector) error {
	rows = slices.Clone(rows)
	if err := c.compute(rows, c.Then); err != nil {
		return err
	}
	out := make([]columnar.Vector, len(c.Outer.Fetched))
	for i, e := range c.Outer.Fetched {
		out[i] = rows[c.place(e.Column)]
	}
	if len(out) == 0 {
		out = rows[:1] // groups of only a count
	}
	return c.finish.Rows(ctx, out)
}

// compute computes formulas for all rows.
func (c *computing) compute(rows []columnar.Vector, formulas []int) error {
	for _, i := range formulas {
		to := c.builders[i]
		for row := range rows[0].Len {
			if err := c.evaluators[i].Add(rows, row, exactBuilder{to}); err != nil {
				return Fail(ProblemStatement, fmt.Sprintf("The computed field %s cannot be computed: %v. Change its expression, or filter the rows.", c.Outer.Tree.Formulas.List[i].Name, err), err)
			}
		}
		rows[len(c.Fetched)+i] = to.Take()
	}
	return nil
}

// exactBuilder takes the values of formulas.
type exactBuilder struct{ *Builder }

// Exact takes a number that fits the column.
func (b exactBuilder) Exact(n *big.Int) {
	if b.v.Wide == nil {
		b.Int(n.Int64())
		return
	}
	wide, _ := Int128(n)
	b.Wide(wide)
}

// Text takes a text as it is.
func (b exactBuilder) Text(text []byte) {
	b.v.Bytes = append(b.v.Bytes, text...)
	b.endText()
}

// warnings are about values that are null because they cannot be computed.
func (c *computing) warnings() (all []feedmill.Warning) {
	for i, e := range c.evaluators {
		if e == nil {
			continue
		}
		name := c.Outer.Tree.Formulas.List[i].Name
		if e.Divided > 0 {
			all = append(all, feedmill.Warning{Code: feedmill.WarnDivision, Column: name, Count: e.Divided, Detail: fmt.Sprintf(
				"The computed field %s divides by zero in %d rows, which are null. Filter these rows, or use if to give them a value.", name, e.Divided)})
		}
		if e.Failed > 0 {
			all = append(all, feedmill.Warning{Code: feedmill.WarnConversion, Column: name, Count: e.Failed, Detail: fmt.Sprintf(
				"The computed field %s converts values in %d rows that are not in an accepted form, and is null there. Correct the values at the source.", name, e.Failed)})
		}
	}
	return all
}
