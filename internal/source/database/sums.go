package database

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// sums makes sums and averages null that are beyond the range of a number.
type sums struct {
	builders []*Builder // nil for the other columns
	names    []string
}

// newSums returns nil where no expression can be beyond the range.
func newSums(t *query.Tree, expressions []query.Expression) *sums {
	var s *sums
	for i, e := range expressions {
		if t.Infinite || !e.CanOverflow() {
			continue
		}
		if s == nil {
			s = &sums{builders: make([]*Builder, len(expressions)), names: make([]string, len(expressions))}
		}
		s.builders[i], s.names[i] = NewBuilder(feedmill.Column{Type: columnar.TypeNumber}), e.Column.Name
		if i < len(t.Outputs) {
			s.names[i] = t.Outputs[i].Name
		}
		s.builders[i].sum = true
	}
	return s
}

// take takes rows that nobody else changes.
func (s *sums) take(run []columnar.Vector) []columnar.Vector {
	if s == nil {
		return run
	}
	taken := append([]columnar.Vector(nil), run...)
	for i, b := range s.builders {
		if b != nil {
			taken[i] = b.Whole(run[i])
		}
	}
	return taken
}

func (s *sums) warnings() (all []feedmill.Warning) {
	if s == nil {
		return nil
	}
	for i, b := range s.builders {
		if b != nil {
			all = append(all, b.Warnings(s.names[i])...)
		}
	}
	return all
}
