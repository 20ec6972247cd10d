package model

import (
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// evidence is what the columns of a table prove together of how it is written,
// for those of them that prove nothing by themselves.
type evidence struct {
	// decimals is the way to read numbers, 0 where it is not known. Set says that
	// somebody has set it, and proven that columns of the table prove it.
	decimals    decimals
	decimalsSet bool
	proven      decimals
	// semicolon says that semicolons separate the fields, as they do where the
	// comma is the decimal one.
	semicolon bool
	// assumes says that the rules allow commas to be assumed to separate thousands, and
	// commaSeparated that commas separate the fields.
	assumes, commaSeparated bool
	// year is when the feed was created, 0 where the rules do not ask.
	year int
	// orders are those that dates of a separator prove, and orderSet is the one
	// that somebody has set; before is that of the data that the feed has.
	orders           map[byte]order
	orderSet, before order
	// alone says that each column is read by what it proves itself, as the original rules
	// have it.
	alone bool
}

// weigh gathers what the columns prove.
func (f *Inference) weigh(columns []*column, found feedmill.Findings) *evidence {
	e := &evidence{semicolon: found.Delimiter.Value == ";", orders: make(map[byte]order)}
	if f.options.Rules >= 2 {
		e.year = f.options.Year
	}
	e.assumes, e.commaSeparated = f.options.Rules >= 2, found.Delimiter.Value == ","
	e.alone = f.options.Rules == feedmill.RulesOriginal
	for _, c := range columns {
		switch n := c.values() - c.tallies[shapeToken].count; {
		case n == 0 || c.givenUp:
		case c.count(numbers...) == n && c.tallies[shapeExponent].count == 0 && (c.read == point || c.read == comma):
			e.proven |= c.read
		case c.count(shapeYearLast)+c.tallies[shapeZeroDate].count == n && !c.separators:
			if o := c.ordered(); o.single() {
				e.orders[c.separator] |= o
			}
		}
	}
	set := f.options.Set
	switch {
	case set.Decimal != "":
		e.decimals, e.decimalsSet = decimalsNamed(set.Decimal), true
	case e.alone:
		e.semicolon = false
	case e.proven == point || e.proven == comma:
		e.decimals = e.proven
	case e.proven == 0:
		e.decimals = decimalsNamed(f.options.Before.Decimal.Value)
		if f.options.Before.Decimal.By == feedmill.ByAssumed {
			e.decimals = 0
		}
	}
	e.orderSet = orderNamed(set.Dates)
	if f.options.Before.Dates.By != feedmill.ByAssumed {
		e.before = orderNamed(f.options.Before.Dates.Value)
	}
	return e
}

func decimalsNamed(name string) decimals {
	switch name {
	case ".":
		return point
	case ",":
		return comma
	}
	return 0
}

// order is the one that columns of the separator prove, or the one of the data
// before; 0 where there is none.
func (e *evidence) order(separator byte) order {
	if e.alone {
		return 0
	}
	if proven := e.orders[separator]; proven != 0 {
		if proven.single() {
			return proven
		}
		return 0
	}
	return e.before
}

// findings completes what is known of how the data is written.
func (f *Inference) findings(found feedmill.Findings, e *evidence, columns []*column, s *Schema) feedmill.Findings {
	set := f.options.Set
	if set.Timezone != "" {
		found.Timezone = feedmill.Finding{Value: set.Timezone, By: feedmill.BySet}
	}
	if set.Footer != "" {
		found.Footer = feedmill.Finding{Value: set.Footer, By: feedmill.BySet}
	}
	if set.Table != "" {
		found.Table = feedmill.Finding{Value: set.Table, By: feedmill.BySet}
	}
	if set.Context != "" {
		found.Context = feedmill.Finding{Value: set.Context, By: feedmill.BySet}
	}
	if f.options.Text {
		return found
	}
	usual := strings.Join(usualTokens, ",")
	if e.alone {
		usual = "none"
	}
	found.Nulls = feedmill.SetOr(set.Nulls, feedmill.Found(usual, false))
	if set.Nulls == "" {
		var all tokens
		for i, c := range columns {
			if s.plans[i].tokens {
				all.merge(c.tokens)
			}
		}
		if len(all) > 0 {
			found.Nulls = feedmill.Found(strings.Join(all.sorted(), ","), true)
		}
	}
	decimal := feedmill.Found(".", false)
	switch e.proven {
	case point:
		decimal = feedmill.Found(".", true)
	case comma:
		decimal = feedmill.Found(",", true)
	case both:
		decimal = feedmill.Found("mixed", true)
	default:
		if e.decimals == comma {
			decimal.Value = ","
		}
	}
	found.Decimal = feedmill.SetOr(set.Decimal, decimal)
	found.Dates = feedmill.SetOr(set.Dates, datesFound(e, s))
	return found
}

// datesFound is the order of the dates of a table.
func datesFound(e *evidence, s *Schema) feedmill.Finding {
	var proven, taken order
	dates := false
	for _, o := range e.orders {
		proven |= o
	}
	for i, c := range s.Columns {
		if c.Type == columnar.TypeDate || c.Type == columnar.TypeTimestamp {
			dates = true
			taken |= s.plans[i].order
		}
	}
	switch {
	case proven.single():
		return feedmill.Found(proven.name(), true)
	case proven != 0:
		return feedmill.Found("mixed", true)
	case taken.single():
		return feedmill.Found(taken.name(), false)
	}
	return feedmill.Found(yearFirst.name(), dates)
}
