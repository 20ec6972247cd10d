package feedmill

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The limits of a query.
const (
	// MaxQueryFields is how many fields it may name, and how many to sort by.
	MaxQueryFields = 200
	// MaxFilters is how many filters a field may have, and MaxFilterValues how
	// many values a filter.
	MaxFilters      = 200
	MaxFilterValues = 1000
	// MaxPeriod is how many units a period may have, so that its ends are dates.
	MaxPeriod = 10_000
	// MaxQueryRows bounds what may be asked for in numbers, not in rows.
	MaxQueryRows = 1_000_000_000_000
)

// Query says which rows and columns of a table are wanted, and in which order.
// Columns go by their names.
type Query struct {
	// Joins are the views that are joined with the first one, in order.
	Joins []Join
	// Fields are the columns that are wanted, in order; none means all.
	Fields []Field
	// Computed are fields that are computed for each row. The others can use them.
	Computed []Computed
	// Where has the conditions on the rows, all of which must hold.
	Where []Condition
	// Tree is a condition that must hold besides, nil for none.
	Tree *WhereNode
	Sort []Sort
	// Limit is how many rows are wanted at most; zero means all.
	Limit int64
	// Offset is how many rows are passed over first.
	Offset int64
	// Zone is where days begin, UTC where it is nil, and WeekStart the day on
	// which weeks do; users who do not say mean Monday, which is not the zero
	// value. Now is the time from which "last" and the like count.
	Zone      *time.Location
	WeekStart time.Weekday
	Now       time.Time
	// Since asks for what is new only, nil for everything.
	Since *Since
}

// Relative reports whether the rows of a query depend on when it is asked.
func (q *Query) Relative() bool {
	relative := false
	see := func(f *Filter) { relative = relative || f.Op.TakesPeriod() }
	for _, c := range q.Where {
		for i := range c.Filters {
			see(&c.Filters[i])
		}
	}
	q.Tree.Leaves(func(n *WhereNode) { see(&n.Filter) })
	for _, f := range q.Fields {
		for i := range f.Having {
			see(&f.Having[i].Filter)
		}
	}
	return relative
}

// Since asks for the rows whose value of a field is at least that of the last row
// that is known.
type Since struct {
	Field string
	// From is the greatest value that is known, as text; empty means that
	// nothing is.
	From string
	// Lookback is how far before From to begin, for what came late. It is for
	// dates and timestamps.
	Lookback time.Duration
	// Nulls asks for the rows without a value of the field, too.
	Nulls bool
	// Place is where this stands in the request. A fault has a pointer below it:
	// /field or /lookback.
	Place Fault
}

// Field is a column that is wanted.
type Field struct {
	// From is the alias of the joined view that has the field; empty for the first view.
	From string
	Name string
	// As is what the column is called in the answer; empty means Name.
	As string
	// Aggregate makes one value of many, for every group of rows that are
	// equal in the fields without one.
	Aggregate Aggregate
	// Aggregates are several of them, in place of As and Aggregate.
	Aggregates []NamedAggregate
	// Group groups rows by the period that the value is in, such as its month, in place of
	// the value.
	Group PeriodUnit
	// Having are the filters on aggregates of the field, all of which must match.
	Having []Having
	// FilterOnly says that it is named for its conditions and is not wanted.
	FilterOnly bool
	// Place is where the field stands in the request, for faults.
	Place Fault
}

// NamedAggregate is one of several aggregates of a field.
type NamedAggregate struct {
	Fn Aggregate
	// As is what it is called in the answer; empty means the field's name.
	As string
	// Place is where it stands in the request. A fault has a pointer below it.
	Place Fault
}

// Aggregate is how the values of a group become one.
type Aggregate string

// The aggregates.
const (
	AggregateSum           Aggregate = "sum"
	AggregateAvg           Aggregate = "avg"
	AggregateMin           Aggregate = "min"
	AggregateMax           Aggregate = "max"
	AggregateCount         Aggregate = "count"
	AggregateCountDistinct Aggregate = "countDistinct"
)

// Aggregates lists all of them.
var Aggregates = []Aggregate{
	AggregateSum, AggregateAvg, AggregateMin, AggregateMax, AggregateCount, AggregateCountDistinct,
}

// Sort is a column to sort by. Rows without a value come last either way.
type Sort struct {
	// From is the alias of a joined view; empty for outputs and the first view.
	From       string
	Name       string
	Descending bool
	// Place is where this stands in the request, for faults.
	Place Fault
}

// Condition is what must hold for one column.
type Condition struct {
	// From is the alias of a joined view; empty for the first view.
	From    string
	Name    string
	Filters []Filter
	// Any says that one of the filters is enough; else all must hold.
	Any bool
	// Place is where the condition stands in the request. A fault of a filter
	// has a pointer below it, such as /filters/0/values/1.
	Place Fault
}

// Filter is a test of one value. A value that is null does not pass, except
// where the operator asks for it; inverted, exactly those pass that would not.
type Filter struct {
	Op       FilterOp
	Values   []FilterValue
	Inverted bool
	// CaseSensitive is for contains, startsWith and endsWith.
	CaseSensitive bool
}

// FilterOp is what a filter tests.
type FilterOp string

// The operators. Package query says what each takes and means.
const (
	OpEq         FilterOp = "eq"
	OpContains   FilterOp = "contains"
	OpStartsWith FilterOp = "startsWith"
	OpEndsWith   FilterOp = "endsWith"
	OpMatches    FilterOp = "matches"
	OpGt         FilterOp = "gt"
	OpGte        FilterOp = "gte"
	OpLt         FilterOp = "lt"
	OpLte        FilterOp = "lte"
	OpBetween    FilterOp = "between"
	OpIsNull     FilterOp = "isNull"
	OpIsEmpty    FilterOp = "isEmpty"
	OpIsTrue     FilterOp = "isTrue"
	OpIsFalse    FilterOp = "isFalse"
	OpLast       FilterOp = "last"
	OpNext       FilterOp = "next"
	OpCurrent    FilterOp = "current"
	OpToDate     FilterOp = "toDate"
)

// TakesPeriod reports whether the value of an operator is a period.
func (op FilterOp) TakesPeriod() bool {
	return op == OpLast || op == OpNext || op == OpCurrent || op == OpToDate
}

// FilterValue is what a filter compares with: null, a period, or a text that
// is read as the type of the column.
type FilterValue struct {
	Null   bool
	Text   string
	Period *Period
}

// Period is a number of units of time before or after the current one.
type Period struct {
	N    int
	Unit PeriodUnit
	// IncludeCurrent adds the current unit to the N.
	IncludeCurrent bool
}

// PeriodUnit is a unit of the calendar.
type PeriodUnit string

// The units.
const (
	UnitMinute  PeriodUnit = "minute"
	UnitHour    PeriodUnit = "hour"
	UnitDay     PeriodUnit = "day"
	UnitWeek    PeriodUnit = "week"
	UnitMonth   PeriodUnit = "month"
	UnitQuarter PeriodUnit = "quarter"
	UnitYear    PeriodUnit = "year"
)

// PeriodUnits lists all of them, from the shortest on.
var PeriodUnits = []PeriodUnit{UnitMinute, UnitHour, UnitDay, UnitWeek, UnitMonth, UnitQuarter, UnitYear}

// Add is n units after the start of one.
func (u PeriodUnit) Add(t time.Time, n int) time.Time {
	switch u {
	case UnitMinute:
		return t.Add(time.Duration(n) * time.Minute)
	case UnitHour:
		return t.Add(time.Duration(n) * time.Hour)
	case UnitDay:
		return t.AddDate(0, 0, n)
	case UnitWeek:
		return t.AddDate(0, 0, 7*n)
	case UnitMonth:
		return t.AddDate(0, n, 0)
	case UnitQuarter:
		return t.AddDate(0, 3*n, 0)
	}
	return t.AddDate(n, 0, 0)
}

// ParseFilter reads a filter of the form field:op:value,value. The field, after
// a "!" where the filter is inverted, and the values may be in quotes, as in
// CSV. As there, nothing at all is null, and "" is the empty text.
func ParseFilter(text string) (Condition, error) {
	f := Filter{}
	text, f.Inverted = strings.CutPrefix(text, "!")
	field, rest, err := ScanItem(text, ":")
	if err != nil {
		return Condition{}, err
	}
	if field.Text == "" || !strings.HasPrefix(rest, ":") {
		return Condition{}, errors.New("a filter must have the form field:op:value,value, such as total:gt:100")
	}
	if err := f.parse(rest[1:]); err != nil {
		return Condition{}, err
	}
	return Condition{Name: field.Text, Filters: []Filter{f}}, nil
}

// parse reads the operator and the values of a filter, of the form op:value,value.
func (f *Filter) parse(text string) error {
	op, values, hasValues := strings.Cut(text, ":")
	f.Op = FilterOp(op)
	if !hasValues {
		return nil
	}
	items, err := ParseList(values, "")
	for _, item := range items {
		f.Values = append(f.Values, FilterValue{Text: item.Text, Null: item.Text == "" && !item.Quoted})
	}
	return err
}

// ParsePeriod reads a period such as "7 days" or "month".
func ParsePeriod(text string) (Period, error) {
	p := Period{N: 1}
	words := strings.Fields(text)
	wrong := errors.New(`the period must have the form "7 days" or "month"`)
	if len(words) == 2 {
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 {
			return p, wrong
		}
		p.N, words = n, words[1:]
	}
	for _, unit := range PeriodUnits {
		if len(words) == 1 && strings.TrimSuffix(words[0], "s") == string(unit) {
			p.Unit = unit
			return p, nil
		}
	}
	return p, wrong
}

// ListItem is one of several texts that are separated by commas.
type ListItem struct {
	Text string
	// Quoted says that the text was in quotes, and Signed that a sign was before it.
	Quoted, Signed bool
}

// ParseList reads texts that are separated by commas, each of which may be in
// quotes and, where there is a sign, begin with it.
func ParseList(text, sign string) ([]ListItem, error) {
	var items []ListItem
	for {
		rest, signed := text, false
		if sign != "" {
			rest, signed = strings.CutPrefix(text, sign)
		}
		item, rest, err := ScanItem(rest, ",")
		if err != nil {
			return nil, err
		}
		item.Signed = signed
		items = append(items, item)
		if rest == "" {
			return items, nil
		}
		text = rest[1:]
	}
}

// ScanItem reads a text up to one of some separators, or to its closing quote,
// inside of which a quote stands twice.
func ScanItem(text, separators string) (item ListItem, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		at := strings.IndexAny(text, separators)
		if at < 0 {
			at = len(text)
		}
		return ListItem{Text: text[:at]}, text[at:], nil
	}
	var b strings.Builder
	for rest = text[1:]; ; {
		part, after, closed := strings.Cut(rest, `"`)
		b.WriteString(part)
		if !closed {
			return item, "", errors.New("a quote is not closed")
		}
		if rest = after; !strings.HasPrefix(rest, `"`) {
			break
		}
		b.WriteByte('"')
		rest = rest[1:]
	}
	if rest != "" && !strings.Contains(separators, rest[:1]) {
		return item, "", fmt.Errorf("a closing quote must be followed by %q or the end", separators)
	}
	return ListItem{Text: b.String(), Quoted: true}, rest, nil
}
