package database

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// groupMemory is about how many bytes the groups of a query may take that are
// made here.
const groupMemory = 64 << 20

// grouping makes groups of rows where the database cannot, because a filter before
// it is tested here.
type grouping struct {
	tree *query.Tree
	// outputs are the columns of the result, and after them the aggregates that only
	// having tests.
	outputs []groupOutput
	// rawAt are where the columns of the outputs are in the rows that come.
	rawAt  []int
	groups map[string]int
	key    []byte
	memory int
}

// groupOutput is a column of the result.
type groupOutput struct {
	query.Expression
	name    string
	at      int
	column  feedmill.Column
	key     *Builder     // for a column without an aggregate
	combine *accumulator // for one with
}

func newGrouping(p *query.Plan, fetched []feedmill.Column) *grouping {
	g := &grouping{tree: p.Tree, groups: make(map[string]int)}
	add := func(e query.Expression, name string) {
		at := p.At(query.Expression{Column: e.Column})
		source := fetched[at]
		out := groupOutput{Expression: e, name: name, at: at, column: query.Expression{Column: query.Column{Column: &source}, Aggregate: e.Aggregate, Period: e.Period}.Type()}
		if e.Aggregate == "" {
			out.key = NewBuilder(out.column)
		} else {
			out.combine = &accumulator{fn: e.Aggregate}
		}
		g.outputs, g.rawAt = append(g.outputs, out), append(g.rawAt, at)
	}
	for _, o := range p.Tree.Outputs {
		add(o.Expression, o.Name)
	}
	for _, e := range p.Tree.Tested() {
		if g.at(e) < 0 {
			add(e, e.Column.Name)
		}
	}
	if !slices.ContainsFunc(g.outputs, func(o groupOutput) bool { return o.key != nil }) {
		g.group("", nil, 0) // all rows are one group, also where there are none
	}
	return g
}

// at is where an expression is among the outputs, -1 for nowhere.
func (g *grouping) at(e query.Expression) int {
	return slices.IndexFunc(g.outputs, func(o groupOutput) bool { return o.Same(e) })
}

// add takes the rows that kept lists, or all where it is nil.
func (g *grouping) add(run []columnar.Vector, kept []int) error {
	run = g.periods(run)
	if kept == nil {
		for i := range run[0].Len {
			g.addRow(run, i)
		}
	}
	for _, i := range kept {
		g.addRow(run, i)
	}
	if g.memory > groupMemory {
		return Fail(ProblemTooMuch, "A filter or computed field of this query cannot run in the database, and the groups after it are too many for Feedmill to compute. Remove that filter or field, or the aggregates.", nil)
	}
	return nil
}

// periods adds a column for each period that rows are grouped by.
func (g *grouping) periods(run []columnar.Vector) []columnar.Vector {
	run = slices.Clip(run)
	for i := range g.outputs {
		o := &g.outputs[i]
		if o.Period == nil {
			continue
		}
		v, to := &run[g.rawAt[i]], NewBuilder(o.column)
		for row := range v.Len {
			start, ok := int64(0), !v.Null(row)
			if ok {
				start, ok = o.Period.Start(v.Type, v.Ints[row])
			}
			if ok {
				to.Int(start)
			} else {
				to.Null()
			}
		}
		o.at = len(run)
		run = append(run, to.Take())
	}
	return run
}

func (g *grouping) addRow(run []columnar.Vector, i int) {
	g.key = g.key[:0]
	for _, o := range g.outputs {
		if o.key != nil {
			g.key = appendKey(g.key, &run[o.at], i)
		}
	}
	group, ok := g.groups[string(g.key)]
	if !ok {
		group = g.group(string(g.key), run, i)
	}
	for _, o := range g.outputs {
		if o.combine != nil && !run[o.at].Null(i) {
			g.memory += o.combine.add(group, &run[o.at], i)
		}
	}
}

// group begins a group with the key of row i.
func (g *grouping) group(key string, run []columnar.Vector, i int) int {
	n := len(g.groups)
	g.groups[key] = n
	g.memory += 100 + 2*len(key)
	for _, o := range g.outputs {
		if o.combine != nil {
			o.combine.grow()
			g.memory += 100
			continue
		}
		o.key.copy(&run[o.at], i)
	}
	return n
}

// end is the rows of the result.
func (g *grouping) end() (rows []columnar.Vector, warnings []feedmill.Warning, err error) {
	rows = make([]columnar.Vector, len(g.outputs))
	for i, o := range g.outputs {
		b := o.key
		if b == nil {
			b = NewBuilder(o.column)
			b.sum = !g.tree.Infinite && o.CanOverflow()
			if err := o.combine.end(b); err != nil {
				return nil, nil, err
			}
			warnings = append(warnings, b.Warnings(o.name)...)
		}
		rows[i] = b.Take()
	}
	passes := query.NewTest(g.tree.Having, func(c query.Column) int { return g.at(*c.Derived) })
	order := make([]int, 0, len(g.groups))
	for i := range len(g.groups) {
		if passes(rows, i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return g.compare(rows, a, b) })
	order = order[min(g.tree.Offset, int64(len(order))):]
	if limit := g.tree.Limit; limit > 0 && limit < int64(len(order)) {
		order = order[:limit]
	}
	rows = rows[:len(g.tree.Outputs)]
	for i := range rows {
		rows[i] = pick(&rows[i], order)
	}
	return rows, warnings, nil
}

// compare compares two rows by what is sorted by, nulls last.
func (g *grouping) compare(rows []columnar.Vector, a, b int) int {
	for _, k := range g.tree.Sort {
		v := &rows[g.at(k.Expression)]
		switch aNull, bNull := v.Null(a), v.Null(b); {
		case aNull && bNull:
			continue
		case aNull:
			return 1
		case bNull:
			return -1
		}
		if c := compareRows(v, a, v, b); c != 0 {
			if k.Descending {
				return -c
			}
			return c
		}
	}
	return 0
}

// copy adds a value of a vector of the same type.
func (b *Builder) copy(v *columnar.Vector, i int) {
	switch {
	case v.Null(i):
		b.Null()
	case v.Offsets != nil:
		b.v.Bytes = append(b.v.Bytes, v.Text(i)...)
		b.endText()
	case v.Floats != nil:
		b.Float(v.Floats[i])
	case v.Wide != nil:
		b.Wide(v.Wide[i])
	default:
		b.Int(v.Ints[i])
	}
}

// appendKey appends bytes that are the same for equal values.
func appendKey(key []byte, v *columnar.Vector, i int) []byte {
	if v.Null(i) {
		return append(key, 0)
	}
	key = append(key, 1)
	switch {
	case v.Offsets != nil:
		text := v.Text(i)
		key = binary.LittleEndian.AppendUint32(key, uint32(len(text)))
		return append(key, text...)
	case v.Floats != nil:
		n := v.Floats[i]
		switch {
		case math.IsNaN(n):
			n = math.NaN()
		case n == 0:
			n = 0 // without its sign
		}
		return binary.LittleEndian.AppendUint64(key, math.Float64bits(n))
	case v.Wide != nil:
		key = binary.LittleEndian.AppendUint64(key, uint64(v.Wide[i].Hi))
		return binary.LittleEndian.AppendUint64(key, v.Wide[i].Lo)
	}
	return binary.LittleEndian.AppendUint64(key, uint64(v.Ints[i]))
}
