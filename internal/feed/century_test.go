package feed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
)

// TestCenturies has years of two digits, in a feed that was created in 2026.
func TestCenturies(t *testing.T) {
	for _, test := range []struct {
		name, column, want string
		dates              []string
		rules              feedmill.Rules
	}{
		{"births", "Date of birth", "1965-01-31 2026-02-13 1927-12-24 assumed-century", []string{"31/01/65", "13/02/26", "24/12/27"}, 2},
		{"births of this century", "dob", "2001-01-31 2026-12-24 ", []string{"31/01/01", "24/12/26"}, 2},
		{"a German name", "Geburtsdatum", "1927-01-31 1999-12-24 assumed-century", []string{"31.01.27", "24.12.99"}, 2},
		{"a name of several words", "customerBirthDate", "1965-01-31 assumed-century", []string{"31/01/65"}, 2},
		{"part of a word", "birthplace", "2065-01-31 future-dates", []string{"31/01/65"}, 2},
		{"the month first", "birthday", "1965-01-31 assumed-century", []string{"01/31/65"}, 2},
		{"with times", "birth", "1965-01-31T10:00:00Z assumed-century", []string{"31/01/65 10:00"}, 2},
		{"other dates", "due", "2065-01-31 2020-12-24 ", []string{"31/01/65", "24/12/20"}, 2},
		{"other dates in the future", "due", "2065-01-31 2027-12-24 future-dates", []string{"31/01/65", "24/12/27"}, 2},
		{"years of four digits", "birth", "2065-01-31 ", []string{"31/01/2065"}, 2},
		{"months with names", "dob", "1965-01-31 2026-02-13 1927-12-24 assumed-century", []string{"31-JAN-65", "13-Feb-26", "24 Dez 27"}, 2},
		{"months with names and times", "dob", "1965-01-31T10:00:00Z assumed-century", []string{"31-Jan-65 10:00"}, 2},
		{"months with names in the future", "due", "2065-01-31 2027-12-24 future-dates", []string{"31-Jan-65", "24-Dec-27"}, 2},
		{"months with names and years of four digits", "dob", "2065-01-31 2027-12-24 ", []string{"31-Jan-65", "24-Dec-2027"}, 2},
		{"months with names beside ISO dates", "dob", "2065-01-31 2027-12-24 ", []string{"31-Jan-65", "2027-12-24"}, 2},
		{"months with names by version 1 of the rules", "dob", "2065-01-31 ", []string{"31-Jan-65"}, 1},
		{"version 1 of the rules", "birth", "2065-01-31 ", []string{"31/01/65"}, 1},
	} {
		data := test.column + ",n\n" + strings.Join(test.dates, ",1\n") + ",1\n"
		r := feedmill.Reading{Format: "csv", Rules: test.rules, Year: 2026}
		table, err := decode.Open(t.Context(), "csv", strings.NewReader(data), decode.Options{Rules: test.rules, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		found, err := inferTable(t.Context(), table, r)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for run, err := range found.schema.Load(t.Context(), found, model.Loading{}).Runs {
			if err != nil {
				t.Fatal(err)
			}
			for row := range run[0].Len {
				got = append(got, cellText(&run[0], row))
			}
		}
		var codes []string
		for _, w := range found.warnings {
			codes = append(codes, w.Code)
		}
		if text := fmt.Sprint(strings.Join(got, " "), " ", strings.Join(codes, ",")); text != test.want {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
		found.Close()
	}
}
