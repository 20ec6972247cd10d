package database

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// sortMemory is how many bytes of rows are sorted here.
const sortMemory = 64 << 20

// sorting sorts rows where the source cannot, because a sort key is computed here.
type sorting struct {
	plan  *query.Plan
	runs  [][]columnar.Vector
	bytes int
	rows  int
	// memory is how many bytes of rows it can have.
	memory int
}

// place is a row of a run.
type place struct{ run, row int }

// add takes the rows that kept lists, or all where it is nil.
func (s *sorting) add(run []columnar.Vector, kept []int) error {
	if kept != nil {
		run = slices.Clone(run)
		for i := range run {
			run[i] = pick(&run[i], kept)
		}
	}
	s.runs = append(s.runs, run)
	s.rows += run[0].Len
	for i := range run {
		s.bytes += vectorBytes(&run[i])
	}
	t := s.plan.Tree
	if most := t.Limit + t.Offset; t.Limit > 0 && s.bytes > s.memory/2 && int64(s.rows) > 2*most {
		s.cut(int(most))
	}
	if s.bytes > s.memory {
		return Fail(ProblemTooMuch, "The query sorts by a field that the source cannot compute, and the rows are too many for Feedmill to sort. Set a limit, add filters, or remove the sort.", nil)
	}
	return nil
}

// order lists all rows as they are sorted.
func (s *sorting) order() []place {
	all := make([]place, 0, s.rows)
	for i, run := range s.runs {
		for row := range run[0].Len {
			all = append(all, place{i, row})
		}
	}
	slices.SortStableFunc(all, s.compare)
	return all
}

// compare compares two rows, nulls last.
func (s *sorting) compare(a, b place) int {
	for _, k := range s.plan.Tree.Sort {
		at := s.plan.At(k.Expression)
		x, y := &s.runs[a.run][at], &s.runs[b.run][at]
		switch aNull, bNull := x.Null(a.row), y.Null(b.row); {
		case aNull && bNull:
			continue
		case aNull:
			return 1
		case bNull:
			return -1
		}
		c := 0
		if query.IsOpen(k.Column.Column) && x.Offsets != nil {
			c = compareDigits(string(x.Text(a.row)), string(y.Text(b.row)))
		} else {
			c = compareRows(x, a.row, y, b.row)
		}
		if c != 0 && k.Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// cut keeps the first rows.
func (s *sorting) cut(most int) {
	var runs [][]columnar.Vector
	s.each(s.order()[:most], func(run []columnar.Vector) error {
		runs = append(runs, run)
		return nil
	})
	s.runs, s.bytes, s.rows = runs, 0, most
	for _, run := range runs {
		for i := range run {
			s.bytes += vectorBytes(&run[i])
		}
	}
}

// each copies rows into runs.
func (s *sorting) each(order []place, do func(run []columnar.Vector) error) error {
	for len(order) > 0 {
		n := min(len(order), BatchRows)
		run := make([]columnar.Vector, len(s.runs[0]))
		for i := range run {
			first := &s.runs[0][i]
			b := NewBuilder(feedmill.Column{Type: first.Type, Precision: first.Precision, Scale: first.Scale})
			for _, p := range order[:n] {
				b.copy(&s.runs[p.run][i], p.row)
			}
			run[i] = b.Take()
		}
		if err := do(run); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// sorted hands on the rows that were held to be sorted.
func (f *Finish) sorted(ctx context.Context) error {
	s := f.sorting
	if len(s.runs) == 0 {
		return nil
	}
	t, order := s.plan.Tree, s.order()
	order = order[min(t.Offset, int64(len(order))):]
	if t.Limit > 0 {
		order = order[:min(t.Limit, int64(len(order)))]
	}
	f.done.Rows = int64(len(order))
	return s.each(order, func(run []columnar.Vector) error { return f.hand(ctx, run[:len(t.Outputs)]) })
}
