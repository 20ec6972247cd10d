package postgres_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func TestFloats(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	for _, statement := range databasetest.SumTable("double precision") {
		exec(t, conn, statement)
	}
	for _, statement := range databasetest.RealTable("real") {
		exec(t, conn, statement)
	}
	for _, statement := range databasetest.WholeSumTable("numeric") {
		exec(t, conn, statement)
	}
	db := open(t, config(t, address))
	databasetest.WholeSums(t, db, true)
	exec(t, conn, "ALTER TABLE whole ALTER d TYPE numeric(38,0)")
	databasetest.WholeSums(t, db, false)
	databasetest.Sums(t, db)
	databasetest.Reals(t, db)
}
