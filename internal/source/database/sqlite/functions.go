package sqlite

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
)

// register gives a connection the functions of the dialect.
func register(conn *sqlite3.SQLiteConn) error {
	m := &matcher{tests: make(map[query.Match]query.Test)}
	for name, fn := range map[string]any{
		dialect.Match: m.match,
		dialect.Micros: func(v any) any {
			if micros, ok := micros(v); ok {
				return micros
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

// layouts are how SQLite writes times, with and without a zone.
var layouts = []string{
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999 Z07:00", time.DateOnly,
}

// micros is the time that a value stands for. Without a zone it is UTC.
func micros(v any) (int64, bool) {
	s, ok := v.(string)
	if !ok {
		return 0, false
	}
	if n, ok := plainMicros(s); ok {
		return n, true
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixMicro(), true
		}
	}
	return 0, false
}

// plainMicros is micros of a time as SQLite itself writes them, 2006-01-02 15:04:05,
// which most are.
func plainMicros(s string) (int64, bool) {
	if len(s) != len(time.DateTime) || s[4] != '-' || s[7] != '-' || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	var parts [6]int
	for i, at := range [6][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}} {
		for _, c := range []byte(s[at[0]:at[1]]) {
			if c < '0' || c > '9' {
				return 0, false
			}
			parts[i] = 10*parts[i] + int(c-'0')
		}
	}
	month := time.Month(parts[1])
	t := time.Date(parts[0], month, parts[2], parts[3], parts[4], parts[5], 0, time.UTC)
	if t.Month() != month || t.Day() != parts[2] || parts[3] > 23 || parts[4] > 59 || parts[5] > 59 {
		return 0, false // no calendar has it
	}
	return t.UnixMicro(), true
}

// offset makes sums positive, so that their texts of one length sort as they do.
var offset = new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil)

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
	return fmt.Sprintf("%041s", new(big.Int).Add(&s.total, offset))
}

// readSum reads what Done wrote.
func readSum(text string) (*big.Int, bool) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || len(text) != 41 {
		return nil, false
	}
	return n.Sub(n, offset), true
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
