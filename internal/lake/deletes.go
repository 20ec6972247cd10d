package lake

import (
	"context"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// Deletes says which rows a combination deletes, by their key.
type Deletes struct {
	// Mark is the id of a column of the new version that has a value in the rows that mark
	// a deletion, empty where there is none. Such a row is not stored.
	Mark string
	// Ignore leaves the marked rows out and deletes nothing for them. Otherwise a marked
	// row deletes the row of its key, unless a later new row has the key.
	Ignore bool
	// Rest deletes the old rows whose key no new row has. Rows without a key stay.
	Rest bool
}

// markDeletions finds the new rows that mark deletions. Where these are ignored, the side no
// longer has them.
func (r *Reader) markDeletions(ctx context.Context, d Deletes, fresh *side) (err error) {
	at := slices.IndexFunc(fresh.version.Columns, func(c feedmill.Column) bool { return c.ID == d.Mark })
	if d.Mark == "" || at < 0 {
		return nil
	}
	fresh.deletions, err = r.numbers(ctx, fmt.Sprintf("SELECT nr FROM %s WHERE c%d IS NOT NULL", fresh.from, at), fresh)
	if d.Ignore {
		fresh.from = fmt.Sprintf("(SELECT * FROM %s WHERE c%d IS NULL) AS t", fresh.from, at)
	}
	return err
}

// omitRest leaves out the old rows whose key no new row has.
func (r *Reader) omitRest(ctx context.Context, m matched, old, fresh *side) error {
	sql := m.sql("ANTI") + " WHERE true"
	for i := range m.equal {
		sql += fmt.Sprintf(" AND o.k%d IS NOT NULL", i)
	}
	rest, err := r.numbers(ctx, sql, old, fresh)
	old.omitted = old.omitted.and(rest)
	return err
}
