package mysql_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

func TestSums(t *testing.T) {
	db, c := create(t, server(t))
	for _, statement := range databasetest.SumTable("double") {
		exec(t, db, statement)
	}
	databasetest.Sums(t, open(t, c))
}
