package feedmill

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFilter(t *testing.T) {
	filter := func(f Filter, name string) Condition { return Condition{Name: name, Filters: []Filter{f}} }
	for text, want := range map[string]Condition{
		`total:gt:100`:       filter(Filter{Op: OpGt, Values: []FilterValue{{Text: "100"}}}, "total"),
		`!total:eq:a,b`:      filter(Filter{Op: OpEq, Inverted: true, Values: []FilterValue{{Text: "a"}, {Text: "b"}}}, "total"),
		`a:isNull`:           filter(Filter{Op: OpIsNull}, "a"),
		`"a:b":eq:"x,""y"""`: filter(Filter{Op: OpEq, Values: []FilterValue{{Text: `x,"y"`}}}, "a:b"),
		`a:eq:`:              filter(Filter{Op: OpEq, Values: []FilterValue{{Null: true}}}, "a"),
		`a:eq:"",b,`:         filter(Filter{Op: OpEq, Values: []FilterValue{{}, {Text: "b"}, {Null: true}}}, "a"),
		`a:eq:,b`:            filter(Filter{Op: OpEq, Values: []FilterValue{{Null: true}, {Text: "b"}}}, "a"),
		`a:eq:10:30`:         filter(Filter{Op: OpEq, Values: []FilterValue{{Text: "10:30"}}}, "a"),
	} {
		if got, err := ParseFilter(text); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		``: "a filter must have the form", `a`: "a filter must have the form", `:eq:1`: "a filter must have the form", `"a:eq:1`: "not closed", `a:eq:"b`: "not closed", `"a"b:eq:1`: "closing quote", `a:eq:"b"c`: "closing quote",
	} {
		if _, err := ParseFilter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestParseList(t *testing.T) {
	got, err := ParseList(`a,-b,-"c,d",-`, "-")
	want := []ListItem{{Text: "a"}, {Text: "b", Signed: true}, {Text: "c,d", Quoted: true, Signed: true}, {Signed: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := ParseList("-a", ""); err != nil || got[0].Text != "-a" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParsePeriod(t *testing.T) {
	for text, want := range map[string]Period{
		"month": {N: 1, Unit: UnitMonth}, "7 days": {N: 7, Unit: UnitDay}, " 1  year ": {N: 1, Unit: UnitYear}, "weeks": {N: 1, Unit: UnitWeek},
	} {
		if got, err := ParsePeriod(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "0 days", "-1 days", "1.5 days", "7 moons", "1 2 days", "days 7"} {
		if got, err := ParsePeriod(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestRelativeQueries(t *testing.T) {
	for _, op := range []FilterOp{OpEq, OpGt, OpIsNull, OpBetween, OpLast, OpNext, OpCurrent, OpToDate} {
		want := op == OpLast || op == OpNext || op == OpCurrent || op == OpToDate
		q := Query{Where: []Condition{{}, {Filters: []Filter{{Op: OpEq}, {Op: op}}}}}
		if q.Relative() != want || op.TakesPeriod() != want {
			t.Errorf("%s: relative %v, takes a period %v, want %v", op, q.Relative(), op.TakesPeriod(), want)
		}
	}
}

func TestParseHaving(t *testing.T) {
	for text, want := range map[string]string{
		"sum(amount):gt:1000": `amount sum {gt [{false 1000 <nil>}] false false}`, "!count(id):eq:1,2": `id count {eq [{false 1 <nil>} {false 2 <nil>}] true false}`,
		`max("a(b):c"):isNull`: `a(b):c max {isNull [] false false}`, "sum(a b):lt:": `a b sum {lt [{true  <nil>}] false false}`,
	} {
		field, h, err := ParseHaving(text)
		if got := fmt.Sprint(field, " ", h.Fn, " ", h.Filter); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "sum", "sum(amount)", "sum(amount:gt:1", "(amount):gt:1", "sum():gt:1", `sum("a:gt:1`, "amount:gt:1"} {
		if _, _, err := ParseHaving(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
