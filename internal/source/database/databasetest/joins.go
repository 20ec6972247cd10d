package databasetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// aliases are those of the joined tables of tests.
var aliases = []string{"b", "c"}

// viewsOf divides the fields of a table into those of its views.
func viewsOf(table database.Table) (views []query.View) {
	for i, f := range table.Fields() {
		if i == 0 || views[len(views)-1].As != f.From {
			views = append(views, query.View{As: f.From})
		}
		last := &views[len(views)-1]
		last.Columns = append(last.Columns, f.Column)
	}
	return views
}

// maxJoined is how many rows a join that chance has made can have.
const maxJoined = 2000

// joinRows joins rows with those of the same table.
func joinRows(joins []feedmill.Join, rows [][]any) [][]any {
	rows, _ = joinSome(joins, rows, math.MaxInt)
	return rows
}

// joinSome is joinRows up to a number of rows. It reports false if there are more.
func joinSome(joins []feedmill.Join, rows [][]any, most int) ([][]any, bool) {
	all := Rows()
	for k, j := range joins {
		var pairs [][2]int
		for _, p := range j.On {
			from, name, ok := strings.Cut(p.Left, ".")
			if !ok || !slices.Contains(aliases[:k], from) {
				from, name = "", p.Left
			}
			pairs = append(pairs, [2]int{columnIndex(from, name), columnIndex("", p.Right)})
		}
		var joined [][]any
		for _, row := range rows {
			found := false
			for _, other := range all {
				if slices.ContainsFunc(pairs, func(p [2]int) bool {
					return row[p[0]] == nil || other[p[1]] == nil || compareValues(row[p[0]], other[p[1]]) != 0
				}) {
					continue
				}
				found = true
				if joined = append(joined, slices.Concat(row, other)); len(joined) > most {
					return nil, false
				}
			}
			if !found && j.Kind == feedmill.JoinLeft {
				joined = append(joined, slices.Concat(row, make([]any, len(Columns))))
			}
		}
		rows = joined
	}
	return rows, true
}

// joinSpecs are the joins and the rest of queries. %s stands for the view.
var joinSpecs = []string{
	// Equal texts are equal in every character: in case, spaces and accents.
	`"joins":[{"view":"%s","as":"b","on":[{"left":"name","right":"name"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"},{"field":"name"},{"field":"name","from":"b","as":"same"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"name","right":` + odd + `}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"}]`,
	`"joins":[{"view":"%s","as":"b","kind":"left","on":[{"left":` + odd + `,"right":"name"},{"left":"count","right":"count"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"count","right":"count"},{"left":"paid","right":"paid"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"amount","right":"amount"},{"left":"paid","right":"paid"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"},{"field":"amount","from":"b"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"ratio","right":"ratio"},{"left":"paid","right":"paid"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"day","right":"day"},{"left":"paid","right":"paid"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"},{"field":"day","from":"b"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"at","right":"at"},{"left":"paid","right":"paid"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other"},{"field":"at","from":"b"}]`,
	// Filters on the right side of a left join apply to the joined row.
	`"joins":[{"view":"%s","as":"b","kind":"left","on":[{"left":"count","right":"id"}]}],"fields":[{"field":"id"},{"field":"name","from":"b","filters":[{"op":"isNull"}]}]`,
	`"joins":[{"view":"%s","as":"b","kind":"left","on":[{"left":"count","right":"id"}]}],"fields":[{"field":"id"},{"field":"id","from":"b","as":"other","filters":[{"op":"eq","values":[1],"inverted":true}]},{"field":"day","from":"b","as":"their"},{"field":"at","from":"b","as":"time"}]`,
	`"joins":[{"view":"%s","as":"b","kind":"left","on":[{"left":"count","right":"id"}]}],"fields":[{"field":"id"}],"sort":[{"field":"id","from":"b","order":"desc"},{"field":"id"}],"limit":30,"offset":2`,
	`"joins":[{"view":"%s","as":"b","kind":"left","on":[{"left":"count","right":"id"}]}],"fields":[{"field":"id","aggregate":"count"},{"field":"name","from":"b","as":"n"},{"field":"amount","from":"b","aggregate":"sum","having":[{"op":"isNull"}]}],"sort":[{"field":"n"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"id","right":"id"}]},{"view":"%s","as":"c","kind":"left","on":[{"left":"b.count","right":"id"},{"left":"id","right":"count"}]}],"fields":[{"field":"id"},{"field":"id","from":"c","as":"third"},{"field":"name","from":"b"}],"where":{"any":[{"from":"c","field":"id","op":"isNull"},{"from":"b","field":"paid","op":"isTrue"}]}`,
	// What the database cannot test is tested here, after the join.
	`"joins":[{"view":"%s","as":"b","on":[{"left":"count","right":"id"}]}],"fields":[{"field":"id"},{"field":"name","from":"b","filters":[{"op":"matches","values":["^[a-z]"]}]}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"count","right":"id"}]}],"fields":[{"field":"name","from":"b","select":false,"filters":[{"op":"matches","values":["^"]}]},{"field":"paid","from":"b"},{"field":"id","aggregate":"sum"}],"sort":[{"field":"paid","from":"b","order":"desc"}]`,
	`"joins":[{"view":"%s","as":"b","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"at","from":"b","group":"month"},{"field":"id","aggregate":"count"}],"timezone":"Europe/Paris"`,
}

// joinedTables are the view, and the view joined with itself once and twice.
func joinedTables(t *testing.T, table database.Table) []database.Table {
	t.Helper()
	tables := []database.Table{table}
	for _, as := range aliases {
		last, ok := tables[len(tables)-1].(database.Joinable)
		if !ok {
			t.Fatalf("%T cannot be joined", table)
		}
		tables = append(tables, last.Join("t", as, table))
	}
	return tables
}

func testJoins(t *testing.T, db database.Database, table database.Table, view, others string) {
	tables := joinedTables(t, table)
	for _, spec := range joinSpecs {
		text := "{" + strings.ReplaceAll(spec, "%s", view) + "}"
		check(t, tables[strings.Count(spec, `"view"`)], text)
	}
	testRandomJoins(t, tables, view)
	testJoinTwo(t, db, table, others)
	testJoinFaults(t, tables[1], view)
}

// testJoinTwo joins the view with one that has nulls, duplicates and a name of the first.
func testJoinTwo(t *testing.T, db database.Database, table database.Table, others string) {
	joined := Describe(t, db, others).(database.Joinable).Join("t", "b", table)
	for text, want := range map[string][][]string{
		`{"joins":[{"view":"things","as":"b","on":[{"left":"part","right":"id"}]}],"fields":[{"field":"name"},{"field":"id","from":"b"}]}`:                                                              {{"10", "1"}, {"20", "1"}, {"30", "2"}, {"40", "2"}, {"50", "2"}},
		`{"joins":[{"view":"things","as":"b","on":[{"left":"line","right":"name"}]}],"fields":[{"field":"name","aggregate":"sum"},{"field":"line"}]}`:                                                   {{"240", "a"}, {"60", "b"}},
		`{"joins":[{"view":"things","as":"b","kind":"left","on":[{"left":"line","right":"name"},{"left":"name","right":"id"}]}],"fields":[{"field":"name"},{"field":"name","from":"b","as":"theirs"}]}`: {{"10", "<null>"}, {"20", "<null>"}, {"30", "<null>"}, {"40", "<null>"}, {"50", "<null>"}},
	} {
		q := Parse(t, text)
		got, _, err := Read(t.Context(), joined, q)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		slices.SortFunc(got.Rows, func(a, b []string) int { return slices.Compare(a, b) })
		if strings.Contains(text, "aggregate") { // how often the texts are among the random rows is unknown
			if len(got.Rows) != 2 || got.Rows[0][1] != "a" || got.Rows[1][1] != "b" {
				t.Errorf("%s: %v", text, got.Rows)
			}
			continue
		}
		if diff := cmp.Diff(want, got.Rows); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
	}
}

// testJoinFaults refuses what cannot be joined.
func testJoinFaults(t *testing.T, table database.Table, view string) {
	for on, detail := range map[string]string{
		`{"left":"id","right":"name"}`:      "the type integer and b.name the type text",
		`{"left":"id","right":"amount"}`:    "the type integer and b.amount the type decimal",
		`{"left":"amount","right":"ratio"}`: "the type decimal and b.ratio the type number",
		`{"left":"day","right":"at"}`:       "the type date and b.at the type timestamp",
		`{"left":"extra","right":"extra"}`:  "json",
		`{"left":"idd","right":"id"}`:       "did you mean",
		`{"left":"b.id","right":"id"}`:      "joins that follow",
		`{"left":"id","right":"nothing"}`:   `no column "b.nothing"`,
		`{"left":"id\u0000","right":"id"}`:  "no column",
		`{"left":"id\";--","right":"name"}`: "no column",
	} {
		q := Parse(t, `{"joins":[{"view":"`+view+`","as":"b","on":[`+on+`]}],"fields":[{"field":"id"}]}`)
		_, _, err := Read(t.Context(), table, q)
		refusal, ok := errors.AsType[*feedmill.Error](err)
		if !ok || len(refusal.Faults) == 0 {
			t.Errorf("%s: %v", on, err)
			continue
		}
		if f := refusal.Faults[0]; detail != "joins that follow" && !strings.Contains(f.Detail, detail) || !strings.HasPrefix(f.Pointer, "/joins/0/on/0/") {
			t.Errorf("%s: %+v", on, f)
		}
	}
}

// testRandomJoins asks queries with joins that chance has made.
func testRandomJoins(t *testing.T, tables []database.Table, view string) {
	r := rand.New(rand.NewPCG(seed, 3))
	for n := 0; n < max(randomQueries/4, 1); {
		text, joins := randomJoinQuery(r, view)
		q := Parse(t, text)
		if _, ok := joinSome(q.Joins, Rows(), maxJoined); !ok {
			continue
		}
		n++
		check(t, tables[joins], text)
		if t.Failed() {
			return
		}
	}
}

// randomJoinQuery makes up a query with one or two joins.
func randomJoinQuery(r *rand.Rand, view string) (text string, joins int) {
	joins = 1 + r.IntN(3)/2
	var list []string
	var fields, order []string
	text = randomQuery(r)
	grouped := strings.Contains(text, `"aggregate"`) || strings.Contains(text, `"group"`) || strings.Contains(text, `"having"`)
	for k := range joins {
		var on []string
		for range 1 + r.IntN(3) {
			left := r.IntN(len(Columns) - 1) // all but JSON
			right := r.IntN(len(Columns) - 1)
			if Columns[left].Type != Columns[right].Type {
				right = left
			}
			name := Columns[left].Name
			if k > 0 && r.IntN(2) == 0 {
				name = aliases[0] + "." + name
			}
			on = append(on, fmt.Sprintf(`{"left":%s,"right":%s}`, Quote(name), Quote(Columns[right].Name)))
		}
		list = append(list, fmt.Sprintf(`{"view":%s,"as":"%s","kind":"%s","on":[%s]}`, Quote(view), aliases[k], []string{"inner", "left"}[r.IntN(2)], strings.Join(on, ",")))
		order = append(order, fmt.Sprintf(`{"from":"%s","field":"id"}`, aliases[k]))
		for i := range Columns {
			if r.IntN(3) > 0 {
				continue
			}
			parts := []string{`"field":` + Quote(Columns[i].Name), `"from":"` + aliases[k] + `"`}
			switch {
			case r.IntN(4) == 0:
				parts = append(parts, `"select":false`)
			case grouped && (Columns[i].Type == columnar.TypeJSON || r.IntN(2) == 0):
				parts = append(parts, `"aggregate":"`+randomAggregate(r, Columns[i].Type)+`"`, fmt.Sprintf(`"as":"%s%d"`, aliases[k], i))
			default:
				parts = append(parts, fmt.Sprintf(`"as":"%s%d"`, aliases[k], i))
			}
			if r.IntN(3) == 0 {
				parts = append(parts, fmt.Sprintf(`"filters":[{%s,"inverted":%v}]`, randomFilter(r, i), r.IntN(2) == 0))
			}
			fields = append(fields, "{"+strings.Join(parts, ",")+"}")
		}
	}
	more := ""
	if len(fields) > 0 {
		more = strings.Join(fields, ",") + ","
	}
	text = strings.Replace(text, `{"fields":[`, `{"joins":[`+strings.Join(list, ",")+`],"fields":[`+more, 1)
	return strings.Replace(text, `sc"},{"field":"id"}]`, `sc"},{"field":"id"},`+strings.Join(order, ",")+`]`, 1), joins // asc or desc
}
