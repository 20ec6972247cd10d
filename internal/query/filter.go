package query

import (
	"math/big"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	regular "github.com/feedmill/feedmill/internal/pattern"
)

// filter is a filter on its way to a predicate.
type filter struct {
	feedmill.Filter
	column Column
	// now, zone and week are those of the query.
	now  time.Time
	zone *time.Location
	week time.Weekday
}

// filter resolves one filter on a column.
func (r *resolver) filter(column Column, spec feedmill.Filter, place feedmill.Fault) (Predicate, error) {
	op, err := findOperator(column.Type, spec.Op)
	if err != nil {
		return nil, err
	}
	if op.most == 0 && place.Parameter != "" && len(spec.Values) == 1 && spec.Values[0].Null {
		spec.Values = nil // in a URL, "name:isNull:" has nothing after its colon
	}
	if err := op.check(spec.Values); err != nil {
		return nil, err
	}
	f := &filter{Filter: spec, column: column, now: r.query.Now.In(r.zone), zone: r.zone, week: r.query.WeekStart}
	p, err := op.resolve(f)
	if err != nil {
		return nil, err
	}
	if spec.Inverted {
		return Not{p}, nil
	}
	return p, nil
}

func (f *filter) isNull() (Predicate, error)  { return IsNull{f.column}, nil }
func (f *filter) isEmpty() (Predicate, error) { return IsEmpty{f.column}, nil }

func truth(want bool) func(*filter) (Predicate, error) {
	return func(f *filter) (Predicate, error) { return Compare{f.column, Equal, want}, nil }
}

func comparison(c Comparison) func(*filter) (Predicate, error) {
	return func(f *filter) (Predicate, error) { return f.compare(c, 0) }
}

func (f *filter) equal() (Predicate, error) {
	var any Any
	for i, v := range f.Values {
		if v.Null {
			any = append(any, IsNull{f.column})
			continue
		}
		p, err := f.compare(Equal, i)
		if err != nil {
			return nil, err
		}
		any = append(any, p)
	}
	return any, nil
}

// match is contains, startsWith and endsWith.
func (f *filter) match() (Predicate, error) {
	var any Any
	for _, v := range f.Values {
		any = append(any, Match{Column: f.column, Op: f.Op, Text: v.Text, CaseSensitive: f.CaseSensitive})
	}
	return any, nil
}

func (f *filter) matchPattern() (Predicate, error) {
	pattern := f.Values[0].Text
	if err := regular.Check(pattern); err != nil {
		return nil, &valueError{0, "not a valid regular expression (RE2): " + err.Error()}
	}
	return Match{Column: f.column, Op: f.Op, Text: pattern, CaseSensitive: true}, nil
}

// between includes both ends, and all of a day that a timestamp is compared with.
func (f *filter) between() (Predicate, error) {
	from, err := f.compare(GreaterOrEqual, 0)
	if err != nil {
		return nil, err
	}
	if f.column.Type == columnar.TypeTimestamp {
		if day, err := time.ParseInLocation(time.DateOnly, f.Values[1].Text, f.zone); err == nil {
			return All{from, Compare{f.column, Less, day.AddDate(0, 0, 1)}}, nil
		}
	}
	to, err := f.compare(LessOrEqual, 1)
	if err != nil {
		return nil, err
	}
	return All{from, to}, nil
}

// compare compares the column with one of the values.
func (f *filter) compare(c Comparison, i int) (Predicate, error) {
	v, err := f.parseValue(f.Values[i].Text)
	if err != nil {
		return nil, &valueError{i, err.Error()}
	}
	if n, ok := v.(*big.Rat); ok {
		return compareExact(f.column, c, n), nil
	}
	return Compare{f.column, c, v}, nil
}
