package databasetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// SumTable are the statements that create the table of [Sums]. Double is the type of its numbers.
func SumTable(double string) []string {
	return []string{
		"CREATE TABLE sums (g integer, name varchar(10), d " + double + ")",
		"INSERT INTO sums VALUES (1, 'a', 1e308), (1, 'a', 1e308), (2, 'a', 1), (2, 'a', 2.5), (3, 'a', NULL), (4, 'a', -1e308), (4, 'a', -1e308)," +
			" (5, 'a', 1.7976931348623157e308), (6, 'a', 1e300), (6, 'a', -1e300), (6, 'a', 1e-300)," +
			" (7, 'a', 1e308), (7, 'a', 1e308), (7, 'a', -1e308), (7, 'a', 0), (8, 'a', 1.5e308), (8, 'a', 1.5e308), (8, 'a', -1.5e308), (8, 'a', -1.5e308)",
	}
}

// Sums tests sums that are beyond the range of a number: they are null, are sorted as nulls, and
// there is a warning. Sums are right where only the running ones are beyond it.
func Sums(t *testing.T, db database.Database) {
	table := Describe(t, db, "sums")
	want := [][]string{
		{"5", "1.79769313486e+308", "1.79769313486e+308"},
		{"7", "1e+308", "2.5e+307"},
		{"2", "3.5", "1.75"},
		{"6", "0", "0"},
		{"8", "0", "0"},
		{"1", "<null>", "<null>"},
		{"3", "<null>", "<null>"},
		{"4", "<null>", "<null>"},
	}
	for op, want := range map[string]int{"lt": 18, "lte": 18, "eq": 0, "gt": 0, "gte": 0} {
		got, _, err := Read(t.Context(), table, Parse(t, `{"fields":[{"field":"d","filters":[{"op":"`+op+`","values":[1e400]}]}]}`))
		if err != nil || len(got.Rows) != want {
			t.Errorf("%s 1e400: %v %v", op, got, err)
		}
	}
	for _, filter := range []string{"", `,"filters":[{"op":"matches","values":["^a"]}]`} {
		q := Parse(t, `{"fields":[{"field":"name","select":false`+filter+`},{"field":"g"},{"field":"d","aggregate":[{"fn":"sum","as":"total"},{"fn":"avg","as":"mean"}]}],
			"sort":[{"field":"total","order":"desc"},{"field":"g"}]}`)
		got, done, err := Read(t.Context(), table, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range got.Rows { // what is left of values that cancel out depends on the order
			if row[0] == "6" && (row[1] == "1e-300" || row[2] == "3.33333333333e-301") {
				row[1], row[2] = "0", "0"
			}
		}
		if diff := cmp.Diff(want, got.Rows); diff != "" {
			t.Errorf("%s: %s", filter, diff)
		}
		for _, name := range []string{"total", "mean"} {
			i := slices.IndexFunc(done.Warnings, func(w feedmill.Warning) bool { return w.Column == name })
			if i < 0 || done.Warnings[i].Code != feedmill.WarnNotFinite || done.Warnings[i].Count != 2 {
				t.Errorf("%s: warnings %+v", filter, done.Warnings)
			}
		}
		if len(done.Warnings) != 2 { // the nulls have none
			t.Errorf("%s: warnings %+v", filter, done.Warnings)
		}
	}
}

// WholeSumTable are the statements that create the table of [WholeSums]. Decimal is the type of
// decimals of 38 digits.
func WholeSumTable(decimal string) []string {
	const most, nines = "9223372036854775807", "90000000000000000000000000000000000000"
	return []string{
		"CREATE TABLE whole (g integer, name varchar(10), i bigint, d " + decimal + ")",
		"INSERT INTO whole VALUES (1, 'a', " + most + ", " + nines + "), (1, 'a', " + most + ", " + nines + "), (1, 'a', -" + most + ", -" + nines + "), (1, 'a', -" + most + ", -" + nines + "), (1, 'a', 5, 7)," +
			" (2, 'a', -" + most + ", -" + nines + "), (2, 'a', -" + most + ", 0), (3, 'a', " + most + ", 1), (3, 'a', " + most + ", 2)," +
			" (4, 'a', 0, " + nines + "), (4, 'a', NULL, " + nines + "), (4, 'a', 1, 1)",
	}
}

// WholeSums tests sums of integers and decimals, of which the running ones can have more digits than 64
// bits or a decimal have. Those of group 4 do: where the column has no bound its sums are text.
func WholeSums(t *testing.T, db database.Database, open bool) {
	table := Describe(t, db, "whole")
	for field, want := range map[string][][]string{
		"i": {{"2", "-18446744073709551614", "-9.22337203686e+18"}, {"4", "1", "0.5"}, {"1", "5", "1"}, {"3", "18446744073709551614", "9.22337203686e+18"}},
		"d": {{"2", "-90000000000000000000000000000000000000", "-4.5e+37"}, {"3", "3", "1.5"}, {"1", "7", "1.4"}},
	} {
		for _, filter := range []string{"", `,"filters":[{"op":"matches","values":["^a"]}]`} {
			groups := ""
			if field == "d" {
				groups = `,"filters":[{"op":"lt","values":[4]}]`
			}
			q := Parse(t, `{"fields":[{"field":"name","select":false`+filter+`},{"field":"g"`+groups+`},{"field":"`+field+`","aggregate":[{"fn":"sum","as":"total"},{"fn":"avg","as":"mean"}]}],"sort":[{"field":"total"}]}`)
			got, _, err := Read(t.Context(), table, q)
			if diff := cmp.Diff(want, got.Rows); err != nil || diff != "" {
				t.Errorf("%s %s: %v %s", field, filter, err, diff)
			}
		}
	}
	got, done, err := Read(t.Context(), table, Parse(t, `{"fields":[{"field":"d","aggregate":[{"fn":"sum","as":"total"}]},{"field":"g","select":false,"filters":[{"op":"eq","values":[4]}]}]}`))
	switch {
	case !open:
		if err == nil || !strings.Contains(err.Error(), "more than 38 digits") {
			t.Errorf("a sum beyond a decimal: %v %v", got, err)
		}
	case err != nil || !slices.EqualFunc(got.Rows, [][]string{{"180000000000000000000000000000000000001"}}, slices.Equal) || len(done.Warnings) != 1 || done.Warnings[0].Code != feedmill.WarnDigits:
		t.Errorf("a sum beyond a decimal: %v %+v %v", got, done.Warnings, err)
	}
}
