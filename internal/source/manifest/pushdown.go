package manifest

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// wanted is what all rows of a result have in a field: one of some values, or one
// from a value to another.
type wanted struct {
	equal    []query.Value
	from, to query.Value
}

// parameters are what the API is told of a query. They let through at least what
// the query does: bounds are widened where the API writes them more coarsely, and
// everything is tested again here.
func (v *View) parameters(t *query.Tree) (all []Parameter) {
	found := make([]wanted, len(v.Fields))
	collect(t.Where, found)
	if t.Since != nil { // the API decides whether records without a value are among those since then
		found[t.Since.Column.Index].narrow(t.Since.Value, nil)
	}
	for i, w := range found {
		f := &v.Fields[i]
		for _, p := range f.Pass {
			var value strictjson.Value
			var ok bool
			switch p.Kind {
			case PassEqual:
				value, ok = p.equal(w.equal)
			case PassFrom:
				value, ok = p.bound(w.from, f.Type, false)
			case PassTo:
				value, ok = p.bound(w.to, f.Type, true)
			}
			// A token in a value of the user's would be filled in.
			if ok && !strings.Contains(value.Text(), "{{") {
				all = append(all, Parameter{In: p.In, Name: p.Param, Value: value, field: i})
			}
		}
	}
	return all
}

// collect finds what must hold for every row.
func collect(where query.All, found []wanted) {
	for _, p := range where {
		switch p := p.(type) {
		case query.All:
			collect(p, found)
		case query.Any:
			if column, values, ok := alternatives(p); ok {
				found[column].equal = values
			}
		case query.Range:
			w := &found[p.Column.Index]
			w.narrow(p.From, p.To)
		case query.Compare:
			w := &found[p.Column.Index]
			switch p.Comparison {
			case query.Equal:
				w.equal = []query.Value{p.Value}
				w.narrow(p.Value, p.Value)
			case query.Greater, query.GreaterOrEqual:
				w.narrow(p.Value, nil)
			case query.Less, query.LessOrEqual:
				w.narrow(nil, p.Value)
			}
		}
	}
}

// alternatives are the values of which a column must have one.
func alternatives(any query.Any) (column int, values []query.Value, ok bool) {
	for i, p := range any {
		c, is := p.(query.Compare)
		if !is || c.Comparison != query.Equal || i > 0 && c.Column.Index != column {
			return 0, nil, false
		}
		column, values = c.Column.Index, append(values, c.Value)
	}
	return column, values, len(values) > 0
}

// narrow takes the narrower of bounds; one that is nil is none.
func (w *wanted) narrow(from, to query.Value) {
	if from != nil && (w.from == nil || less(w.from, from)) {
		w.from = from
	}
	if to != nil && (w.to == nil || less(to, w.to)) {
		w.to = to
	}
}

// less compares two bounds of a column. Those that have no order are kept as they
// came.
func less(a, b query.Value) bool {
	switch a := a.(type) {
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Before(b)
	case *big.Rat:
		b, ok := b.(*big.Rat)
		return ok && a.Cmp(b) < 0
	case float64:
		b, ok := b.(float64)
		return ok && a < b
	}
	return false
}

// equal writes values that the API knows.
func (p *Pass) equal(values []query.Value) (strictjson.Value, bool) {
	var texts []string
	for _, v := range values {
		text, ok := valueText(v)
		if ok {
			text, ok = p.as(text)
		}
		if !ok || p.Separator != "" && strings.Contains(text, p.Separator) {
			return strictjson.Value{}, false
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 || len(texts) > 1 && p.Separator == "" {
		return strictjson.Value{}, false
	}
	return strictjson.String(strings.Join(texts, p.Separator)), true
}

func valueText(v query.Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case *big.Rat:
		if v.IsInt() {
			return v.Num().String(), true
		}
		if n, exact := v.FloatPrec(); exact {
			return v.FloatString(n), true
		}
	}
	return "", false // equal times are passed on as bounds
}

// bound writes a bound; the upper one is rounded up, the lower one down.
func (p *Pass) bound(v query.Value, t columnar.Type, upper bool) (strictjson.Value, bool) {
	switch v := v.(type) {
	case time.Time:
		return strictjson.String(p.time(v, t, upper)), true
	case *big.Rat:
		whole := new(big.Int).Div(v.Num(), v.Denom()) // rounds down, as denominators are positive
		if upper && !v.IsInt() {
			whole.Add(whole, big.NewInt(1))
		}
		return strictjson.String(whole.String()), true
	}
	return strictjson.Value{}, false
}

const day = 24 * time.Hour

func (p *Pass) time(at time.Time, t columnar.Type, upper bool) string {
	if t == columnar.TypeDate { // its day is that of its own location
		at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	} else if p.Format == "date" { // of which zone the API's days are is not known
		if at = at.UTC().Add(-day); upper {
			at = at.Add(2 * day)
		}
	}
	unit := map[string]time.Duration{"unixMs": time.Millisecond, "date": day}[p.Format]
	if unit == 0 {
		unit = time.Second
	}
	rounded := at.UTC().Truncate(unit)
	if upper && rounded.Before(at) && p.Format != "date" {
		rounded = rounded.Add(unit)
	}
	switch p.Format {
	case "date":
		return rounded.Format(time.DateOnly)
	case "unix":
		return strconv.FormatInt(rounded.Unix(), 10)
	case "unixMs":
		return strconv.FormatInt(rounded.UnixMilli(), 10)
	}
	return rounded.Format(time.RFC3339)
}
