package databasetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Others is the name of a second table. It has a key of two columns with a null in the second
// one, and a column whose name the first table has too.
const Others = "others"

// OtherColumns and OtherRows are what the table has.
var (
	OtherColumns = []feedmill.Column{{Name: "part", Type: columnar.TypeInteger}, {Name: "line", Type: columnar.TypeText, Nullable: true}, {Name: "name", Type: columnar.TypeInteger, Nullable: true}}
	OtherRows    = [][]any{{1, "a", 10}, {1, "b", 20}, {2, "a", 30}, {2, "a", 40}, {2, nil, 50}}
)

// OtherStatements create the table, in SQL that every database takes.
var OtherStatements = []string{
	"CREATE TABLE others (part INTEGER NOT NULL, line VARCHAR(20), name INTEGER)",
	"INSERT INTO others VALUES (1, 'a', 10), (1, 'b', 20), (2, 'a', 30), (2, 'a', 40), (2, NULL, 50)",
}

// testTwo reads two tables of one database in turns: what is known of one is never taken for the
// other.
func testTwo(t *testing.T, db database.Database, view, others string) {
	views, err := db.Views(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{view, others} {
		if n := len(slices.DeleteFunc(slices.Clone(views), func(v database.View) bool { return v.Name != name })); n != 1 {
			t.Errorf("%d views are called %s", n, name)
		}
	}
	first, other := Describe(t, db, view), Describe(t, db, others)
	for range 2 {
		fields := other.Fields()
		if len(fields) != len(OtherColumns) {
			t.Fatalf("%s has the fields %+v", others, fields)
		}
		for i, want := range OtherColumns {
			if fields[i].Name != want.Name || fields[i].Type != want.Type || fields[i].Nullable != want.Nullable {
				t.Errorf("field %d of %s is %+v", i, others, fields[i].Column)
			}
		}
		testFields(t, first)
		check(t, first, specs[0])
		for text, want := range map[string][][]string{
			`{"fields":[{"field":"part"},{"field":"line"},{"field":"name","aggregate":"sum","as":"total"}]}`:                                                                            {{"1", "a", "10"}, {"1", "b", "20"}, {"2", "<null>", "50"}, {"2", "a", "70"}},
			`{"fields":[{"field":"name"},{"field":"part","select":false,"filters":[{"op":"eq","values":[2]}]},{"field":"line","select":false,"filters":[{"op":"eq","values":["a"]}]}]}`: {{"30"}, {"40"}},
			`{"fields":[{"field":"name"},{"field":"part","select":false,"filters":[{"op":"eq","values":[2]}]},{"field":"line","select":false,"filters":[{"op":"isNull"}]}]}`:            {{"50"}},
		} {
			got, _, err := Read(t.Context(), other, Parse(t, text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			slices.SortFunc(got.Rows, func(a, b []string) int { return slices.Compare(a, b) })
			if diff := cmp.Diff(want, got.Rows); diff != "" {
				t.Errorf("%s (-want +got)\n%s", text, diff)
			}
		}
		other, first = Describe(t, db, others), Describe(t, db, view)
	}
}
