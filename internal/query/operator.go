package query

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// operator is what can be asked of a value, and what that means.
type operator struct {
	name feedmill.FilterOp
	// least and most are how many values it takes.
	least, most int
	// types are those of the columns that it is for.
	types []columnar.Type
	// period says that its value is a period; else its values are of the
	// column's type.
	period bool
	// nulls says whether a null passes. Inverted, every operator is its exact
	// complement, for nulls too.
	nulls nullRule
	// resolve makes a predicate of a filter whose values are as many and of
	// the kind that the row says.
	resolve func(*filter) (Predicate, error)
}

// nullRule is what an operator that is not inverted says of a null.
type nullRule int

const (
	nullFails    nullRule = iota // a null does not pass
	nullPasses                   // a null passes
	nullIfListed                 // a null passes where null is among the values
)

// many stands for any number of values, which are alternatives.
const many = math.MaxInt

var (
	numeric   = []columnar.Type{columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber}
	text      = []columnar.Type{columnar.TypeText}
	boolean   = []columnar.Type{columnar.TypeBoolean}
	temporal  = []columnar.Type{columnar.TypeDate, columnar.TypeTimestamp}
	ordered   = slices.Concat(text, numeric, temporal)
	equatable = slices.Concat(ordered, boolean)
)

// operators is the one table of them.
var operators = []operator{
	{name: feedmill.OpEq, least: 1, most: many, types: equatable, nulls: nullIfListed, resolve: (*filter).equal},
	{name: feedmill.OpContains, least: 1, most: many, types: text, resolve: (*filter).match},
	{name: feedmill.OpStartsWith, least: 1, most: many, types: text, resolve: (*filter).match},
	{name: feedmill.OpEndsWith, least: 1, most: many, types: text, resolve: (*filter).match},
	{name: feedmill.OpMatches, least: 1, most: 1, types: text, resolve: (*filter).matchPattern},
	{name: feedmill.OpGt, least: 1, most: 1, types: ordered, resolve: comparison(Greater)},
	{name: feedmill.OpGte, least: 1, most: 1, types: ordered, resolve: comparison(GreaterOrEqual)},
	{name: feedmill.OpLt, least: 1, most: 1, types: ordered, resolve: comparison(Less)},
	{name: feedmill.OpLte, least: 1, most: 1, types: ordered, resolve: comparison(LessOrEqual)},
	{name: feedmill.OpBetween, least: 2, most: 2, types: ordered, resolve: (*filter).between},
	{name: feedmill.OpIsNull, types: columnar.Types, nulls: nullPasses, resolve: (*filter).isNull},
	{name: feedmill.OpIsEmpty, types: columnar.Types, nulls: nullPasses, resolve: (*filter).isEmpty},
	{name: feedmill.OpIsTrue, types: boolean, resolve: truth(true)},
	{name: feedmill.OpIsFalse, types: boolean, resolve: truth(false)},
	{name: feedmill.OpLast, least: 1, most: 1, types: temporal, period: true, resolve: (*filter).during},
	{name: feedmill.OpNext, least: 1, most: 1, types: temporal, period: true, resolve: (*filter).during},
	{name: feedmill.OpCurrent, least: 1, most: 1, types: temporal, period: true, resolve: (*filter).during},
	{name: feedmill.OpToDate, least: 1, most: 1, types: temporal, period: true, resolve: (*filter).during},
}

// Operators lists the operators that a column of a type can be filtered with, in
// the order of their names.
func Operators(t columnar.Type) []feedmill.FilterOp {
	var names []feedmill.FilterOp
	for _, op := range operators {
		if slices.Contains(op.types, t) {
			names = append(names, op.name)
		}
	}
	slices.Sort(names)
	return names
}

// findOperator finds the operator that a column of a type has under a name.
func findOperator(t columnar.Type, name feedmill.FilterOp) (operator, error) {
	for _, op := range operators {
		if op.name == name && slices.Contains(op.types, t) {
			return op, nil
		}
	}
	return operator{}, &memberError{"op", fmt.Sprintf("the operator %q does not apply to a column of type %s; use one of %s", name, t, list(Operators(t)))}
}

// check refuses values that are too few, too many or of another kind.
func (op *operator) check(values []feedmill.FilterValue) error {
	switch n := len(values); {
	case n < op.least && op.most == many:
		return &memberError{"values", fmt.Sprintf("the operator %s requires a value", op.name)}
	case n < op.least || n > op.most:
		takes := fmt.Sprintf("%d values", op.least)
		switch op.least {
		case 0:
			takes = "no values"
		case 1:
			takes = "1 value"
		}
		return &memberError{"values", fmt.Sprintf("the operator %s requires %s; got %d", op.name, takes, n)}
	}
	for i, v := range values {
		switch {
		case v.Null && op.nulls != nullIfListed:
			return &valueError{i, "must not be null; use isNull"}
		case op.period && v.Period == nil:
			return &valueError{i, `must be a period such as {"n": 7, "unit": "day"}`}
		case !op.period && v.Period != nil:
			return &valueError{i, "must be one value"}
		}
	}
	return nil
}

// list writes words with commas between them.
func list[T ~string](words []T) string { return strings.Join(texts(words), ", ") }

// texts are words as plain texts.
func texts[T ~string](words []T) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return all
}
