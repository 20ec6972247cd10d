package lake

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// Overlap is rows that can be in both versions because they were fetched again: the
// last ones of the old version, from a number on, and the first ones of the new.
type Overlap struct{ OldFrom, NewTo int64 }

// values selects the values of all columns of the result, and of the rows their
// numbers, of those that hold. Where texts are long, SHA-256 sums stand for them.
func (s *side) values(holds string, sums bool) string {
	var selected []string
	for i, sql := range s.columns {
		switch {
		case sql == "":
			sql = "NULL"
		case sums && s.texts[i]:
			sql = "sha256(CAST(" + sql + " AS VARCHAR))"
		}
		selected = append(selected, fmt.Sprintf("%s AS v%d", sql, i))
	}
	return "(SELECT " + strings.Join(selected, ", ") + ", nr FROM " + s.from + holds + ")"
}

// isLarge reports whether rows are so large that not all of them fit into memory.
func (s *side) isLarge() bool { return len(s.scans) > 1 }

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
	sums := old.isLarge() || fresh.isLarge()
	again := fresh.values(fmt.Sprintf(" WHERE nr < %d", o.NewTo), sums)
	// Most old rows are like none of the new ones, so they are looked at only once.
	there := old.values(fmt.Sprintf(" WHERE nr >= %d", o.OldFrom), sums)
	counted := "(SELECT " + all + ", count(*) AS times FROM (SELECT a.* FROM " + there + " AS a SEMI JOIN " + again + " AS b ON " + fresh.equal("a", "b") + ") GROUP BY " + all + ")"
	sql := "SELECT n.nr FROM (SELECT *, row_number() OVER (PARTITION BY " + all + " ORDER BY nr) AS nth FROM " + again + ") AS n JOIN " +
		counted + " AS o ON " + fresh.equal("n", "o") + " WHERE n.nth <= o.times"
	found, err := r.numbers(ctx, sql, old, fresh)
	fresh.omitted = fresh.omitted.and(found)
	return err
}

// keepUnchanged has old rows stay where they are whose new row is the same, so that
// an order that the source has changed is no change of the data. What other rows have the key
// of is found by the keys alone, and whole rows are looked at once: there may be millions.
func (r *Reader) keepUnchanged(ctx context.Context, old, fresh *side, keys []int) error {
	several, err := r.several(ctx, old, fresh, keys)
	if err != nil {
		return err
	}
	var stay, left bitmap
	sums := old.isLarge() || fresh.isLarge()
	same := "SELECT o.nr, n.nr FROM " + old.values("", sums) + " AS o JOIN " + fresh.values("", sums) + " AS n ON " + fresh.equal("o", "n")
	for batch, err := range r.batches(ctx, wire.Request{SQL: same, Names: []string{"o", "n"}, Format: wire.FormatArrow, Files: filesOf(old, fresh)}) {
		if err != nil {
			return err
		}
		olds, isOld := batch.Column(0).(*array.Int64)
		news, isNew := batch.Column(1).(*array.Int64)
		if !isOld || !isNew {
			return fmt.Errorf("numbers of rows are %s and %s", batch.Column(0).DataType(), batch.Column(1).DataType())
		}
		for i, row := range news.Int64Values() {
			if fresh.omitted.has(row) || several.has(olds.Value(i)) {
				continue // another row has its key
			}
			stay.set(olds.Value(i))
			left.set(row)
		}
	}
	old.omitted, fresh.omitted = old.omitted.minus(stay), fresh.omitted.and(left)
	return nil
}

// several are the old rows that share their key with others, of those whose key a new row has.
func (r *Reader) several(ctx context.Context, old, fresh *side, keys []int) (bitmap, error) {
	var olds, news, names, equal []string
	for i, key := range keys {
		olds = append(olds, fmt.Sprintf("%s AS k%d", old.columns[key], i))
		news = append(news, fmt.Sprintf("%s AS k%d", fresh.columns[key], i))
		names = append(names, fmt.Sprintf("k%d", i))
		equal = append(equal, fmt.Sprintf("a.k%d = b.k%d", i, i))
	}
	matched := "(SELECT a.* FROM (SELECT " + strings.Join(olds, ", ") + ", nr FROM " + old.from + ") AS a SEMI JOIN (SELECT " + strings.Join(news, ", ") +
		" FROM " + fresh.from + ") AS b ON " + strings.Join(equal, " AND ") + ")"
	return r.numbers(ctx, "SELECT nr FROM "+matched+" QUALIFY count(*) OVER (PARTITION BY "+strings.Join(names, ", ")+") > 1", old, fresh)
}
