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
	db := open(t, config(t, address))
	databasetest.Sums(t, db)
	databasetest.Reals(t, db)
}
