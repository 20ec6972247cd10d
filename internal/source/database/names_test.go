package database_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/source/database"
)

// TestViewNames: what is listed is found again, and no two views have one name.
func TestViewNames(t *testing.T) {
	part := rapid.StringMatching(`[a."é ]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		schema, name := part.Draw(t, "schema"), part.Draw(t, "name")
		for listed, want := range map[string][2]string{
			database.ViewName(schema, name, false): {schema, name},
			database.ViewName(schema, name, true):  {"", name},
			database.ViewName("", name, false):     {"", name},
			database.QualifiedName(schema, name):   {schema, name},
		} {
			gotSchema, gotName, ok := database.ParseViewName(listed)
			if !ok || gotSchema != want[0] || gotName != want[1] {
				t.Fatalf("%q of %q and %q is %q and %q, %v", listed, schema, name, gotSchema, gotName, ok)
			}
		}
	})
	for _, text := range []string{"", ".", "a.", ".a", "a.b.c", `"a`, `"a"b`, `a"b`, `"a".b.c`, `"a"."b`, `a."b"c`} {
		if schema, name, ok := database.ParseViewName(text); ok {
			t.Errorf("%q is %q and %q", text, schema, name)
		}
	}
	for name, listed := range map[string]string{"orders": "orders", "a.b": `"a.b"`, `a"b`: `"a""b"`, "": `""`} {
		if got := database.ViewName("s", name, true); got != listed {
			t.Errorf("%s is listed as %s", name, got)
		}
	}
}
