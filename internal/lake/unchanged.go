package lake

import (
	"context"
	"fmt"
	"strings"
)

// Overlap is rows that can be in both versions because they were fetched again: the
// last ones of the old version, from a number on, and the first ones of the new.
type Overlap struct{ OldFrom, NewTo int64 }

// values selects the values of all columns of the result, and of the rows their
// numbers, of those that hold.
func (s *side) values(holds string) string {
	var selected []string
	for i, sql := range s.columns {
		if sql == "" {
			sql = "NULL"
		}
		selected = append(selected, fmt.Sprintf("%s AS v%d", sql, i))
	}
	return "(SELECT " + strings.Join(selected, ", ") + ", nr FROM " + s.from + holds + ")"
}

// equal is that two rows have the same values in all columns, nulls included.
func (s *side) equal(a, b string) string {
	var all []string
	for i := range s.columns {
		all = append(all, fmt.Sprintf("%s.v%d IS NOT DISTINCT FROM %s.v%d", a, i, b, i))
	}
	return strings.Join(all, " AND ")
}

// matchOverlap finds the new rows that the old version has already, each as often
// as it has them.
func (r *Reader) matchOverlap(ctx context.Context, o Overlap, old, fresh *side) error {
	if old.version.Rows == 0 || fresh.version.Rows == 0 || o.NewTo <= 0 {
		return nil
	}
	var names []string
	for i := range fresh.columns {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	all := strings.Join(names, ", ")
	again := fresh.values(fmt.Sprintf(" WHERE nr < %d", o.NewTo))
	// Most old rows are like none of the new ones, so they are looked at only once.
	there := old.values(fmt.Sprintf(" WHERE nr >= %d", o.OldFrom))
	counted := "(SELECT " + all + ", count(*) AS times FROM (SELECT a.* FROM " + there + " AS a SEMI JOIN " + again + " AS b ON " + fresh.equal("a", "b") + ") GROUP BY " + all + ")"
	sql := "SELECT n.nr FROM (SELECT *, row_number() OVER (PARTITION BY " + all + " ORDER BY nr) AS nth FROM " + again + ") AS n JOIN " +
		counted + " AS o ON " + fresh.equal("n", "o") + " WHERE n.nth <= o.times"
	found, err := r.numbers(ctx, sql, old, fresh)
	fresh.omitted = fresh.omitted.and(found)
	return err
}

// keepUnchanged has old rows stay where they are whose new row is the same, so that
// an order that the source has changed is no change of the data.
func (r *Reader) keepUnchanged(ctx context.Context, old, fresh *side, keys []int) error {
	var names, equal []string
	for _, key := range keys {
		names = append(names, fmt.Sprintf("v%d", key))
		equal = append(equal, fmt.Sprintf("a.v%d = b.v%d", key, key))
	}
	key := strings.Join(names, ", ")
	winners := "(SELECT * FROM " + fresh.values("") + " QUALIFY nr = max(nr) OVER (PARTITION BY " + key + "))"
	matched := "(SELECT a.* FROM " + old.values("") + " AS a SEMI JOIN " + fresh.values("") + " AS b ON " + strings.Join(equal, " AND ") + ")"
	only := "(SELECT * FROM " + matched + " QUALIFY count(*) OVER (PARTITION BY " + key + ") = 1)"
	same := " FROM " + only + " AS o JOIN " + winners + " AS n ON " + fresh.equal("o", "n")
	stay, err := r.numbers(ctx, "SELECT o.nr"+same, old, fresh)
	if err != nil || stay.first() < 0 {
		return err
	}
	left, err := r.numbers(ctx, "SELECT n.nr"+same, old, fresh)
	old.omitted, fresh.omitted = old.omitted.minus(stay), fresh.omitted.and(left)
	return err
}
