package databasetest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Columns are those of the table that every connector is tested with. One has a
// name that wants to be quoted.
var Columns = []feedmill.Column{
	{Name: "id", Type: columnar.TypeInteger},
	{Name: "name", Type: columnar.TypeText, Nullable: true},
	{Name: "Odd \"name\" `of` 'it' [x]; -- y", Type: columnar.TypeText, Nullable: true},
	{Name: "count", Type: columnar.TypeInteger, Nullable: true},
	{Name: "amount", Type: columnar.TypeDecimal, Precision: 12, Scale: 3, Nullable: true},
	{Name: "ratio", Type: columnar.TypeNumber, Nullable: true},
	{Name: "paid", Type: columnar.TypeBoolean, Nullable: true},
	{Name: "day", Type: columnar.TypeDate, Nullable: true},
	{Name: "at", Type: columnar.TypeTimestamp, Nullable: true},
	{Name: "extra", Type: columnar.TypeJSON, Nullable: true},
}

// Now is the time of the queries.
var Now = time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)

// texts have what case, collations, padding and patterns stumble over.
var texts = []any{
	nil, "", " ", "a", "A", "a ", "ä", "Ä", "aͤ", "b", "B", "apple", "Apple", "APPLE pie", "straße", "STRASSE", "STRAẞE", "Σίσυφος", "ΣΊΣΥΦΟΣ",
	"İstanbul", "istanbul", "ISTANBUL", "ıstanbul", "K", "k", "K", "100%", "100x", "under_score", "underXscore", `back\slash`, "it's", `say "x"`,
	"line\nbreak", "line\nbreak\n", "tab\t", "日本語", "🙂 emoji", "\U0001F642", "z", "Z", "{}", "[]", "null", "true", "0", "007", "1e3",
	"'; DROP TABLE things; --", "?", "$1", ":x", "/* */",
}

var wholes = []any{nil, "0", "1", "-1", "2", "42", "42", "-7", "9223372036854775807", "-9223372036854775808", "1000000"}

var decimals = []any{nil, "0", "0.001", "-0.001", "1", "1.5", "1.500", "-12.34", "999999999.999", "-999999999.999", "100.1", "0.1"}

var numbers = []any{nil, 0.0, 0.1, -0.70710678, 1.5, 1e300, -2.5, 1e-300, 3.141592653589793, 42.0, 1.0 / 3}

var days = []any{nil, "0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "2026-03-01", "2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31", "2026-04-05", "9999-12-31"}

var times = []any{
	nil, "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T00:59:59.999999Z",
	"2026-03-29T22:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30T11:59:59.999999Z", "2026-03-30T12:00:00Z", "2026-03-31T00:00:00.000001Z",
	"2026-02-28T12:00:00Z", "9999-12-31T23:59:59.999999Z",
}

var documents = []any{nil, `""`, `[]`, `{}`, `{"a": 1}`, `[1, 2]`, `"x"`, `1`, `true`}

// Rows are those of the table, in the order of id: some that are chosen, and half as many
// that chance has made. A value is nil, a string for text and JSON, a *big.Rat for an
// integer or decimal, a float64, a bool, or a time.Time, which of a date is its
// midnight in UTC.
var Rows = sync.OnceValue(func() [][]any {
	rows := chosenRows()
	r := rand.New(rand.NewPCG(seed, 1))
	for range len(rows) / 2 {
		rows = append(rows, randomRow(r, len(rows)+1))
	}
	return rows
})

// seed is what chance begins with. FEEDMILL_SEED repeats what a test has logged.
var seed = func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("FEEDMILL_SEED"), 10, 64); err == nil {
		return n
	}
	return rand.Uint64()
}()

// letters have what folding, collations, padding, patterns and quoting stumble over.
var letters = []rune("aAbäÄßẞſsSKk\u212aiIİıΣσςéÉe\u0301ǅǆǄ%_\\'\"`;- \t\n09🙂日\u00a0")

func randomText(r *rand.Rand) string {
	text := make([]rune, r.IntN(7))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

// randomRow makes up a row. Numbers are positive and exact in binary, so that the order
// in which they are added up is of no importance.
func randomRow(r *rand.Rand, id int) []any {
	some := func(make func() any) any {
		if r.IntN(5) == 0 {
			return nil
		}
		return make()
	}
	at := func() time.Time {
		first, end := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		if r.IntN(2) == 0 { // near what relative dates are about
			first, end = Now.AddDate(0, -4, 0).Unix(), Now.AddDate(0, 4, 0).Unix()
		}
		return time.Unix(first+r.Int64N(end-first), r.Int64N(1_000_000)*1000).UTC()
	}
	text := func() any { return randomText(r) }
	return []any{
		rational(strconv.Itoa(id)), some(text), some(text),
		some(func() any { return new(big.Rat).SetInt64(int64(r.Uint64()) >> r.IntN(64)) }),
		some(func() any { return big.NewRat(r.Int64N(2e12-1)-(1e12-1), 1000) }),
		some(func() any { return float64(r.IntN(1<<23)) / 8 }),
		some(func() any { return r.IntN(2) == 0 }),
		some(func() any { return at().Truncate(24 * time.Hour) }),
		some(func() any { return at() }),
		documents[r.IntN(len(documents))],
	}
}

func chosenRows() [][]any {
	rows := make([][]any, 120)
	pick := func(list []any, i, step int) any { return list[(i*step)%len(list)] }
	for i := range rows {
		var paid any
		if i%3 > 0 {
			paid = i%3 == 1
		}
		rows[i] = []any{
			rational(fmt.Sprint(i + 1)), pick(texts, i, 1), pick(texts, i, 7), rational(pick(wholes, i, 3)), rational(pick(decimals, i, 5)),
			pick(numbers, i, 2), paid, instant(pick(days, i, 7)), instant(pick(times, i, 5)), pick(documents, i, 1),
		}
	}
	return rows
}

func rational(text any) any {
	if text == nil {
		return nil
	}
	n, ok := new(big.Rat).SetString(text.(string))
	if !ok {
		panic(text)
	}
	return n
}

func instant(text any) any {
	if text == nil {
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text.(string)); err == nil {
			return t
		}
	}
	panic(text)
}
