package duckdb_test

import (
	"slices"
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
)

func TestFloats(t *testing.T) {
	path := newPath(t)
	duckdbtest.Write(t, path, slices.Concat(databasetest.SumTable("double"), databasetest.RealTable("float"), databasetest.WholeSumTable("hugeint"))...)()
	db := open(t, path)
	databasetest.WholeSums(t, db, true)
	databasetest.Sums(t, db)
	databasetest.Reals(t, db)
}
