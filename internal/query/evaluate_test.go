package query

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// outcome is what a predicate says of a value.
type outcome int

const (
	no outcome = iota
	unknown
	yes
)

func known(b bool) outcome {
	if b {
		return yes
	}
	return no
}

// evaluate says what a predicate over one column says of a value, nil being null.
func evaluate(p Predicate, v any) outcome {
	switch p := p.(type) {
	case All:
		out := yes
		for _, part := range p {
			out = min(out, evaluate(part, v))
		}
		return out
	case Any:
		out := no
		for _, part := range p {
			out = max(out, evaluate(part, v))
		}
		return out
	case Not:
		return known(evaluate(p.Predicate, v) != yes)
	case IsNull:
		return known(v == nil)
	case IsEmpty:
		return known(v == nil || slices.Contains([]any{"", "[]", "{}", `""`}, v))
	}
	if v == nil {
		return unknown
	}
	switch p := p.(type) {
	case Compare:
		c := compareValues(p.Column.Type, v, p.Value)
		return known(map[Comparison]bool{Equal: c == 0, Greater: c > 0, GreaterOrEqual: c >= 0, Less: c < 0, LessOrEqual: c <= 0}[p.Comparison])
	case Range:
		return known(compareValues(p.Column.Type, v, p.From) >= 0 && compareValues(p.Column.Type, v, p.To) < 0)
	case Match:
		return known(matchText(p, v.(string)))
	}
	panic(p)
}

func matchText(m Match, text string) bool {
	switch m.Op {
	case feedmill.OpContains:
		return strings.Contains(text, m.Text)
	case feedmill.OpStartsWith:
		return strings.HasPrefix(text, m.Text)
	case feedmill.OpEndsWith:
		return strings.HasSuffix(text, m.Text)
	}
	return regexp.MustCompile(m.Text).MatchString(text)
}

func compareValues(t columnar.Type, a, b any) int {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case float64:
		return cmp.Compare(a, b.(float64))
	case bool:
		if a == b {
			return 0
		}
		return 1
	case time.Time:
		if t == columnar.TypeDate {
			return strings.Compare(a.Format(time.DateOnly), b.(time.Time).Format(time.DateOnly))
		}
		return a.Compare(b.(time.Time))
	}
	return strings.Compare(a.(string), b.(string))
}
