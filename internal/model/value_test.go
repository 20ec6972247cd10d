package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// TestConvertedValues says for each type which texts are values of it.
func TestConvertedValues(t *testing.T) {
	const misfit = "misfit <nil>"
	decimal := func(precision, scale int) target {
		return target{as: columnar.TypeDecimal, precision: precision, scale: scale, decimals: point}
	}
	inComma := func(precision, scale int) target {
		return target{as: columnar.TypeDecimal, precision: precision, scale: scale, decimals: comma}
	}
	integer, number := target{as: columnar.TypeInteger, decimals: point}, target{as: columnar.TypeNumber, decimals: point}
	date, dateDMY, dateMDY := target{as: columnar.TypeDate}, target{as: columnar.TypeDate, order: dayFirst}, target{as: columnar.TypeDate, order: monthFirst}
	stamp, stampDMY := target{as: columnar.TypeTimestamp}, target{as: columnar.TypeTimestamp, order: dayFirst}
	for _, c := range []struct {
		to         target
		text, want string
	}{
		{integer, "-9223372036854775808", "-9223372036854775808"},
		{integer, "9223372036854775807", "9223372036854775807"},
		{integer, "9223372036854775808", misfit},
		{integer, "-9223372036854775809", misfit},
		{integer, "18446744073709551617", misfit},
		{integer, "36893488147419103233", misfit},
		{integer, "-0", "0"},
		{integer, " 12 ", "12"},
		{integer, "1.0", "1"},
		{integer, "1.10", misfit},
		{integer, "1,234", "1234"},
		{integer, "$1,234.00", "1234"},
		{integer, "(12)", "-12"},
		{integer, "１２", "12"},
		{integer, "۱۲۳۴", "1234"},
		{integer, "\u200f12\u200e", "12"},
		{decimal(9, 2), "١٬٢٣٤٫٥", "1234.50"},
		{inComma(9, 2), "1.200,-", "1200.00"},
		{decimal(9, 2), "1'200.--", "1200.00"},
		{date, "2026年1月5日", "2026-01-05"},
		{date, "2026년 1월 5일", "2026-01-05"},
		{date, "2026. 1. 5.", "2026-01-05"},
		{date, "2026.01.05.", "2026-01-05"},
		{stamp, "Jan 5, 2026 1:30:00 PM PST", "2026-01-05T21:30:00Z"},
		{stamp, "Jan 5, 2026 12:30 AM EST", "2026-01-05T05:30:00Z"},
		{stamp, "2026-01-05 10:30:00 CET", "2026-01-05T09:30:00Z"},
		{stamp, "5. Juli 2026 10:30 MESZ", "2026-07-05T08:30:00Z"},
		{stamp, "2026-01-05T10:30:00+01:00[Europe/Berlin]", "2026-01-05T09:30:00Z"},
		{stamp, "2026-01-05T10:30:00[Europe/Berlin]", misfit},
		{stamp, "2026-01-05T10:30:00+01:0x", misfit},
		{date, "31 February 2026", misfit},
		{date, "3rd March 2026", "2026-03-03"},
		{date, "March 3rd, 2026", "2026-03-03"},
		{date, "3xx March 2026", misfit},
		{date, "3 March 026", misfit},
		{date, "333 March 2026", misfit},
		{date, "mar. 3 mars 2026", "2026-03-03"}, // a Tuesday and a month
		{date, "mar 3, 2026", "2026-03-03"},
		{decimal(4, 1), "٥٪", "5.0"},
		{decimal(38, 2), "$" + strings.Repeat("9", 36), strings.Repeat("9", 36) + ".00"},
		{decimal(38, 2), "$" + strings.Repeat("9", 37), misfit},
		{decimal(38, 10), "$" + strings.Repeat("9", 38), misfit},
		{integer, ",500", misfit},
		{integer, "'500", misfit},
		{integer, "007,123", misfit},
		{integer, "1e3", misfit},
		{integer, "007", misfit},
		{integer, "x", misfit},
		{integer, "-", misfit},
		{decimal(3, 2), "9.99", "9.99"},
		{decimal(3, 2), "-9.99", "-9.99"},
		{decimal(3, 2), "10.00", misfit},
		{decimal(3, 2), "9.990", "9.99"},
		{decimal(3, 2), "9.999", misfit},
		{decimal(3, 2), "9", "9.00"},
		{decimal(3, 2), ".5", "0.50"},
		{decimal(3, 2), "00.5", misfit},
		{decimal(3, 2), "1.", misfit},
		{decimal(3, 2), "1.x", misfit},
		{decimal(3, 2), "1x5", misfit},
		{decimal(3, 2), "1,5", misfit},
		{decimal(9, 2), "1,234.5", "1234.50"},
		{decimal(9, 2), "1,234", "1234.00"},
		{inComma(9, 2), "1.234,5", "1234.50"},
		{inComma(9, 2), "1.234", "1234.00"},
		{inComma(9, 2), "1,5", "1.50"},
		{inComma(9, 2), "1.5", misfit},
		{inComma(9, 2), "12", "12.00"},
		{decimal(18, 0), "999999999999999999", "999999999999999999"},
		{decimal(18, 0), "1000000000000000000", misfit},
		{decimal(18, 18), "0.999999999999999999", "0.999999999999999999"},
		{decimal(18, 18), "1", misfit},
		{decimal(19, 0), "9999999999999999999", "9999999999999999999"},
		{decimal(19, 0), "10000000000000000000", misfit},
		{decimal(38, 0), "99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
		{decimal(38, 0), "-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"},
		{decimal(38, 0), "100000000000000000000000000000000000000", misfit},
		{decimal(38, 20), "123456789012345678.00000000000000000001", "123456789012345678.00000000000000000001"},
		{decimal(38, 20), "1234567890123456789", misfit},
		{decimal(38, 37), "10", misfit},
		{number, "1e3", "1000"},
		{number, " -2.5E-3 ", "-0.0025"},
		{number, "0.1", "0.1"},
		{number, "9007199254740993", misfit},
		{number, "1e400", misfit},
		{number, "1,234", misfit},
		{number, "$5", misfit},
		{number, "(5)", misfit},
		{number, "x", misfit},
		{target{as: columnar.TypeBoolean}, "TRUE", "true"},
		{target{as: columnar.TypeBoolean}, " false ", "false"},
		{target{as: columnar.TypeBoolean}, "yes", misfit},
		{target{as: columnar.TypeBoolean}, "1", misfit},
		{date, "2024-02-29", "2024-02-29"},
		{date, "2026/01/31", "2026-01-31"},
		{date, " 2026-01-31 ", "2026-01-31"},
		{date, "2026-02-30", misfit},
		{date, "2026-01-31 10:00", misfit},
		{date, "2026-01-31 00:00:00", misfit},
		{date, "31/12/2026", misfit},
		{dateDMY, "31/12/2026", "2026-12-31"},
		{dateDMY, "1.2.2026", "2026-02-01"},
		{dateMDY, "1/2/2026", "2026-01-02"},
		{dateMDY, "31/12/2026", misfit},
		{dateDMY, "31/12/26", "2026-12-31"},
		{dateDMY, "31/12/2026 10:00", misfit},
		{stamp, "2026-01-31", "2026-01-31T00:00:00Z"},
		{stamp, "2026-01-31 10:00:59", "2026-01-31T10:00:59Z"},
		{stamp, "2026-01-31T23:59", "2026-01-31T23:59:00Z"},
		{stamp, "2026-01-31t10:00:00,5z", "2026-01-31T10:00:00.5Z"},
		{stamp, "2026-01-31 10:00:00 UTC", "2026-01-31T10:00:00Z"},
		{stamp, "2026-01-31 10:00:00 +01", "2026-01-31T09:00:00Z"},
		{stamp, "2026-01-31T10:00:00-0130", "2026-01-31T11:30:00Z"},
		{stamp, "2026-01-31T10:00:00+18:59", "2026-01-30T15:01:00Z"},
		{stamp, "2026-01-31T10:00:00+19:00", misfit},
		{stamp, "2026-01-31T10:00:00+01:60", misfit},
		{stamp, "2026-01-31T10:00:00+0160", misfit},
		{stamp, "2026-01-31T10:00:00+1", misfit},
		{stamp, "2026-01-31T10:00:00.123456Z", "2026-01-31T10:00:00.123456Z"},
		{stamp, "2026-01-31T10:00:00.1234560Z", "2026-01-31T10:00:00.123456Z"},
		{stamp, "2026-01-31T10:00:00.1234567Z", misfit},
		{stamp, "2026-01-31 24:00:00", "2026-02-01T00:00:00Z"},
		{stamp, "2026-01-31 24:00:01", misfit},
		{stamp, "9999-12-31 24:00:00", misfit},
		{stamp, "2026-01-31 10:60:00", misfit},
		{stamp, "2026-01-31 10:00:60", misfit},
		{stampDMY, "31/12/2026", "2026-12-31T00:00:00Z"},
		{stampDMY, "31/12/2026, 10:00", "2026-12-31T10:00:00Z"},
		{stampDMY, "31/12/2026T10:00:01.5", "2026-12-31T10:00:01.5Z"},
		{stampDMY, "31/12/2026 9:05", "2026-12-31T09:05:00Z"},
		{stampDMY, "31/12/2026 12:05 am", "2026-12-31T00:05:00Z"},
		{stampDMY, "31/12/2026 1:05 AM", "2026-12-31T01:05:00Z"},
		{stampDMY, "31/12/2026 12:05 PM", "2026-12-31T12:05:00Z"},
		{stampDMY, "31/12/2026 11:05:30PM", "2026-12-31T23:05:30Z"},
		{stampDMY, "31/12/2026 0:05 AM", misfit},
		{stampDMY, "31/12/2026 13:05 PM", misfit},
		{stampDMY, "31/12/2026 10:00Z", "2026-12-31T10:00:00Z"},
		{stampDMY, "31/12/2026 10:00+01:00 PM", misfit},
		{stampDMY, "31/12/2026x10:00", misfit},
		{stampDMY, "31/12/2026 1:0", misfit},
		{stampDMY, "31/12-2026", misfit},
		{stampDMY, "31_12_2026", misfit},
		{stampDMY, "31/12/20266", misfit},
		{stampDMY, "331/12/2026", misfit},
		{stampDMY, "x/12/2026", misfit},
		{stampDMY, "31/x/2026", misfit},
		{stampDMY, "31/12/", misfit},
		{target{as: columnar.TypeText}, " x ", " x "},
		{target{as: columnar.TypeJSON}, "a\"\xff", `"a\"` + "\ufffd" + `"`},
	} {
		if got := c.to.converted(cellsOf(0, columnar.CellPlain, c.text)); strings.Join(got, "; ") != c.want {
			t.Errorf("%q in %s(%d,%d) is %q, want %q", c.text, c.to.as, c.to.precision, c.to.scale, got, c.want)
		}
	}
}

// Only cells of some kinds can be values of a type, whatever their text is.
func TestConvertedKinds(t *testing.T) {
	for _, c := range []struct {
		to   target
		text string
		want map[columnar.CellKind]bool
	}{
		{target{as: columnar.TypeInteger, decimals: point}, "12", map[columnar.CellKind]bool{columnar.CellPlain: true, columnar.CellQuoted: true, columnar.CellNumber: true}},
		{target{as: columnar.TypeNumber, decimals: point}, "12", map[columnar.CellKind]bool{columnar.CellPlain: true, columnar.CellQuoted: true, columnar.CellNumber: true}},
		{target{as: columnar.TypeDecimal, precision: 4, scale: 1, decimals: point}, "1.5", map[columnar.CellKind]bool{columnar.CellPlain: true, columnar.CellQuoted: true, columnar.CellNumber: true}},
		{target{as: columnar.TypeBoolean}, "true", map[columnar.CellKind]bool{columnar.CellPlain: true, columnar.CellQuoted: true}},
		{target{as: columnar.TypeDate}, "2026-01-31", map[columnar.CellKind]bool{columnar.CellPlain: true, columnar.CellQuoted: true, columnar.CellString: true, columnar.CellDate: true}},
		{target{as: columnar.TypeTimestamp}, "2026-01-31 10:00:00", map[columnar.CellKind]bool{columnar.CellPlain: true, columnar.CellQuoted: true, columnar.CellString: true, columnar.CellDate: true}},
		{target{as: columnar.TypeTimestamp}, "2026-01-31 10:00", map[columnar.CellKind]bool{columnar.CellPlain: true, columnar.CellQuoted: true, columnar.CellString: true, columnar.CellDate: true}},
	} {
		for _, kind := range append(kindsOfText, columnar.CellJSON) {
			for _, padding := range []int{0, 16} {
				got := c.to.converted(cellsOf(padding, kind, c.text))[0]
				if fits := !strings.HasPrefix(got, "misfit"); fits != c.want[kind] {
					t.Errorf("%q of kind %d in %s is %s", c.text, kind, c.to.as, got)
				}
			}
		}
	}
	// Truth has no text.
	for kind, want := range map[columnar.CellKind]string{columnar.CellTrue: "true", columnar.CellFalse: "false"} {
		for _, as := range []columnar.Type{columnar.TypeBoolean, columnar.TypeText, columnar.TypeJSON} {
			if got := (target{as: as}).converted(cellsOf(0, kind, "")); got[0] != want {
				t.Errorf("in %s it is %s, want %s", as, got, want)
			}
		}
	}
}

// TestTypeOfValues says what columns are decided to be.
func TestTypeOfValues(t *testing.T) {
	repeat := func(n int, values ...string) (all []string) {
		for range n {
			all = append(all, values...)
		}
		return all
	}
	for _, c := range []struct {
		values []string
		want   string // type, format, and the code of the warning
	}{
		{[]string{"$5"}, "decimal(1,0) $"},
		{[]string{"US$5.50"}, "decimal(3,2) US$"},
		{[]string{"ABC$5"}, "decimal(1,0) ABC$"},
		{[]string{"ABCD$5"}, "text"},
		{[]string{"Us$5"}, "text"},
		{[]string{"$$5"}, "text"},
		{[]string{"Z$5"}, "decimal(1,0) Z$"},
		{[]string{"[$5"}, "text"},
		{[]string{"--5"}, "text"},
		{[]string{"-$(5)"}, "text"},
		{[]string{"\u202f12", "12\u202f", "\u00a012\u00a0", " 12 "}, "integer"},
		{[]string{"5 EUR"}, "decimal(1,0) EUR"},
		{[]string{"EUR 5"}, "decimal(1,0) EUR"},
		{[]string{"EUR5"}, "text"},
		{[]string{"5EUR"}, "text"},
		{[]string{"5 ZZZ"}, "text"},
		{[]string{"5 EU"}, "text"},
		{[]string{"5 EUR AED"}, "text"},
		{[]string{"5\u00a0€"}, "decimal(1,0) €"},
		{[]string{"€\u202f5"}, "decimal(1,0) €"},
		{[]string{"$5 €"}, "text"},
		{[]string{"5%"}, "decimal(1,0) percent"},
		{[]string{"5 %"}, "decimal(1,0) percent"},
		{[]string{"-$5"}, "decimal(1,0) $"},
		{[]string{"$-5"}, "decimal(1,0) $"},
		{[]string{"-$-5"}, "text"},
		{[]string{"($5)", "$7"}, "decimal(1,0) $"},
		{[]string{"$(5)", "$7"}, "decimal(1,0) $"},
		{[]string{"$(5", "$7"}, "text"},
		{[]string{"(5.50)"}, "decimal(3,2) accounting"},
		{[]string{"(5)", "7"}, "decimal(1,0) accounting"},
		{[]string{"( 5 )", "7"}, "decimal(1,0) accounting"},
		{[]string{"(5)"}, "text ambiguous-number"},
		{[]string{"($5)"}, "decimal(1,0) $"},
		{[]string{"-(5)"}, "text"},
		{[]string{"(5"}, "text"},
		{[]string{"(1e5)"}, "text"},
		{[]string{"$1e5"}, "text"},
		{[]string{"()"}, "text"},
		{[]string{")5("}, "text"},
		{[]string{"$5", "€5"}, "text mixed-currencies"},
		{[]string{"$5", "7"}, "text mixed-types"},
		{repeat(40, "$5", "$6"), "decimal(1,0) $"},
		{append(repeat(40, "$5"), "7"), "text mixed-types"},
		{append(repeat(40, "1,234.5"), "1e5"), "text mixed-types"},
		{[]string{"1,234", "1.5"}, "decimal(5,1)"},
		{[]string{"1,234", "1,5"}, "decimal(4,3)"},
		{[]string{"1,234.5", "1.234,5"}, "text ambiguous-number"},
		{[]string{"1,234"}, "text ambiguous-number"},
		{[]string{"1,234", "1.234"}, "text ambiguous-number"},
		{[]string{"1 234"}, "text ambiguous-number"},
		{[]string{"1 234", "0.5"}, "decimal(5,1)"},
		{[]string{"1,234,567"}, "integer"},
		{[]string{"123,456,789,012,345,678"}, "integer"},
		{[]string{"1,123,456,789,012,345,678"}, "decimal(19,0)"},
		{[]string{"12,34,567"}, "integer"},
		{[]string{"127.0.0.1"}, "text"},
		{[]string{"1", "x"}, "text"},
		{append(repeat(19, "1"), "x"), "text mixed-types"},
		{append(repeat(7, "1"), "x", "y", "z"), "text mixed-types"},
		{append(repeat(6, "1"), "x", "y", "z"), "text"},
		{append(repeat(19, "true"), "x"), "text mixed-types"},
		{append(repeat(19, "2026-01-31"), "x"), "text mixed-types"},
		{append(repeat(19, "31/12/2026"), "x"), "text mixed-types"},
		{append(repeat(19, "1,234.5"), "x"), "text mixed-types"},
		{append(repeat(10, "1.5", "1e5"), "x"), "text mixed-types"},
		{[]string{"1.5", "1e5"}, "number"},
		{[]string{"1e5", "9007199254740993"}, "text too-many-digits"},
		{[]string{"0." + strings.Repeat("1", 39)}, "text too-many-digits"},
		{[]string{"1" + strings.Repeat(",000", 13) + ".5"}, "text too-many-digits"},
		{[]string{"31/12/2026"}, "date dd/mm/yyyy"},
		{[]string{"12/31/2026"}, "date mm/dd/yyyy"},
		{[]string{"31.12.2026 10:00", "01.02.2026"}, "timestamp dd.mm.yyyy hh:mm"},
		{[]string{"31.12.2026", "01/02/2026"}, "text ambiguous-date"},
		{[]string{"31/12/26"}, "date dd/mm/yy"},
		{[]string{"01/02/2026"}, "text ambiguous-date"},
		{[]string{"31/12/2026", "12/31/2026"}, "text ambiguous-date"},
		{[]string{"2026-01-31T10:00:00.1234567Z"}, "text too-many-digits"},
		{[]string{"2026-01-31", "2026-01-31T10:00"}, "timestamp"},
		{[]string{strings.Repeat(" ", 400) + "1"}, "integer"},
		{[]string{strings.Repeat("1", 401)}, "text"},
		{[]string{"1,200円", "3,400円"}, "text ambiguous-number"},
		{[]string{"1,200円", "1,234,500円"}, "decimal(7,0) 円"},
		{[]string{"85.00元", "1元"}, "decimal(4,2) 元"},
		{[]string{"500원"}, "decimal(3,0) 원"},
		{[]string{"85,00zł"}, "decimal(4,2) zł"},
		{[]string{"850.000đ", "1.200.000đ"}, "decimal(7,0) đ"},
		{[]string{"Rp 850.000,00"}, "decimal(8,2) Rp"},
		{[]string{"RM85.00", "RM7"}, "decimal(4,2) RM"},
		{[]string{"R85.00", "R1 200.50"}, "decimal(6,2) R"},
		{[]string{"R85", "R86"}, "text"},
		{[]string{"1,200.50USD"}, "decimal(6,2) USD"},
		{[]string{"$1,200.50 MXN", "$5.00 MXN"}, "decimal(6,2) MXN"},
		{[]string{"5 euro"}, "decimal(1,0) euro"},
		{[]string{"89,-", "1.019,-"}, "integer"},
		{[]string{"89,- €", "1,50 €"}, "decimal(4,2) €"},
		{[]string{"+85,00", "-3,50"}, "text numeric-text"},
		{[]string{"+3", "-1", "0"}, "text numeric-text"},
		{[]string{"+491511234567", "+491511234568"}, "text"},
		{[]string{"+49", "+33"}, "text"},
		{[]string{"5 kg", "12 kg"}, "text numeric-text"},
		{[]string{"5 kg", "12 lb"}, "text"},
		{[]string{"1.2M", "950.3K", "3"}, "text numeric-text"},
		{[]string{"<0.01", "0.05"}, "text numeric-text"},
		{[]string{"12 Main", "3 High", "4 Low"}, "text"},
		{[]string{"9999005ZC", "9999006ZC"}, "text"},
		{[]string{"1234567kg", "2345678kg"}, "text"},
		{[]string{"1234567 kg", "2345678 kg"}, "text numeric-text"},
		{[]string{"1234567.5kg", "2.5kg"}, "text numeric-text"},
		{[]string{"3rd", "4th", "5th"}, "text"},
		{[]string{"0000-00-00", "2026-01-01"}, "date null-tokens"},
		{[]string{"0000-00-00 00:00:00", "2026-01-01 10:00:00"}, "timestamp null-tokens"},
		{[]string{"0000-00-00 00:00:01", "2026-01-01 10:00:00"}, "text"},
		{[]string{"0000-00-00x00:00:00", "2026-01-01 10:00:00"}, "text"},
		{append(repeat(6, ":"), repeat(4, "1.5")...), "text mixed-types"},
		{append(repeat(600, "missing"), repeat(400, "1.5")...), "text mixed-types"},
		{append(repeat(6, ":", "x"), repeat(4, "1.5")...), "text"},
		{[]string{" "}, "text"},
		{[]string{""}, "text"},
	} {
		inference := New(Options{})
		inference.Block(cellsOf(0, columnar.CellPlain, c.values...))
		schema, warnings := inference.Decide([]string{"c"}, feedmill.Findings{})
		got := strings.TrimSpace(typeName(schema.Columns[0]) + " " + schema.Columns[0].Format)
		for _, w := range warnings {
			got += " " + w.Code
			if w.Column != "c" || w.Count == 0 || w.FirstRow == 0 || w.Detail == "" {
				t.Errorf("%.60q: %+v", c.values, w)
			}
		}
		if got != c.want {
			t.Errorf("%.60q is %q, want %q", c.values, got, c.want)
		}
	}
}

// What is passed over quickly in a column of text is nothing but text.
func TestSurelyText(t *testing.T) {
	tokens := newNullTokens("")
	for _, text := range []string{
		"abc", "Berlin", "SKU-1234", "SKU1234", "user_17", "12 Main Street, Springfield", "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
		"true", "FALSE", "N/A", "NULL", "None", "nan", "Nov 15, 2026", "Sun, 15 Nov 2026 12:00:00 GMT", "November 15, 2026 1:30 PM", "15. März 2026",
		"EUR 12", "US$ 12", "€12", "\u00a012", "12 kr", "1e5", "12345678901234567890123456789012345678", "Mittwoch, 4. März 2026",
		"$ -", "- €", "kr 100", "#N/A", "0000-00-00", "août 3, 2026", "Fr. 12", "Lyon", "Köln", "A123", "00123", "customer-17", "order-17", "nov-15-2026", "dec 3, 2026", "Rs 5", "kr 5", "zł", "1 234 567,89 EUR", "2026-11-15T12:30:00.123456+01:00",
		"EUR12.50", "R85.00", "CHF1'200.50", "１２", "٣٤", "Rp1.200",
	} {
		if surelyText([]byte(text)) && tokens.classify(columnar.CellPlain, []byte(text)).shape != shapeText {
			t.Errorf("%q is passed over", text)
		}
	}
	for _, text := range []string{"Berlin", "SKU1234", "12 Main Street, Springfield", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"} {
		if !surelyText([]byte(text)) {
			t.Errorf("%q is looked at closely", text)
		}
	}
}

// Times without an offset are from the location.
func TestTimesOfALocation(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	for text, want := range map[string]string{
		"2026-01-31 10:00:00": "2026-01-31T08:00:00Z", "2026-01-31T10:00:00Z": "2026-01-31T10:00:00Z", "2026-01-31": "2026-01-30T22:00:00Z",
	} {
		s := &Schema{Columns: []feedmill.Column{{Type: columnar.TypeTimestamp}}, plans: []plan{{}}, location: zone}
		vectors := make([]columnar.Vector, 1)
		if err := s.Convert(cellsOf(16, columnar.CellPlain, text), vectors); err != nil || fmt.Sprint(valueOf(&vectors[0], 0)) != want {
			t.Errorf("%s is %v, %v, want %s", text, valueOf(&vectors[0], 0), err, want)
		}
	}
}
