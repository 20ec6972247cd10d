package mysql_test

import (
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// A query that another session killed did not take too long.
func TestKilledQuery(t *testing.T) {
	writer, config := create(t, server(t))
	exec(t, writer, "CREATE VIEW slow AS SELECT SLEEP(600) AS x, 1 AS killed_query")
	table := databasetest.Describe(t, open(t, config), "slow")
	ended := make(chan error, 1)
	go func() {
		_, _, err := databasetest.Read(t.Context(), table, feedmill.Query{})
		ended <- err
	}()
	for id := 0; id == 0; {
		_ = writer.QueryRow("SELECT ID FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep' AND DB = DATABASE()").Scan(&id)
		if id > 0 {
			exec(t, writer, "KILL QUERY ?", id)
		}
	}
	wantProblem(t, <-ended, database.ProblemStatement, "interrupted")
}
