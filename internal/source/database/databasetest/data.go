package databasetest

import (
	"fmt"
	"math/big"
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

var numbers = []any{nil, 0.0, 0.1, -0.1, 1.5, 1e300, -2.5, 1e-300, 3.141592653589793, 42.0, 1.0 / 3}

var days = []any{nil, "0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "2026-03-01", "2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31", "2026-04-05", "9999-12-31"}

var times = []any{
	nil, "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T00:59:59.999999Z",
	"2026-03-29T22:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30T11:59:59.999999Z", "2026-03-30T12:00:00Z", "2026-03-31T00:00:00.000001Z",
	"2026-02-28T12:00:00Z", "9999-12-31T23:59:59.999999Z",
}

var documents = []any{nil, `""`, `[]`, `{}`, `{"a": 1}`, `[1, 2]`, `"x"`, `1`, `true`}

// Rows are those of the table, in the order of id. A value is nil, a string for
// text and JSON, a *big.Rat for an integer or decimal, a float64, a bool, or a
// time.Time, which of a date is its midnight in UTC.
func Rows() [][]any {
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
