package postgres_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func TestSums(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	for _, statement := range databasetest.SumTable("double precision") {
		exec(t, conn, statement)
	}
	databasetest.Sums(t, open(t, config(t, address)))
}
