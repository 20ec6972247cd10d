package sqlite

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/feedmill/feedmill"
)

// RemoveDeliveries removes the deliveries of a workspace with their attempts, among the next
// window of all deliveries. It finds them beside the writer.
func (e engine) RemoveDeliveries(ctx context.Context, workspace feedmill.ID, after string, window int) (next string, n int64, err error) {
	from, _ := strconv.ParseInt(after, 10, 64) // empty is the beginning
	var last sql.NullInt64
	var found string
	err = e.db.row(ctx, `SELECT max(seq), json_group_array(seq) FILTER (WHERE workspace_id = ?2)
		FROM (SELECT seq, workspace_id FROM deliveries WHERE seq > ?1 ORDER BY seq LIMIT ?3)`, from, string(workspace), window).Scan(&last, &found)
	if err != nil || !last.Valid {
		return "", 0, translate(err)
	}
	next = strconv.FormatInt(last.Int64, 10)
	if found == "[]" {
		return next, 0, nil
	}
	err = e.db.write(ctx, func(tx *tx) error {
		const some = ` IN (SELECT value FROM json_each(?1))`
		for _, query := range []string{
			`DELETE FROM attempt_bodies WHERE delivery_seq` + some,
			`DELETE FROM attempts WHERE delivery_seq` + some,
			`DELETE FROM deliveries WHERE seq` + some,
		} {
			if n, err = tx.exec(query, found); err != nil {
				return err
			}
		}
		return nil
	})
	return next, n, err
}
