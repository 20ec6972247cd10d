package sqlite_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

func TestFloats(t *testing.T) {
	writer, db := create(t, "UTF-8")
	for _, statement := range databasetest.SumTable("real") {
		exec(t, writer, statement)
	}
	databasetest.Sums(t, db)
}
