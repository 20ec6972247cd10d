package databasetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// computedExpressions are of every operator and function, and have the traps of databases.
var computedExpressions = []string{
	"count % 7", "count * amount", "amount * amount * 3", "amount + 0.0005", "-amount", "id + 1", "id - count", "amount / 3", "count / id", "round(amount, 1)", "round(amount)", "round(amount * 5, 2)", "floor(amount)", "ceil(amount)", "abs(amount)", "abs(id - 20)",
	"name = 'a'", "name != 'a'", "name > 'a '", "name <= 'Apple'", "not (name = 'İstanbul')", "amount = count", "amount > 1.5 and paid", "paid or count > 1", "not paid", "paid = true", "day = toDate('2026-03-29')", "day > toDate('2026-03-28')",
	"if(paid, amount, count)", "if(amount > 0, 'plus', name)", "coalesce(name, 'none')", "coalesce(amount, count, 0)", "coalesce(paid, false)", "trim(name)", "length(name)", "substring(name, 2)", "substring(name, 0, 3)", "substring(name, 2, 1)", "substring(name, id % 5 - 2, count)",
	"lower(name)", "upper(name)", "concat(name, '-', toText(id))", "year(day)", "month(day)", "day(day)", "daysBetween(day, toDate('2026-03-29'))", "year(at)", "toDate(at)", "toText(count)", "toText(amount)", "toText(day)", "toText(paid)", "toDecimal(name)", "toDecimal(count) + 0.5", "ratio * 2",
}

// randomExpressions is how many expressions are made up.
var randomExpressions = map[bool]int{false: 60, true: 5000}[os.Getenv("FEEDMILL_LONG") != ""]

// testComputed compares computed fields with the values that the reference gives for the same rows.
func testComputed(t *testing.T, table database.Table) {
	r := rand.New(rand.NewPCG(seed, 5))
	all := slices.Clone(computedExpressions)
	for range randomExpressions {
		all = append(all, randomExpression(r, []string{"number", "text", "boolean", "date"}[r.IntN(4)], 3))
	}
	pushed := 0
	for _, source := range all {
		text := fmt.Sprintf(`{"computed":[{"name":"x","expression":%s}],"fields":[{"field":"id"},{"field":"x"}],"sort":[{"field":"id"}],"timezone":"Europe/Paris"}`, Quote(source))
		tree, faults := query.Resolve(Parse(t, text), database.Columns(table.Fields()))
		if err := faults.Err(); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		want, done := reference(t, table, tree)
		got := new(Sink)
		ran, err := database.Run(t.Context(), table, tree, sink{got})
		if fmt.Sprint(err == nil) != fmt.Sprint(want != nil) {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if want == nil {
			continue
		}
		if diff := cmp.Diff(want.Rows, got.Rows); diff != "" || fmt.Sprint(ran.Warnings) != fmt.Sprint(done.Warnings) {
			t.Errorf("%s\n%+v\n%v, want %v (-want +got)\n%s", source, database.ExplainRun(table, tree), ran.Warnings, done.Warnings, diff)
		}
		if database.ExplainRun(table, tree).Computed[0].Reason == "" {
			pushed++
			testUses(t, table, source, want)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d expressions run in the database", pushed, len(all))
}

// reference runs a query with all formulas computed here. It returns nil where one overflows.
func reference(t *testing.T, table database.Table, tree *query.Tree) (*Sink, database.Done) {
	t.Helper()
	got := new(Sink)
	done, err := database.Run(t.Context(), struct{ database.Table }{table}, tree, sink{got})
	if err != nil {
		if strings.Contains(err.Error(), "overflow") {
			return nil, done
		}
		t.Fatal(err)
	}
	return got, done
}

// testUses tests a computed field that the database computes in filters, groups and sort keys.
func testUses(t *testing.T, table database.Table, source string, values *Sink) {
	t.Helper()
	for _, rest := range []string{
		`"fields":[{"field":"id"}],"where":{"field":"x","op":"isNull","inverted":true},"sort":[{"field":"x","order":"desc"},{"field":"id"}]`,
		`"fields":[{"field":"x"},{"field":"id","aggregate":"count"}],"sort":[{"field":"x"}]`,
		`"fields":[{"field":"x","aggregate":[{"fn":"min","as":"a"},{"fn":"max","as":"b"},{"fn":"countDistinct","as":"c"}]}]`,
	} {
		if values.Columns[1].Type == "boolean" {
			rest = strings.Replace(rest, `{"fn":"min","as":"a"},{"fn":"max","as":"b"},`, "", 1)
		}
		text := fmt.Sprintf(`{"computed":[{"name":"x","expression":%s}],%s,"timezone":"Europe/Paris"}`, Quote(source), rest)
		tree, faults := query.Resolve(Parse(t, text), database.Columns(table.Fields()))
		if err := faults.Err(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want, _ := reference(t, table, tree)
		got := new(Sink)
		if _, err := database.Run(t.Context(), table, tree, sink{got}); err != nil {
			t.Fatalf("%s: %v\n%+v", text, err, database.ExplainRun(table, tree))
		}
		if diff := cmp.Diff(want.Rows, got.Rows); diff != "" {
			t.Errorf("%s\n%+v (-want +got)\n%s", text, database.ExplainRun(table, tree), diff)
		}
	}
}

// randomExpression makes up an expression of a type.
func randomExpression(r *rand.Rand, kind string, level int) string {
	one := func(kind string) string { return randomExpression(r, kind, level-1) }
	leaves := map[string][]string{
		"number":  {"id", "count", "amount", "0", "2", "7.25", "0.001", "1000000007"},
		"text":    {"name", "'a'", "'İx '", "''", "'🙂b'", "'it''s'"},
		"boolean": {"paid", "true", "false", "id > 20"},
		"date":    {"day", "toDate('2024-02-29')", "toDate('9999-12-31')"},
	}[kind]
	if level == 0 || r.IntN(6) == 0 {
		return leaves[r.IntN(len(leaves))]
	}
	if r.IntN(8) == 0 {
		return fmt.Sprintf("if(%s, %s, %s)", one("boolean"), one(kind), one(kind))
	}
	if r.IntN(10) == 0 {
		return fmt.Sprintf("coalesce(%s, %s)", one(kind), one(kind))
	}
	switch kind {
	case "number":
		forms := []string{"(%s + %s)", "(%s - %s)", "(%s * %s)", "round(%s, 2)", "floor(%s)", "ceil(%s)", "abs(%s)", "(-%s)", "round(%s * 0.5)", "(%s %% 10)", "(%s / 8)"}
		form := forms[r.IntN(len(forms))]
		if strings.Count(form, "%s") == 2 {
			return fmt.Sprintf(form, one(kind), one(kind))
		}
		return fmt.Sprintf(form, one(kind))
	case "text":
		switch r.IntN(3) {
		case 0:
			return "trim(" + one(kind) + ")"
		case 1:
			return fmt.Sprintf("substring(%s, %d, %d)", one(kind), r.IntN(5)-1, r.IntN(4)-1)
		}
		return fmt.Sprintf("toText(%s)", one([]string{"text", "date", "boolean", "number"}[r.IntN(4)]))
	case "boolean":
		op := []string{"=", "!=", "<", "<=", ">", ">="}[r.IntN(6)]
		switch r.IntN(5) {
		case 0:
			return fmt.Sprintf("(%s %s %s)", one("text"), op, one("text"))
		case 1:
			return fmt.Sprintf("(%s %s %s)", one("number"), op, one("number"))
		case 2:
			return fmt.Sprintf("(%s %s %s)", one("date"), op, one("date"))
		case 3:
			return fmt.Sprintf("(not %s)", one("boolean"))
		}
		return fmt.Sprintf("(%s %s %s)", one("boolean"), []string{"and", "or"}[r.IntN(2)], one("boolean"))
	}
	return leaves[r.IntN(len(leaves))]
}

// testHostileComputed sets names, texts and whole expressions to hostile text. What is not an
// expression is refused; in quotes it is text.
func testHostileComputed(t *testing.T, table database.Table) {
	forms := []string{
		"%[1]s", "id + %[1]s", "%[1]s(id)", "'%[2]s'", `"%[3]s"`, `c."%[3]s"`, "name = '%[2]s'", "name < '%[2]s'", "if(name = '%[2]s', '%[2]s', name)", "coalesce(name, '%[2]s')",
		"trim(concat('%[2]s', name))", "substring('%[2]s', id, 3)", "length('%[2]s') + id", "if(paid, '%[2]s', '%[2]s')", "upper('%[2]s')", "toDate('%[2]s')", "toDecimal('%[2]s')",
	}
	tested := 0
	for _, text := range Hostile {
		for _, form := range forms {
			source := form
			for mark, value := range map[string]string{"%[1]s": text, "%[2]s": strings.ReplaceAll(text, "'", "''"), "%[3]s": strings.ReplaceAll(text, `"`, `""`)} {
				source = strings.ReplaceAll(source, mark, value)
			}
			q := feedmill.Query{
				Computed: []feedmill.Computed{{Name: text, Expression: source}},
				Fields:   []feedmill.Field{{Name: "id"}, {Name: text}}, Sort: []feedmill.Sort{{Name: text}, {Name: "id"}},
			}
			tested++
			tree, faults := query.Resolve(q, database.Columns(table.Fields()))
			if err := faults.Err(); err != nil {
				if !errors.Is(err, feedmill.ErrInvalid) {
					t.Errorf("%q: %v", source, err)
				}
				continue
			}
			want, _ := reference(t, table, tree)
			got := new(Sink)
			if _, err := database.Run(t.Context(), table, tree, sink{got}); err != nil {
				t.Errorf("%q: %v\n%+v", source, err, database.ExplainRun(table, tree))
				continue
			}
			if diff := cmp.Diff(want.Rows, got.Rows); diff != "" {
				t.Errorf("%q: %s", source, diff)
			}
		}
	}
	if tested < 200 {
		t.Errorf("only %d expressions were tested", tested)
	}
	check(t, table, specs[0]) // everything is still there
}
