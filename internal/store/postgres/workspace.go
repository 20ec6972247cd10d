package postgres

import (
	"context"
	"strings"

	"github.com/feedmill/feedmill"
)

// RemoveDeliveries removes the deliveries of a workspace with their attempts, among the next
// window of all deliveries: first those that are open, then those that have ended.
func (e engine) RemoveDeliveries(ctx context.Context, workspace feedmill.ID, after string, window int) (next string, n int64, err error) {
	table, from, _ := strings.Cut(after, "/")
	if table == "" {
		table = "open_deliveries"
	}
	var last *string
	var found []string
	err = e.db.pool.QueryRow(ctx, `SELECT max(id), array_agg(id) FILTER (WHERE workspace_id = $2)
		FROM (SELECT id, workspace_id FROM `+table+` WHERE id > $1 ORDER BY id LIMIT $3) d`, from, string(workspace), window).Scan(&last, &found)
	switch {
	case err != nil:
		return "", 0, translate(err)
	case last == nil && table == "open_deliveries":
		return "ended_deliveries/", 0, nil
	case last == nil:
		return "", 0, nil
	}
	next = table + "/" + *last
	if len(found) == 0 {
		return next, 0, nil
	}
	err = e.db.write(ctx, func(tx tx) error {
		for _, delivery := range []string{"attempts WHERE delivery_id", "attempt_bodies WHERE delivery_id", table + " WHERE id"} {
			if n, err = tx.exec(ctx, `DELETE FROM `+delivery+` = ANY($1::text[])`, found); err != nil {
				return err
			}
		}
		return nil
	})
	return next, n, err
}
