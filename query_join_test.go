package feedmill_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

func TestParseJoin(t *testing.T) {
	pair := func(left, right string) feedmill.JoinPair { return feedmill.JoinPair{Left: left, Right: right} }
	for text, want := range map[string]feedmill.Join{
		`customers:customer_id=id`:                      {View: "customers", As: "customers", On: []feedmill.JoinPair{pair("customer_id", "id")}},
		`sales.customers:a=b,c.d=e`:                     {View: "sales.customers", As: "customers", On: []feedmill.JoinPair{pair("a", "b"), pair("c.d", "e")}},
		`"a:b as".c as x:"o:d=d"="i,d"`:                 {View: `"a:b as".c`, As: "x", On: []feedmill.JoinPair{pair(`"o:d=d"`, `"i,d"`)}},
		`df_0123456789abcdefghjkmnpqrs as _2:b."=x"=id`: {View: "df_0123456789abcdefghjkmnpqrs", As: "_2", On: []feedmill.JoinPair{pair(`b."=x"`, "id")}},
	} {
		got, err := feedmill.ParseJoin(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	for _, text := range []string{"", "customers", "customers:", "customers:a", "customers:=b", "customers:a=", ":a=b", "c as :a=b", "c as 1:a=b", `"my view":a=b`, `c as x;--:a=b`, `"c:a=b`, `c:"a=b`, "c:a=b,"} {
		if got, err := feedmill.ParseJoin(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestFieldNames(t *testing.T) {
	aliases := []string{"b", "c"}
	for text, want := range map[string][]string{
		`id`:      {"id"},
		`c.id`:    {"c.id", "c id"},
		`d.id`:    {"d.id"},
		`"c.id"`:  {`"c.id"`, "c.id"},
		`c."a.b"`: {`c."a.b"`, `c "a.b"`, "c a.b"},
		`"a""b"`:  {`"a""b"`, `a"b`},
		`"a`:      {`"a`},
	} {
		var got []string
		for _, n := range feedmill.FieldNames(text, aliases) {
			if n.From != "" {
				n.Name = n.From + " " + n.Name
			}
			got = append(got, n.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
