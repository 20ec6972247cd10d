package duckdb_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
)

func TestFloats(t *testing.T) {
	path := newPath(t)
	duckdbtest.Write(t, path, append(databasetest.SumTable("double"), databasetest.RealTable("float")...)...)()
	db := open(t, path)
	databasetest.Sums(t, db)
	databasetest.Reals(t, db)
}
