package query

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Test reports whether a predicate is true for row i of some rows.
type Test func(rows []columnar.Vector, i int) bool

// NewTest makes a test of a predicate. At says which vector a column is.
func NewTest(p Predicate, at func(Column) int) Test {
	switch p := p.(type) {
	case All:
		parts := newTests(p, at)
		return func(rows []columnar.Vector, i int) bool {
			for _, part := range parts {
				if !part(rows, i) {
					return false
				}
			}
			return true
		}
	case Any:
		parts := newTests(p, at)
		return func(rows []columnar.Vector, i int) bool {
			for _, part := range parts {
				if part(rows, i) {
					return true
				}
			}
			return false
		}
	case Not:
		part := NewTest(p.Predicate, at)
		return func(rows []columnar.Vector, i int) bool { return !part(rows, i) }
	case IsNull:
		n := at(p.Column)
		return func(rows []columnar.Vector, i int) bool { return rows[n].Null(i) }
	case IsEmpty:
		n := at(p.Column)
		return func(rows []columnar.Vector, i int) bool { return rows[n].Null(i) || isEmpty(&rows[n], i) }
	case Compare:
		return newComparison(p, at(p.Column))
	case Range:
		return NewTest(All{Compare{p.Column, GreaterOrEqual, p.From}, Compare{p.Column, Less, p.To}}, at)
	case Match:
		n, matches := at(p.Column), newMatch(p)
		return func(rows []columnar.Vector, i int) bool { return !rows[n].Null(i) && matches(rows[n].Text(i)) }
	}
	panic(fmt.Sprintf("query: no test for %T", p))
}

func newTests(parts []Predicate, at func(Column) int) []Test {
	tests := make([]Test, len(parts))
	for i, p := range parts {
		tests[i] = NewTest(p, at)
	}
	return tests
}

func isEmpty(v *columnar.Vector, i int) bool {
	switch v.Type {
	case columnar.TypeText:
		return len(v.Text(i)) == 0
	case columnar.TypeJSON:
		switch text := bytes.TrimSpace(v.Text(i)); {
		case string(text) == `""`:
			return true
		case len(text) > 1 && (text[0] == '[' || text[0] == '{'):
			return len(bytes.TrimSpace(text[1:len(text)-1])) == 0
		}
	}
	return false
}

// newComparison compares values with one of the column's type.
func newComparison(c Compare, n int) Test {
	compare := newOrder(c.Column, c.Value)
	holds := map[Comparison]func(int) bool{
		Equal:          func(c int) bool { return c == 0 },
		Greater:        func(c int) bool { return c > 0 },
		GreaterOrEqual: func(c int) bool { return c >= 0 },
		Less:           func(c int) bool { return c < 0 },
		LessOrEqual:    func(c int) bool { return c <= 0 },
	}[c.Comparison]
	return func(rows []columnar.Vector, i int) bool { return !rows[n].Null(i) && holds(compare(&rows[n], i)) }
}

// newOrder compares row i of a vector with a value.
func newOrder(c Column, v Value) func(*columnar.Vector, int) int {
	switch v := v.(type) {
	case string:
		text := []byte(v)
		return func(rows *columnar.Vector, i int) int { return bytes.Compare(rows.Text(i), text) }
	case bool:
		want := int64(0)
		if v {
			want = 1
		}
		return func(rows *columnar.Vector, i int) int { return cmp.Compare(rows.Ints[i], want) }
	case time.Time:
		want := v.UnixMicro()
		if c.Type == columnar.TypeDate {
			year, month, day := v.Date()
			want = time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 3600)
		}
		return func(rows *columnar.Vector, i int) int { return cmp.Compare(rows.Ints[i], want) }
	case float64:
		return func(rows *columnar.Vector, i int) int { return CompareNumbers(rows.Floats[i], v) }
	case *big.Rat:
		return func(rows *columnar.Vector, i int) int { return exactNumber(rows, i).Cmp(v) }
	}
	panic(fmt.Sprintf("query: no order for %T", v))
}

// CompareNumbers is the order of numbers: NaN is equal to itself and greater than
// all others.
func CompareNumbers(a, b float64) int {
	switch aNaN, bNaN := math.IsNaN(a), math.IsNaN(b); {
	case aNaN && bNaN:
		return 0
	case aNaN:
		return 1
	case bNaN:
		return -1
	}
	return cmp.Compare(a, b)
}

// exactNumber is an integer, a decimal, the text of one, or what became of a decimal with
// too many digits.
func exactNumber(v *columnar.Vector, i int) *big.Rat {
	switch {
	case v.Offsets != nil:
		n, _ := new(big.Rat).SetString(string(v.Text(i)))
		return n
	case v.Floats != nil:
		n := new(big.Rat)
		n.SetFloat64(v.Floats[i])
		return n
	case v.Wide != nil:
		n := new(big.Int).Lsh(big.NewInt(v.Wide[i].Hi), 64)
		n.Add(n, new(big.Int).SetUint64(v.Wide[i].Lo))
		return new(big.Rat).SetFrac(n, tenTo(v.Scale))
	}
	return new(big.Rat).SetFrac(big.NewInt(v.Ints[i]), tenTo(v.Scale))
}

// newMatch tests texts.
func newMatch(m Match) func([]byte) bool {
	if m.Op == feedmill.OpMatches {
		return regexp.MustCompile(m.Text).Match
	}
	want := m.Text
	if !m.CaseSensitive {
		want = Lower(want)
	}
	find := map[feedmill.FilterOp]func(string, string) bool{
		feedmill.OpContains:   strings.Contains,
		feedmill.OpStartsWith: strings.HasPrefix,
		feedmill.OpEndsWith:   strings.HasSuffix,
	}[m.Op]
	return func(text []byte) bool {
		if m.CaseSensitive {
			return find(string(text), want)
		}
		return find(Lower(string(text)), want)
	}
}

// Lower is what texts are compared as where case does not matter: every character
// is its one lower-case character, wherever it stands.
func Lower(text string) string { return strings.Map(unicode.ToLower, text) }
