package database

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// ErrEnough ends a statement of which no more rows are wanted. A connector stops
// and takes it for the end.
var ErrEnough = errors.New("no more rows are needed")

// Finish takes what a plan's statement fetches, does what is left to do of the
// query, and hands on the rows of the result.
type Finish struct {
	plan *query.Plan
	out  Rows
	test query.Test
	// group makes the groups, where that is left.
	group *grouping
	// sorting sorts the rows, where that is left.
	sorting *sorting
	// open holds rows until the types of open decimals are known, nil where there are
	// none.
	open *openRows
	temp string
	// sums is nil where no output can be beyond the range of a number.
	sums *sums
	// latest is where the column of the greatest value is, -1 for none.
	latest int
	// statements counts those that Next has returned.
	statements int
	// fetched counts the rows that came, and skipped those that the offset left out.
	fetched, skipped int64
	done             Done
}

// NewFinish makes ready to finish a plan, with a folder for temporary files. Where columns
// can be open decimals, Close must be called.
func NewFinish(p *query.Plan, out Rows, temp string) *Finish {
	f := &Finish{plan: p, out: out, latest: -1, temp: temp}
	at := func(c query.Column) int { return p.At(c.Of()) }
	switch {
	case p.HavingHere:
		f.test = query.NewTest(p.Tree.Having, at)
	case len(p.Here) > 0:
		f.test = query.NewTest(p.Here, at)
	case p.LimitHere:
		f.test = query.NewTest(query.All{}, at)
	}
	if p.SortHere {
		f.sorting = &sorting{plan: p, memory: sortMemory}
	}
	f.sums = newSums(p.Tree, p.Fetched)
	if p.Tree.Latest != nil {
		f.latest = p.At(query.Expression{Column: *p.Tree.Latest})
	}
	return f
}

// Columns takes the columns of the rows that will come, with the digits that the
// decimals have.
func (f *Finish) Columns(ctx context.Context, fetched []feedmill.Column) error {
	if f.open == nil && slices.ContainsFunc(fetched, func(c feedmill.Column) bool { return query.IsOpen(&c) }) {
		f.open = newOpenRows(f.plan, fetched, f.temp)
		return nil
	}
	columns := f.plan.Tree.Columns()
	if f.plan.GroupHere {
		f.group = newGrouping(f.plan, fetched)
		for i, o := range f.plan.Tree.Outputs {
			source := fetched[f.plan.At(query.Expression{Column: o.Column})]
			typed := query.Expression{Column: query.Column{Column: &source}, Aggregate: o.Aggregate, Period: o.Period}.Type()
			columns[i].Type, columns[i].Precision, columns[i].Scale = typed.Type, typed.Precision, typed.Scale
		}
	} else {
		for i := range columns {
			columns[i].Type, columns[i].Precision, columns[i].Scale = fetched[i].Type, fetched[i].Precision, fetched[i].Scale
		}
	}
	return f.out.Columns(ctx, columns)
}

// Rows takes some rows. It is [ErrEnough] once the limit is reached.
func (f *Finish) Rows(ctx context.Context, run []columnar.Vector) error {
	if len(run) == 0 || run[0].Len == 0 {
		return nil
	}
	if err := f.checkSizes(run); err != nil {
		return err
	}
	run = f.sums.take(run)
	if f.open != nil && f.open.lossy() {
		return f.open.add(run)
	}
	return f.take(ctx, run)
}

// take tests rows and hands them on.
func (f *Finish) take(ctx context.Context, run []columnar.Vector) error {
	var kept []int // nil for all
	n := run[0].Len
	if f.test != nil {
		kept = make([]int, 0, n)
		for i := range n {
			if f.test(run, i) {
				kept = append(kept, i)
			}
		}
		n = len(kept)
	}
	if f.plan.GroupHere {
		return f.addGrouped(run, kept)
	}
	enough := false
	if f.plan.LimitHere {
		limit, skip := f.plan.Tree.Limit, min(f.plan.Tree.Offset-f.skipped, int64(n))
		f.skipped += skip
		kept = kept[skip:]
		n = len(kept)
		if limit > 0 && f.done.Rows+int64(n) >= limit {
			enough = true
			n = int(limit - f.done.Rows)
			kept = kept[:n]
		}
	}
	if f.latest >= 0 {
		kept = f.see(&run[f.latest], kept)
		if kept != nil {
			n = len(kept)
		}
	}
	if f.sorting != nil {
		if n == 0 {
			return nil
		}
		return f.sorting.add(run, kept)
	}
	if n > 0 {
		result := run[:len(f.plan.Tree.Outputs)]
		if kept != nil && n < run[0].Len {
			result = slices.Clone(result)
			for i := range result {
				result[i] = pick(&result[i], kept)
			}
		}
		f.done.Rows += int64(n)
		if err := f.hand(ctx, result); err != nil {
			return err
		}
	}
	if enough {
		return ErrEnough
	}
	return nil
}

// Next is the plan's statement after those that have run, empty for none.
func (f *Finish) Next() string {
	f.statements++
	switch f.statements {
	case 1:
		return f.plan.SQL
	case 2:
		return f.plan.RestSQL(f.done.Rows)
	}
	return ""
}

// End hands on what could not be before all rows were there.
func (f *Finish) End(ctx context.Context) (Done, error) {
	if f.sorting != nil {
		if err := f.sorted(ctx); err != nil {
			return Done{}, err
		}
	}
	if f.open != nil {
		if err := f.decide(ctx); err != nil {
			return Done{}, err
		}
	}
	if f.group != nil {
		rows, warnings, err := f.group.end()
		if err != nil {
			return Done{}, err
		}
		f.done.Warnings = append(f.done.Warnings, warnings...)
		if rows[0].Len > 0 {
			if err := f.out.Rows(ctx, rows); err != nil {
				return Done{}, err
			}
		}
		f.done.Rows = int64(rows[0].Len)
	}
	f.done.Warnings = append(f.done.Warnings, f.sums.warnings()...)
	return f.done, nil
}

// see looks for a greater value than the greatest so far. It returns the rows that are
// kept, nil for all: those without a value are bounded.
func (f *Finish) see(v *columnar.Vector, kept []int) []int {
	best, dropped := -1, false
	limit, bounded := f.ahead(v.Type)
	look := func(i int) bool {
		switch {
		case v.Null(i):
			f.done.Nulls++
			most := f.plan.Tree.MostNulls
			return most == 0 || f.done.Nulls <= most
		case v.Floats != nil && math.IsNaN(v.Floats[i]-v.Floats[i]):
			return true // it is not finite, and nothing is beyond it
		case bounded && v.Ints[i] > limit:
			f.done.Ahead++
			return true
		}
		if best < 0 || f.compareLatest(v, i, best) > 0 {
			best = i
		}
		return true
	}
	var wanted []int
	each := func(i int) {
		if look(i) {
			wanted = append(wanted, i)
		} else {
			dropped = true
		}
	}
	if kept == nil {
		for i := range v.Len {
			each(i)
		}
	}
	for _, i := range kept {
		each(i)
	}
	if best >= 0 && (f.done.Latest == "" || f.greater(v, best)) {
		f.done.Latest = valueText(v, best)
	}
	if !dropped {
		return kept
	}
	if wanted == nil {
		wanted = []int{}
	}
	return wanted
}

// ahead is the last day or microsecond that can be the greatest value.
func (f *Finish) ahead(t columnar.Type) (last int64, bounded bool) {
	at := f.plan.Tree.Ahead
	switch {
	case at.IsZero():
		return 0, false
	case t == columnar.TypeDate:
		return at.Unix() / (24 * 3600), true
	case t == columnar.TypeTimestamp:
		return at.UnixMicro(), true
	}
	return 0, false
}

// Close gives up what is held of rows.
func (f *Finish) Close() {
	if f.open != nil {
		f.open.spool.close()
	}
}

// compareLatest compares two values of the column of the greatest value.
func (f *Finish) compareLatest(v *columnar.Vector, i, j int) int {
	if v.Offsets != nil && f.plan.Tree.Latest.Type == columnar.TypeDecimal {
		return compareDigits(string(v.Text(i)), string(v.Text(j)))
	}
	return compareRows(v, i, v, j)
}

// greater compares row i with the greatest value so far.
func (f *Finish) greater(v *columnar.Vector, i int) bool {
	text := f.done.Latest
	if v.Offsets != nil && f.plan.Tree.Latest.Type == columnar.TypeDecimal {
		return compareDigits(string(v.Text(i)), text) > 0
	}
	column := feedmill.Column{Name: "v", Type: v.Type, Precision: v.Precision, Scale: v.Scale}
	tree, faults := query.Resolve(feedmill.Query{Where: []feedmill.Condition{{
		Name: "v", Filters: []feedmill.Filter{{Op: feedmill.OpGt, Values: []feedmill.FilterValue{{Text: text}}}},
	}}}, []feedmill.Column{column})
	if faults.Err() != nil {
		return false
	}
	return query.NewTest(tree.Where, func(query.Column) int { return 0 })([]columnar.Vector{*v}, i)
}

// valueText writes a value as a filter reads it.
func valueText(v *columnar.Vector, i int) string {
	switch v.Type {
	case columnar.TypeText, columnar.TypeJSON:
		return string(v.Text(i))
	case columnar.TypeNumber:
		return strconv.FormatFloat(v.Floats[i], 'g', -1, 64)
	case columnar.TypeDate:
		return time.Unix(v.Ints[i]*24*3600, 0).UTC().Format(time.DateOnly)
	case columnar.TypeTimestamp:
		return time.UnixMicro(v.Ints[i]).UTC().Format(time.RFC3339Nano)
	case columnar.TypeDecimal:
		if v.Wide != nil {
			return v.Wide[i].Decimal(v.Scale)
		}
		return columnar.Int128Of(v.Ints[i]).Decimal(v.Scale)
	}
	return strconv.FormatInt(v.Ints[i], 10)
}
