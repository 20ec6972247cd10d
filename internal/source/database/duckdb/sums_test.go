package duckdb_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
)

func TestSums(t *testing.T) {
	path := newPath(t)
	duckdbtest.Write(t, path, databasetest.SumTable("double")...)()
	databasetest.Sums(t, open(t, path))
}
