package databasetest

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
)

// randomQueries is how many queries are made up.
var randomQueries = map[bool]int{false: 300, true: 5000}[os.Getenv("FEEDMILL_LONG") != ""]

// testRandom asks queries that chance has made, of the filters and of others, with
// aggregates, sorting and limits.
func testRandom(t *testing.T, table database.Table) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range randomQueries {
		check(t, table, randomQuery(r))
		if t.Failed() {
			return
		}
	}
}

func randomQuery(r *rand.Rand) string {
	var fields []string
	grouped := r.IntN(2) == 0
	for i := range Columns {
		if i > 0 && r.IntN(2) == 0 {
			continue
		}
		c := &Columns[i]
		parts := []string{`"field":` + Quote(c.Name)}
		switch {
		case i > 0 && r.IntN(4) == 0:
			parts = append(parts, `"select":false`)
		case grouped && (i == 0 || r.IntN(2) == 0):
			parts = append(parts, `"aggregate":"`+randomAggregate(r, c.Type)+`"`)
		}
		if last := parts[len(parts)-1]; grouped && !strings.HasPrefix(last, `"aggregate"`) && last != `"select":false` && r.IntN(3) > 0 {
			units := []string{"day", "week", "month", "quarter", "year", "hour"}
			switch c.Type {
			case columnar.TypeDate:
				parts = append(parts, `"group":"`+units[r.IntN(5)]+`"`)
			case columnar.TypeTimestamp:
				parts = append(parts, `"group":"`+units[r.IntN(6)]+`"`)
			}
		}
		if grouped && r.IntN(3) == 0 {
			parts = append(parts, `"having":[`+randomHaving(r, i)+`]`)
		}
		if own := filtersOf(c.Name); len(own) > 0 {
			var chosen []string
			for range r.IntN(3) {
				filter := own[r.IntN(len(own))]
				if r.IntN(2) == 0 {
					filter = randomFilter(r, i)
				}
				chosen = append(chosen, fmt.Sprintf(`{%s,"inverted":%v}`, filter, r.IntN(2) == 0))
			}
			parts = append(parts, `"filters":[`+strings.Join(chosen, ",")+`]`, fmt.Sprintf(`"filterOption":"%s"`, []string{"all", "any"}[r.IntN(2)]))
		}
		fields = append(fields, "{"+strings.Join(parts, ",")+"}")
	}
	text := `{"fields":[` + strings.Join(fields, ",") + `]`
	if !grouped && r.IntN(2) == 0 {
		c := Columns[1+r.IntN(len(Columns)-2)] // all but JSON
		text += fmt.Sprintf(`,"sort":[{"field":%s,"order":"%s"},{"field":"id"}]`, Quote(c.Name), []string{"asc", "desc"}[r.IntN(2)])
		if r.IntN(2) == 0 {
			text += fmt.Sprintf(`,"limit":%d`, 1+r.IntN(60))
		}
		if r.IntN(2) == 0 {
			text += fmt.Sprintf(`,"offset":%d`, r.IntN(60))
		}
	}
	if r.IntN(3) == 0 {
		text += `,"where":` + randomWhere(r, 1)
	}
	zones := []string{"UTC", "Europe/Paris", "Asia/Kathmandu", "America/Los_Angeles", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/St_Johns"}
	days := []string{"monday", "sunday", "saturday", "wednesday"}
	return text + fmt.Sprintf(`,"timezone":"%s","weekStart":"%s"}`, zones[r.IntN(len(zones))], days[r.IntN(len(days))])
}

// randomWhere makes up a condition on rows.
func randomWhere(r *rand.Rand, level int) string {
	if level == 4 || level > 1 && r.IntN(2) == 0 {
		i := r.IntN(len(Columns))
		return fmt.Sprintf(`{"field":%s,%s,"inverted":%v}`, Quote(Columns[i].Name), randomFilter(r, i), r.IntN(2) == 0)
	}
	var parts []string
	for range 1 + r.IntN(3) {
		parts = append(parts, randomWhere(r, level+1))
	}
	return fmt.Sprintf(`{"%s":[%s]}`, []string{"all", "any"}[r.IntN(2)], strings.Join(parts, ","))
}

// randomHaving makes up a filter on an aggregate of a column.
func randomHaving(r *rand.Rand, column int) string {
	fn := randomAggregate(r, Columns[column].Type)
	filter := randomFilter(r, column)
	if fn == "count" || fn == "countDistinct" || fn == "sum" || fn == "avg" {
		values := []string{fmt.Sprint(r.IntN(4)), "1.5", `"-0.0005"`, "100", "1e30", `"-1e30"`}
		if Columns[column].Type == columnar.TypeNumber { // whose sums depend on the order of the rows
			values = []string{"0.7713", "-3.33", "100.77", "1e30"}
		}
		filter = fmt.Sprintf(`"op":"%s","values":[%s]`, []string{"eq", "gt", "gte", "lt", "lte"}[r.IntN(5)], values[r.IntN(len(values))])
		if r.IntN(6) == 0 {
			filter = `"op":"isNull"`
		}
	}
	return fmt.Sprintf(`{"fn":"%s",%s,"inverted":%v}`, fn, filter, r.IntN(2) == 0)
}

// randomFilter makes up a filter on a column, mostly with values that some rows have.
func randomFilter(r *rand.Rand, column int) string {
	some := func() string {
		for range 20 {
			if v := Rows()[r.IntN(len(Rows()))][column]; v != nil {
				return literalOf(v, &Columns[column])
			}
		}
		return "null"
	}
	switch Columns[column].Type {
	case columnar.TypeJSON:
		return []string{`"op":"isNull"`, `"op":"isEmpty"`}[r.IntN(2)]
	case columnar.TypeBoolean:
		return []string{`"op":"isTrue"`, `"op":"isFalse"`, `"op":"eq","values":[` + some() + `]`}[r.IntN(3)]
	case columnar.TypeText:
		if r.IntN(2) == 0 {
			op := []string{"contains", "startsWith", "endsWith"}[r.IntN(3)]
			return fmt.Sprintf(`"op":"%s","values":[%s,%s],"caseSensitive":%v`, op, Quote(randomText(r)), Quote(randomText(r)), r.IntN(2) == 0)
		}
	}
	one, other := some(), some()
	if one == "null" || other == "null" {
		return `"op":"isNull"`
	}
	op := []string{"eq", "gt", "gte", "lt", "lte", "between"}[r.IntN(6)]
	switch op {
	case "eq":
		return fmt.Sprintf(`"op":"eq","values":[%s,%s,%s]`, one, other, []string{"null", one}[r.IntN(2)])
	case "between":
		return fmt.Sprintf(`"op":"between","values":[%s,%s]`, one, other)
	}
	return fmt.Sprintf(`"op":"%s","values":[%s]`, op, one)
}

// literalOf is a value as a filter has it.
func literalOf(v any, c *feedmill.Column) string {
	switch v := v.(type) {
	case string:
		return Quote(v)
	case *big.Rat:
		return Quote(v.FloatString(c.Scale))
	case float64:
		return Quote(strconv.FormatFloat(v, 'g', -1, 64))
	case time.Time:
		if c.Type == columnar.TypeDate {
			return Quote(v.Format(time.DateOnly))
		}
		return Quote(v.Format(time.RFC3339Nano))
	}
	return fmt.Sprint(v)
}

func filtersOf(column string) (own []string) {
	for _, f := range filters {
		if name, rest, _ := strings.Cut(f, " "); name == column || name == "name" && column == Columns[2].Name {
			own = append(own, rest)
		}
	}
	return own
}

func randomAggregate(r *rand.Rand, t columnar.Type) string {
	fns := []string{"count", "countDistinct", "min", "max", "sum", "avg"}
	switch t {
	case columnar.TypeJSON:
		fns = fns[:1]
	case columnar.TypeText, columnar.TypeBoolean, columnar.TypeDate, columnar.TypeTimestamp:
		fns = fns[:4]
	}
	return fns[r.IntN(len(fns))]
}

// testSince asks for what is new.
func testSince(t *testing.T, table database.Table) {
	for _, column := range []string{"id", "at", "day", "amount", "name", "count"} {
		q := Parse(t, `{"fields":[{"field":"paid"},{"field":"`+column+`"}]}`)
		q.Since = &feedmill.Since{Field: column}
		q.Now = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // no row is ahead of it
		_, done, err := Read(t.Context(), table, q)
		if err != nil || done.Rows != int64(len(Rows())) || done.Latest == "" {
			t.Fatalf("%s: %+v %v", column, done, err)
		}
		greatest := aggregate(feedmill.AggregateMax, Rows(), columnIndex("", column))
		want := 0
		for _, row := range Rows() {
			if v := row[columnIndex("", column)]; v != nil && compareValues(v, greatest) == 0 {
				want++
			}
		}
		q.Since.From = done.Latest
		got, again, err := Read(t.Context(), table, q)
		if err != nil || len(got.Rows) != want || again.Latest != done.Latest || len(got.Columns) != 2 {
			t.Errorf("%s: %d rows from %s on, want %d: %+v %v", column, len(got.Rows), done.Latest, want, again, err)
		}
	}
}

// Hostile are texts that would do harm if they became SQL.
var Hostile = []string{
	`'; DROP TABLE things; --`, `"; DROP TABLE things; --`, "`; DROP TABLE things; --", `\'; DROP TABLE things; --`, `') OR 1=1 --`,
	`$1`, `?`, `:a`, `%s`, "a\x00b", `*/ DROP TABLE things /*`, `things; DELETE FROM things`, `\`, `"`, "`", `'`,
}

// testHostile sets every string of a query to hostile text. A view or field that
// is not there is refused; as an alias or a value it is text.
func testHostile(t *testing.T, db database.Database, table database.Table, view string) {
	for _, text := range Hostile {
		_, err := db.Table(t.Context(), text, feedmill.RulesCurrent)
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || failure.Type != database.ProblemView {
			t.Errorf("the view %q: %v", text, err)
		}
		if _, err := db.Table(t.Context(), view+"."+text, feedmill.RulesCurrent); err == nil {
			t.Errorf("the view %q is there", view+"."+text)
		}
		for _, q := range []feedmill.Query{
			{Fields: []feedmill.Field{{Name: text}}},
			{Fields: []feedmill.Field{{Name: "id"}}, Sort: []feedmill.Sort{{Name: text}}},
			{Fields: []feedmill.Field{{Name: "id"}}, Where: []feedmill.Condition{{Name: text, Filters: []feedmill.Filter{{Op: feedmill.OpIsNull}}}}},
			{Fields: []feedmill.Field{{Name: "id", Aggregate: feedmill.Aggregate(text)}}},
			{Fields: []feedmill.Field{{Name: "id"}}, Since: &feedmill.Since{Field: text}},
		} {
			if _, _, err := Read(t.Context(), table, q); !errors.Is(err, feedmill.ErrInvalid) {
				t.Errorf("%q: %v", text, err)
			}
		}
		for _, op := range []feedmill.FilterOp{feedmill.OpEq, feedmill.OpContains, feedmill.OpStartsWith, feedmill.OpEndsWith, feedmill.OpGt, feedmill.OpLte} {
			for _, sensitive := range []bool{false, true} {
				q := feedmill.Query{
					Fields: []feedmill.Field{{Name: "id", As: text}},
					Where:  []feedmill.Condition{{Name: "name", Filters: []feedmill.Filter{{Op: op, CaseSensitive: sensitive, Values: []feedmill.FilterValue{{Text: text}}}}}},
				}
				got, done, err := Read(t.Context(), table, q)
				if err != nil {
					t.Errorf("%s %q: %v", op, text, err)
					continue
				}
				compare(t, string(op)+" "+text, table, q, got, done)
			}
		}
	}
	check(t, table, specs[0]) // everything is still there
}
