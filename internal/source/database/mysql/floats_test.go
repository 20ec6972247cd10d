package mysql_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

func TestFloats(t *testing.T) {
	db, c := create(t, server(t))
	for _, statement := range databasetest.SumTable("double") {
		exec(t, db, statement)
	}
	for _, statement := range databasetest.RealTable("float") {
		exec(t, db, statement)
	}
	for _, statement := range databasetest.WholeSumTable("decimal(38,0)") {
		exec(t, db, statement)
	}
	opened := open(t, c)
	databasetest.WholeSums(t, opened, false)
	databasetest.Sums(t, opened)
	databasetest.Reals(t, opened)
}
