package app

import (
	"net/http"
	"strings"
	"testing"
)

func TestQueries(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "shop,total,day\na,1.50,2026-01-01\nb,2.00,2026-01-02\na,3.00,2026-01-03\n")
	path := "/data_feeds/" + f.ID + "/query"
	for query, want := range map[string]string{
		`{"fields":[{"field":"shop"},{"field":"total","aggregate":"sum","as":"sum"}],"sort":[{"field":"sum","order":"desc"}]}`:  `[{"shop":"a","sum":4.50},` + "\n" + `{"shop":"b","sum":2.00}]`,
		`{"fields":[{"field":"total","filters":[{"op":"eq","values":[2]},{"op":"gt","values":["2.5"]}],"filterOption":"any"}]}`: `[{"total":2.00},` + "\n" + `{"total":3.00}]`,
		`{"fields":[{"field":"day","filters":[{"op":"between","values":["2026-01-01","2026-01-02"],"inverted":true}]}]}`:        `[{"day":"2026-01-03"}]`,
		`{"fields":[{"field":"shop","aggregate":"countDistinct","as":"n"}]}`:                                                    `[{"n":2}]`,
		`{"fields":[{"field":"shop","filters":[],"filterOption":"none"}],"limit":1}`:                                            `[{"shop":"a"}]`,
	} {
		got := s.send(t, request{method: "POST", path: path, body: query})
		if got.status != 200 || strings.TrimSpace(got.body) != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	for query, place := range map[string]string{
		`{"fields":[{"field":"shop"},{"field":"shop"}]}`: "pointer /fields/1/field",
		`{"fields":[{"field":"shp"}]}`:                   "pointer /fields/0/field",
		`{"fields":[]}`:                                  "pointer /fields",
		`{"fields":[{}]}`:                                "pointer /fields/0/field",
		`{"fields":[{"field":"total","filters":[{"op":"gt","values":["x"]}]}]}`:                  "pointer /fields/0/filters/0/values/0",
		`{"fields":[{"field":"day","filters":[{"op":"last","values":[{"n":0,"unit":"day"}]}]}]}`: "pointer /fields/0/filters/0/values/0/n",
		`{"fields":[{"field":"shop","aggregate":"median"}]}`:                                     "pointer /fields/0/aggregate",
		`{"sort":[{"field":"shop","order":"up"}]}`:                                               "pointer /sort/0/order",
		`{"timezone":"Mars"}`: "pointer /timezone",
		`{"limit":0}`:         "pointer /limit",
		`{"feilds":[]}`:       "pointer /feilds",
	} {
		got := s.send(t, request{method: "POST", path: path, body: query})
		if got.status != 400 || got.problem(t).places()[0] != place {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	response := [][2]string{{"Idempotency-Key", "q"}, {"Content-Type", "application/json"}}
	first := s.send(t, request{method: "POST", path: path, body: "{}", header: response})
	s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data", "text/csv", "shop,total,day\n")
	if again := s.send(t, request{method: "POST", path: path, body: "{}", header: response}); strings.TrimSpace(again.body) != "[]" || first.body == "[]" || first.status != http.StatusOK {
		t.Errorf("an answer that only reads was kept: %d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
}

// TestAggregateLists asks for several aggregates of one field.
func TestAggregateLists(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "shop,total,day,open\na,1.50,2026-01-01,true\nb,2.00,2026-01-02,false\na,3.00,2026-01-03,true\nb,,,\na,3.00,2026-01-04,false\n")
	path := "/data_feeds/" + f.ID + "/query"
	all := `[{"fn":"sum","as":"sum"},{"fn":"avg","as":"avg"},{"fn":"min","as":"min"},{"fn":"max","as":"max"},{"fn":"count","as":"count"},{"fn":"countDistinct","as":"distinct"}]`
	lowHigh := `[{"fn":"min","as":"low"},{"fn":"max","as":"high"}]`
	for query, want := range map[string]string{
		`{"fields":[{"field":"total","aggregate":` + all + `}]}`:                                          `[{"sum":9.50,"avg":2.375,"min":1.50,"max":3.00,"count":4,"distinct":3}]`,
		`{"fields":[{"field":"day","aggregate":` + lowHigh + `}]}`:                                        `[{"low":"2026-01-01","high":"2026-01-04"}]`,
		`{"fields":[{"field":"open","aggregate":` + lowHigh + `}]}`:                                       `[{"low":false,"high":true}]`,
		`{"fields":[{"field":"shop"},{"field":"total","aggregate":` + lowHigh + `}]}`:                     `[{"shop":"a","low":1.50,"high":3.00},{"shop":"b","low":2.00,"high":2.00}]`,
		`{"fields":[{"field":"total","aggregate":` + lowHigh + `},{"field":"shop","as":"where"}]}`:        `[{"low":1.50,"high":3.00,"where":"a"},{"low":2.00,"high":2.00,"where":"b"}]`,
		`{"fields":[{"field":"total","aggregate":[{"fn":"max"}]}]}`:                                       `[{"total":3.00}]`,
		`{"fields":[{"field":"total","aggregate":[{"fn":"max","as":"x"}]}],"sort":[{"field":"total"}]}`:   `[{"x":3.00}]`,
		`{"fields":[{"field":"total","aggregate":[{"fn":"min","as":"total"},{"fn":"max","as":"high"}]}]}`: `[{"total":1.50,"high":3.00}]`,
		`{"fields":[{"field":"total","aggregate":[{"fn":"min","as":"day"},{"fn":"min","as":"again"}]}]}`:  `[{"day":1.50,"again":1.50}]`,

		`{"fields":[{"field":"shop"},{"field":"total","aggregate":` + lowHigh + `}],"sort":[{"field":"low","order":"desc"}]}`:                                                                    `[{"shop":"b","low":2.00,"high":2.00},{"shop":"a","low":1.50,"high":3.00}]`,
		`{"fields":[{"field":"shop"},{"field":"total","aggregate":` + lowHigh + `,"filters":[{"op":"lt","values":[3]}]}]}`:                                                                       `[{"shop":"a","low":1.50,"high":1.50},{"shop":"b","low":2.00,"high":2.00}]`,
		`{"fields":[{"field":"shop","filters":[{"op":"eq","values":["b"]}]},{"field":"total","aggregate":[{"fn":"count","as":"n"},{"fn":"sum","as":"sum"}]},{"field":"day","aggregate":"max"}]}`: `[{"shop":"b","n":1,"sum":2.00,"day":"2026-01-02"}]`,
		`{"fields":[{"field":"total","aggregate":` + lowHigh + `,"filters":[{"op":"gt","values":[9]}]}]}`:                                                                                        `[{"low":null,"high":null}]`,
	} {
		got := s.send(t, request{method: "POST", path: path, body: query})
		if got.status != 200 || strings.ReplaceAll(strings.TrimSpace(got.body), ",\n", ",") != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	// Pages of groups that are sorted by an aggregate of the list.
	rows, pages := s.follow(t, request{
		method: "POST", path: path,
		body: `{"fields":[{"field":"shop"},{"field":"total","aggregate":` + lowHigh + `}],"sort":[{"field":"high"}],"limit":1}`,
	}, func(int) {})
	if want := `[{"shop":"b","low":2.00,"high":2.00}][{"shop":"a","low":1.50,"high":3.00}]`; strings.ReplaceAll(rows, "\n", "") != want || pages != 2 {
		t.Errorf("%d pages: %s", pages, rows)
	}

	seven := "[" + strings.TrimSuffix(strings.Repeat(`{"fn":"min","as":"x"},`, 7), ",") + "]"
	for aggregate, want := range map[string]string{
		`[]`:                                   "/fields/1/aggregate Must have 1 to 6 elements; it has 0.",
		seven:                                  "/fields/1/aggregate Must have 1 to 6 elements; it has 7.",
		`["min","max"]`:                        "/fields/1/aggregate/0 The element must be an object, not a string.",
		`[{"as":"low"}]`:                       "/fields/1/aggregate/0/fn This field is required.",
		`[{"fn":7}]`:                           "/fields/1/aggregate/0/fn fn must be a string, not a number.",
		`[{"fn":"count_distinct"}]`:            "/fields/1/aggregate/0/fn Must be one of sum, avg, min, max, count, countDistinct. Did you mean countDistinct?",
		`[{"fn":"median"}]`:                    "/fields/1/aggregate/0/fn Must be one of sum, avg, min, max, count, countDistinct.",
		`[{"fn":"min","as":""}]`:               "/fields/1/aggregate/0/as as must not be empty.",
		`[{"fn":"min","name":"low"}]`:          "/fields/1/aggregate/0/name Unknown field.",
		`[{"fn":"min","as":"a"},{"fn":"max"}]`: "/fields/1/aggregate/1/as as is required for a field with several aggregates; it names this aggregate in the result.",
		`[{"fn":"min","as":"a"},{"fn":"max","as":"a"}]`:    `/fields/1/aggregate/1/as The field "a" is listed twice.`,
		`[{"fn":"min","as":"shop"},{"fn":"max","as":"a"}]`: `/fields/1/aggregate/0/as The field "shop" is listed twice.`,
		`[{"fn":"min"}],"as":"low"`:                        "/fields/1/as Remove this member; each aggregate in a list has its own.",
		`{"fn":"min"}`:                                     "/fields/1/aggregate aggregate must be a string, not an object.",
	} {
		query := `{"fields":[{"field":"shop"},{"field":"total","aggregate":` + aggregate + `}]}`
		got := s.send(t, request{method: "POST", path: path, body: query})
		if problem := firstFault(t, got); got.status != 400 || problem != "/problems/invalid-request "+want {
			t.Errorf("%s: %d %s, want %s", query, got.status, problem, want)
		}
	}
	for query, want := range map[string]string{
		`{"fields":[{"field":"shop","aggregate":[{"fn":"sum","as":"a"},{"fn":"min","as":"b"}]}]}`: `/problems/invalid-request /fields/0/aggregate/0/fn "sum" does not apply to a column of type text.`,
		`{"fields":[{"field":"total","aggregate":` + lowHigh + `}],"sort":[{"field":"total"}]}`:   `/problems/invalid-request /sort/0/field The field "total" has several aggregates; sort by low or high.`,
		`{"fields":[{"field":"total"},{"field":"total","as":"x"}]}`:                               `/problems/duplicate-field /fields/1/field The field "total" is listed twice.`,
		`{"fields":[{"field":"total","aggregate":"min","as":"a"},{"field":"total","aggregate":"max","as":"b"}]}`: `/problems/duplicate-field /fields/1/field The field "total" is listed twice; list it once, with a list such as ` +
			`"aggregate": [{"fn": "min", "as": "low"}, {"fn": "max", "as": "high"}].`,
	} {
		got := s.send(t, request{method: "POST", path: path, body: query})
		if problem := firstFault(t, got); got.status != 400 || problem != want {
			t.Errorf("%s: %d %s, want %s", query, got.status, problem, want)
		}
	}
}

// firstFault is the type of a problem, and the place and text of its first fault.
func firstFault(t *testing.T, got reply) string {
	t.Helper()
	p := got.problem(t)
	if len(p.Errors) == 0 {
		t.Fatalf("no faults: %s", got.body)
	}
	return p.Type + " " + strings.TrimPrefix(p.places()[0], "pointer ") + " " + p.Errors[0].Detail
}
