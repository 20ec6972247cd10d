package duckdb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
)

func TestFloats(t *testing.T) {
	path := newPath(t)
	duckdbtest.Write(t, path, slices.Concat(databasetest.SumTable("double"), databasetest.RealTable("float"), databasetest.WholeSumTable("hugeint"))...)()
	db := open(t, path)
	databasetest.WholeSums(t, db, true)
	const half = "60000000000000000000000000000000000001"
	write(t, path, "CREATE TABLE half (g integer, d decimal(38,0))", "INSERT INTO half VALUES (1, "+half+"), (1, "+half+"), (2, "+half+"), (2, 3), (3, 9"+half[1:]+"), (3, 9"+half[1:]+")")
	table := databasetest.Describe(t, db, "half")
	for group, want := range map[string]string{"1": "", "2": "[[60000000000000000000000000000000000004]]", "3": ""} {
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"d","aggregate":"sum"},{"field":"g","select":false,"filters":[{"op":"eq","values":[`+group+`]}]}]}`))
		if want == "" && (err == nil || !strings.Contains(err.Error(), "more than 38 digits")) || want != "" && (err != nil || fmt.Sprint(got.Rows) != want) {
			t.Errorf("%s: %v %v", group, got.Rows, err)
		}
	}
	databasetest.Sums(t, db)
	databasetest.Reals(t, db)
}
