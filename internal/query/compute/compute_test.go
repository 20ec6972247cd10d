package compute

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// one is a column with one value.
func one(name string, v columnar.Vector) (feedmill.Column, columnar.Vector) {
	v.Len = 1
	return feedmill.Column{Name: name, Type: v.Type, Precision: v.Precision, Scale: v.Scale, Nullable: true}, v
}

func textOf(s string) columnar.Vector {
	return columnar.Vector{Type: columnar.TypeText, Offsets: []uint32{0, uint32(len(s))}, Bytes: []byte(s)}
}

func intOf(t columnar.Type, n int64) columnar.Vector {
	return columnar.Vector{Type: t, Ints: []int64{n}}
}

func nullOf(v columnar.Vector) columnar.Vector {
	v.Valid = []uint64{0}
	return v
}

// table has a row of every type.
func table() (fields []Field, row []columnar.Vector) {
	add := func(from, name string, v columnar.Vector) {
		c, v := one(name, v)
		fields, row = append(fields, Field{From: from, Column: &c}), append(row, v)
	}
	decimal := func(digits int64, precision, scale int) columnar.Vector {
		v := columnar.Vector{Type: columnar.TypeDecimal, Precision: precision, Scale: scale, Ints: []int64{digits}}
		if precision > columnar.NarrowDigits {
			v.Ints, v.Wide = nil, []columnar.Int128{columnar.Int128Of(digits)}
		}
		return v
	}
	add("", "n", intOf(columnar.TypeInteger, 7))
	add("", "big", intOf(columnar.TypeInteger, math.MaxInt64))
	add("", "low", intOf(columnar.TypeInteger, math.MinInt64))
	add("", "price", decimal(1250, 10, 2))
	add("", "wide", decimal(math.MaxInt64, 38, 0))
	add("", "f", columnar.Vector{Type: columnar.TypeNumber, Floats: []float64{2.675}})
	add("", "t", textOf("  aé😀b  "))
	add("", "empty", textOf(""))
	add("", "nothing", nullOf(textOf("")))
	add("", "none", nullOf(intOf(columnar.TypeInteger, 0)))
	add("", "yes", intOf(columnar.TypeBoolean, 1))
	add("", "maybe", nullOf(intOf(columnar.TypeBoolean, 0)))
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC).Unix() / 86400
	add("", "day1", intOf(columnar.TypeDate, day))
	at := func(text string) columnar.Vector {
		t, _ := time.Parse(time.RFC3339Nano, text)
		return intOf(columnar.TypeTimestamp, t.UnixMicro())
	}
	add("", "at", at("2026-03-28T23:30:00.5Z"))
	add("", "later", at("2026-03-29T22:15:00Z"))
	add("", "Order Total", decimal(5, 3, 1))
	add("c", "a.b", textOf("joined"))
	add("l", "vat", decimal(19, 2, 2))
	add("", "json", columnar.Vector{Type: columnar.TypeJSON, Offsets: []uint32{0, 3}, Bytes: []byte("[1]")})
	c, v := one("open", textOf("12345678901234567890.5"))
	c.Type = columnar.TypeDecimal
	return append(fields, Field{Column: &c}), append(row, v)
}

// result takes one value, as text.
type result struct{ text string }

func (r *result) Null()            { r.text = "null" }
func (r *result) Int(n int64)      { r.text = strconv.FormatInt(n, 10) }
func (r *result) Exact(n *big.Int) { r.text = n.String() }
func (r *result) Float(f float64)  { r.text = strconv.FormatFloat(f, 'g', -1, 64) }
func (r *result) Text(text []byte) { r.text = string(text) }
func (r *result) shown(t Type) string {
	if r.text != "" && r.text != "null" && t.exact() && !t.Open {
		n, _ := new(big.Int).SetString(r.text, 10)
		return decimalText(value{n: n, scale: t.Scale})
	}
	return r.text
}

// evaluate computes an expression for the row of the table.
func evaluate(t *testing.T, source string) (text string, n *Node, e *Evaluator, err error) {
	t.Helper()
	fields, row := table()
	s, fault := Parse(source)
	if fault != nil {
		t.Fatalf("%s: %s", source, fault)
	}
	n, faults := Check(s, fields)
	if len(faults) > 0 {
		t.Fatalf("%s: %s", source, faults[0])
	}
	zone, _ := time.LoadLocation("Europe/Paris")
	e = NewEvaluator(n, func(field int) int { return field }, zone)
	var r result
	err = e.Add(row, 0, &r)
	return r.shown(n.Type), n, e, err
}

func TestExpressions(t *testing.T) {
	for source, want := range map[string]string{
		// Decimals are exact, and products and sums have all digits.
		"price * 1.10": "13.75", "price - 0.005": "12.495", "-price": "-12.5", "n + 1": "8",
		"big + 1": "9223372036854775808", "-low": "9223372036854775808", "big * big": "85070591730234615847396907784232501249",
		"1 + 2 * 3": "7", "(1 + 2) * 3": "9", "7 - 2 - 1": "4", "0.1 + 0.2": "0.3", `"Order Total" + .5`: "1", "l.vat * 100": "19",
		"open * 2": "24691357802469135781", "open + 0.5": "12345678901234567891",
		// Quotients have 12 places, and halves are rounded away from zero.
		"1 / 3": "0.333333333333", "2 / 3": "0.666666666667", "-2 / 3": "-0.666666666667", "n / 2": "3.5",
		"1 / 8000000000000": "0", "5 / 10000000000000": "0.000000000001", "-5 / 10000000000000": "-0.000000000001", "1 / 0.004": "250",
		"n / 0": "null", "n % 0": "null", "f / 0": "null", "if(n = 7, 1, n / 0)": "1", "coalesce(n, n / 0)": "7",
		// A remainder has the sign of the dividend.
		"7 % 3": "1", "-7 % 3": "-1", "7 % -3": "1", "5.5 % 2": "1.5", "-f % 2": "-0.6749999999999998",
		// Halves are rounded away from zero, by the digits of a number.
		"round(2.5)": "3", "round(-2.5)": "-3", "round(3.5)": "4", "round(0.125, 2)": "0.13", "round(-0.125, 2)": "-0.13", "round(f, 2)": "2.68", "round(n)": "7", "round(open)": "12345678901234567891",
		"floor(-2.5)": "-3", "ceil(-2.5)": "-2", "floor(2.5)": "2", "ceil(2.1)": "3", "floor(f)": "2", "ceil(f)": "3", "abs(-2.5)": "2.5", "abs(low)": "9223372036854775808",
		// Texts compare by code points, with their spaces and in their case.
		"if('a' = 'a ', 1, 0)": "0", "if('a' = 'A', 1, 0)": "0", "if('Z' < 'a', 1, 0)": "1", "if('' = nothing, 1, 0)": "0", "if(empty = '', 1, 0)": "1",
		"if('1abc' = toText(1), 1, 0)": "0", "'it''s'": "it's",
		// Conditions are true or false; null is false.
		"none > 1": "0", "not none > 1": "1", "maybe and yes": "0", "not maybe": "1", "maybe or yes": "1", "none != 1": "0", "none = none": "0",
		"yes and not (n > 7) or false": "1", "yes = true": "1", "n <> 8": "1", "maybe": "null", "if(maybe, 1, 2)": "2",
		// Nulls.
		"none + 1": "null", "concat(nothing, 'x', empty)": "x", "concat(nothing)": "", "coalesce(nothing, empty, 'x')": "", "if(n = 1, n, null)": "null", "coalesce(null, none, 3)": "3",
		"upper(nothing)": "null", "length(nothing)": "null", "substring(nothing, 1)": "null", "substring(t, none)": "null",
		// Characters are code points; case is that of Unicode in every language.
		"length(t)": "8", "trim(t)": "aé😀b", "substring(trim(t), 3, 1)": "😀", "substring('abc', 2)": "bc", "substring('abc', 0)": "abc", "substring('abc', -5, 2)": "ab", "substring('abc', 9)": "", "substring('abc', 1, -1)": "",
		"lower('İIÄẞ')": lower("İIÄẞ"), "upper('iıßé')": "IIßÉ", "upper('ǆ')": "Ǆ", "lower('I')": "i", "trim('\t x ')": "\t x", `c."a.b"`: "joined",
		// Dates are those of the time zone, in which this day has 23 hours.
		"year(day1)": "2024", "month(day1)": "2", "day(day1)": "29", "day(at)": "29", "day(later)": "30", "daysBetween(at, later)": "1", "daysBetween(day1, toDate('2024-03-01'))": "1", "daysBetween(toDate('2026-03-31'), toDate('2026-02-28'))": "-31",
		"toText(toDate(at))": "2026-03-29", "toText(day1)": "2024-02-29", "toText(at)": "2026-03-28T23:30:00.5Z", "toDate(trim('2026-02-30'))": "null", "toDate(concat(' 2026-02-01'))": "null", "toDate(trim('0000-01-01'))": "null", "toText(toDate(trim(' 2024-02-29')))": "2024-02-29",
		// Conversions.
		"toText(price)": "12.5", "toText(100)": "100", "toText(1.500)": "1.5", "toText(f)": "2.675", "toText(yes)": "true", "toText(json)": "[1]", "toText(-0.0)": "0",
		"toDecimal('12.50')": "12.5", "toDecimal('-0.1')": "-0.1", "toDecimal('+1')": "1", "toDecimal('1e3')": "null", "toDecimal('1,5')": "null", "toDecimal(' 1')": "null", "toDecimal('')": "null", "toDecimal('1.')": "null",
		"toDecimal(f)": "2.675", "toDecimal(n)": "7", "toDecimal('0.0000000000001')": "null", "toDecimal('0.1000000000000')": "0.1",
		// Numbers.
		"f + 1": "3.675", "f * 2": "5.35", "f + price": "15.175", "if(f > 2.6, 1, 0)": "1", "n + f": "9.675", "if(true, n, f)": "7",
	} {
		text, _, _, err := evaluate(t, source)
		if err != nil || text != want {
			t.Errorf("%s is %s %v, want %s", source, text, err, want)
		}
	}
}

func TestTypes(t *testing.T) {
	for source, want := range map[string]Type{
		"n":                 integer(19),
		"n + 1":             {Kind: columnar.TypeDecimal, Digits: 20},
		"year(at) + 1":      integer(6),
		"n % 10":            integer(2),
		"price * n":         {Kind: columnar.TypeDecimal, Digits: 29, Scale: 2},
		"price * price":     {Kind: columnar.TypeDecimal, Digits: 20, Scale: 4},
		"n / 3":             {Kind: columnar.TypeDecimal, Digits: 31, Scale: 12},
		"wide + 1":          {Kind: columnar.TypeDecimal, Digits: 38},
		"round(n / 3, 2)":   {Kind: columnar.TypeDecimal, Digits: 22, Scale: 2},
		"round(price)":      integer(9),
		"open + 1":          {Kind: columnar.TypeDecimal, Open: true},
		"if(yes, n, price)": {Kind: columnar.TypeDecimal, Digits: 21, Scale: 2},
		"if(yes, n, f)":     typeNumber,
		"n > 1":             typeBoolean,
		"toDate(at)":        typeDate,
		"coalesce(null, t)": typeText,
	} {
		if _, n, _, _ := evaluate(t, source); n.Type != want {
			t.Errorf("%s has the type %+v, want %+v", source, n.Type, want)
		}
	}
}

func TestOverflow(t *testing.T) {
	for _, source := range []string{"wide * wide * 2", "wide * big * 10", "99999999999999999999999999999999999999 + 1", "f * 1" + strings.Repeat("0", 30) + " * 1" + strings.Repeat("0", 37) + " * f" + strings.Repeat("* 1"+strings.Repeat("0", 37), 7), "open * open"} {
		if text, _, _, err := evaluate(t, source); !errors.Is(err, ErrOverflow) {
			t.Errorf("%s is %s, %v", source, text, err)
		}
	}
	// Texts stay bounded where each field repeats the one before it.
	fields, _ := table()
	text := strings.Repeat("x", feedmill.MaxComputedText/2+1)
	c, v := one("t", textOf(text))
	s, _ := Parse("concat(t, t)")
	n, _ := Check(s, append(fields[:0:0], Field{Column: &c}))
	row := []columnar.Vector{v}
	if err := NewEvaluator(n, func(int) int { return 0 }, time.UTC).Add(row, 0, &result{}); !errors.Is(err, ErrOverflow) {
		t.Errorf("a text of more than the maximum: %v", err)
	}
}

func TestCounts(t *testing.T) {
	for source, want := range map[string][2]int64{
		"n / 0 + n / 0": {1, 0}, "toDecimal('x')": {0, 1}, "concat(toText(n / 0), toText(toDate(trim('x'))))": {1, 1}, "if(yes, n, n / 0)": {0, 0},
		"none / 0": {0, 0}, "toDecimal(nothing)": {0, 0},
	} {
		if _, _, e, _ := evaluate(t, source); [2]int64{e.Divided, e.Failed} != want {
			t.Errorf("%s counts %d divisions and %d conversions, want %v", source, e.Divided, e.Failed, want)
		}
	}
}

func TestFaults(t *testing.T) {
	deep := strings.Repeat("(", feedmill.MaxComputedDepth+1) + "n" + strings.Repeat(")", feedmill.MaxComputedDepth+1)
	for source, want := range map[string]string{
		"":                             "The expression is empty.",
		"price * (1 + l.vat) - l.vatt": "Unknown field l.vatt at 23. Did you mean l.vat?",
		"vat":                          "Unknown field vat at 1. Did you mean l.vat",
		`concat(t, "tax")`:             "Unknown field tax at 11. Did you mean",
		"'é' = lenght(t)":              "Unknown function lenght at 7. Did you mean length?",
		"price +":                      "The expression ends too early at 8.",
		"price price":                  "Unexpected price at 7.",
		"price AND yes":                "Unexpected AND at 7. Write and in lower case.",
		"1 < 2 < 3":                    "Unexpected < at 7. Combine comparisons with and.",
		"n = 1 or (yes":                "Unexpected the end at 14. A ) is missing.",
		"'abc":                         "The text at 1 has no closing quote.",
		`n + "a`:                       "The name at 5 has no closing quote.",
		"n ; DROP":                     `Unexpected character ";" at 3.`,
		"1e5":                          "The number at 1 is not valid. Write it as 12 or 12.5.",
		strings.Repeat("9", 39):        "The number at 1 has more than 38 digits, the maximum.",
		"t = 1":                        "The comparison at 3 has operands of the types text and integer. Use toDecimal.",
		"day1 = at":                    "A date cannot be compared with a timestamp at 6. Use toDate for the timestamp.",
		"n = null":                     "A comparison with null is never true at 3.",
		"yes > false":                  "Booleans have no order at 5. Use = or !=.",
		"upper(n)":                     "The operand at 7 of upper must be a text; it has the type integer. Use toText.",
		"t + 1":                        "The operand at 1 of + must be a number; it has the type text. Use toDecimal.",
		"n and yes":                    "The operand at 1 of and must be a boolean; it has the type integer. Use a comparison",
		"if(yes, n, t)":                "The values of if must have one type; text at 12 does not fit integer. Use toDecimal.",
		"round(n, 13)":                 "The decimal places of round must be a number from 0 to 12 at 10.",
		"round(n, n)":                  "The decimal places of round must be a number from 0 to 12 at 10.",
		"substring(t)":                 "The function at 1 must have 2 or 3 arguments; it has 1. Write substring(text, start, length).",
		"substring(t, 1.5)":            "The argument at 14 of substring must be an integer; it has the type decimal.",
		"year(t)":                      "The argument at 6 of year must be a date or timestamp; it has the type text. Use toDate.",
		"null":                         "The expression is always null.",
		"json":                         "The expression has the type json at 1.",
		"1.0000000000000000000 * 1.00000000000000000000": "The product at 23 has 39 decimal places; a decimal has at most 38. Use round.",
		"c.":                           "Unexpected the end at 3. After the alias c, write the name of a field",
		"'a\x00'":                      "The text at 1 contains the character U+0000. Remove it.",
		"\xff":                         "The text at 1 is not valid UTF-8.",
		deep:                           "The expression has more than 64 levels at 65, the maximum.",
		"n" + strings.Repeat("+n", 64): "The expression has more than 64 levels at 128, the maximum.",
		strings.Repeat(" ", feedmill.MaxComputedBytes) + "n": "An expression can have up to 4096 bytes; it has 4097.",
	} {
		fields, _ := table()
		s, fault := Parse(source)
		faults := []*Fault{fault}
		if fault == nil {
			_, faults = Check(s, fields)
		}
		if len(faults) == 0 || !strings.HasPrefix(faults[0].Detail, want) {
			t.Errorf("%.60s: %v, want %s", source, faults, want)
		}
	}
	s, _ := Parse("upper(n) + lenght(t) * missing")
	fields, _ := table()
	if _, faults := Check(s, fields); len(faults) != 3 {
		t.Errorf("%d faults are found, want 3: %v", len(faults), faults)
	}
	if _, fault := Parse(strings.Repeat("(", feedmill.MaxComputedDepth) + "n" + strings.Repeat(")", feedmill.MaxComputedDepth)); fault != nil {
		t.Error(fault)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`price * (1 + l.vat)`, `if(n > 0, concat('a', t), "Order Total")`, `not a and b or c."a.b" <> 'x''y'`, "-1.5 % .5", "((", "'", `"`} {
		f.Add(seed)
	}
	fields, row := table()
	f.Fuzz(func(t *testing.T, source string) {
		s, fault := Parse(source)
		if fault != nil {
			if fault.Position < 1 || fault.Detail == "" {
				t.Fatalf("%q: %+v", source, fault)
			}
			return
		}
		n, faults := Check(s, fields)
		if n == nil {
			return
		}
		if len(faults) > 0 {
			t.Fatalf("%q has faults and a node", source)
		}
		var r result
		err := NewEvaluator(n, func(field int) int { return field }, time.UTC).Add(row, 0, &r)
		if err != nil && !errors.Is(err, ErrOverflow) {
			t.Fatal(err)
		}
		// What is said of a type holds for its values.
		if err == nil && r.text != "null" && n.Type.exact() && !n.Type.Open {
			if digits := len(strings.TrimPrefix(r.text, "-")); digits > max(n.Type.Digits, 1) {
				t.Fatalf("%q is %s, of the type %+v", source, r.text, n.Type)
			}
		}
	})
}
