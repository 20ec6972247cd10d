package sqlite

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
)

// Register gives a connection the functions of the dialect.
func Register(conn *sqlite3.SQLiteConn) error {
	m := &matcher{tests: make(map[query.Match]query.Test)}
	var calendars calendars
	for name, fn := range map[string]any{
		dialect.Match:    m.match,
		dialect.Calendar: calendars.number,
		dialect.Period:   calendars.start,
		dialect.Micros: func(v any) any {
			if text, ok := v.(string); ok {
				if micros, ok := dialect.ParseMicros(text); ok {
					return micros
				}
			}
			return nil
		},
		dialect.Real: func(text string) (float64, error) { return strconv.ParseFloat(text, 64) },
	} {
		if err := conn.RegisterFunc(name, fn, true); err != nil {
			return fmt.Errorf("register %s: %w", name, err)
		}
	}
	if err := conn.RegisterAggregator(dialect.Sum, func() *sum { return new(sum) }, true); err != nil {
		return fmt.Errorf("register %s: %w", dialect.Sum, err)
	}
	if err := conn.RegisterAggregator(dialect.Average, func() *average { return new(average) }, true); err != nil {
		return fmt.Errorf("register %s: %w", dialect.Average, err)
	}
	return conn.RegisterCollation(dialect.Collation, strings.Compare)
}

// matcher tests texts, and keeps the tests that it has made.
type matcher struct{ tests map[query.Match]query.Test }

// maxTests is how many tests are kept for a connection.
const maxTests = 100

// match tests a text as package query means it. A null does not match.
func (m *matcher) match(op string, value any, want string, sensitive int64) any {
	text, ok := value.(string)
	if !ok {
		return nil // the driver has no bytes for a null
	}
	bytes := []byte(text)
	key := query.Match{Op: feedmill.FilterOp(op), Text: want, CaseSensitive: sensitive != 0}
	test, ok := m.tests[key]
	if !ok {
		if len(m.tests) >= maxTests {
			clear(m.tests)
		}
		test = query.NewTest(key, func(query.Column) int { return 0 })
		m.tests[key] = test
	}
	v := columnar.Vector{Type: columnar.TypeText, Len: 1, Offsets: []uint32{0, uint32(len(bytes))}, Bytes: bytes}
	return test([]columnar.Vector{v}, 0)
}

// sum adds up integers.
type sum struct {
	total big.Int
	any   bool
}

// Step adds a value that is not null.
func (s *sum) Step(v any) {
	if n, ok := v.(int64); ok {
		s.any = true
		s.total.Add(&s.total, big.NewInt(n))
	}
}

// Done is the sum, or null where there was no value.
func (s *sum) Done() any {
	if !s.any {
		return nil
	}
	return dialect.FormatSum(&s.total)
}

// average is a sum divided by how many there were, and by a power of ten.
type average struct {
	sum
	count, scale int64
}

// Step adds a value that is not null.
func (a *average) Step(v any, scale int64) {
	if _, ok := v.(int64); ok {
		a.sum.Step(v)
		a.count++
		a.scale = scale
	}
}

// Done is the average, or null where there was no value.
func (a *average) Done() any {
	if a.count == 0 {
		return nil
	}
	by := new(big.Int).Exp(big.NewInt(10), big.NewInt(a.scale), nil)
	n, _ := new(big.Rat).SetFrac(&a.total, by.Mul(by, big.NewInt(a.count))).Float64()
	return n
}
