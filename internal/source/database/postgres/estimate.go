package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// maxEstimates is of how many tables the planner is asked for the number of rows.
const maxEstimates = 200

// unknown is a table that was never analyzed.
type unknown struct {
	schema, name string
	at           int
	bytes        int64
}

// estimate asks the planner about tables that were never analyzed: it knows how many pages they
// have. One without pages is empty, which the planner does not believe. It is asked at the end of the
// transaction, because an error ends that.
func (s *server) estimate(ctx context.Context, conn *pgx.Conn, views []database.View, tables []unknown) error {
	var asked []unknown
	var statements []string
	for _, t := range tables {
		if t.bytes == 0 {
			views[t.at].RowEstimate = 0
		} else if len(asked) < maxEstimates {
			asked = append(asked, t)
			statements = append(statements, "EXPLAIN (FORMAT JSON) SELECT 1 FROM "+query.Quote(t.schema)+"."+query.Quote(t.name))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	results, err := execAll(ctx, conn, statements)
	if err != nil && ctx.Err() != nil {
		return s.failure(ctx, err, "")
	}
	for i, r := range results {
		var plans []struct {
			Plan struct {
				Rows float64 `json:"Plan Rows"`
			}
		}
		if i < len(asked) && r.Err == nil && len(r.Rows) == 1 && json.Unmarshal(r.Rows[0][0], &plans) == nil && len(plans) == 1 {
			views[asked[i].at].RowEstimate = int64(plans[0].Plan.Rows)
		}
	}
	return nil // what is not known stays so
}
