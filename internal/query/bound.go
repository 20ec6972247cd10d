package query

import (
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Bound is the time that a filter came to: from and including From, up to and not
// including To. Of a column of dates they are days.
type Bound struct {
	Field string            `json:"field"`
	Op    feedmill.FilterOp `json:"op"`
	From  string            `json:"from"`
	To    string            `json:"to"`
}

// addBound notes the range of a filter whose values do not say it by themselves.
func (r *resolver) addBound(c Column, op feedmill.FilterOp, p Predicate) {
	if not, ok := p.(Not); ok {
		p = not.Predicate
	}
	var from, to time.Time
	switch p := p.(type) {
	case Range:
		from, to = p.From, p.To
	case All: // between, whose end is a day
		if op != feedmill.OpBetween || c.Type != columnar.TypeTimestamp {
			return
		}
		end := p[1].(Compare)
		if end.Comparison != Less {
			return
		}
		from, to = p[0].(Compare).Value.(time.Time), end.Value.(time.Time)
	default:
		return
	}
	layout := time.RFC3339Nano
	if c.Type == columnar.TypeDate {
		layout = time.DateOnly
	} else {
		from, to = from.In(r.zone), to.In(r.zone)
	}
	r.bounds = append(r.bounds, Bound{Field: c.Label(), Op: op, From: from.Format(layout), To: to.Format(layout)})
}
