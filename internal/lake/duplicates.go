package lake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// Duplicates are the rows of a version whose key a later row has, too.
type Duplicates struct {
	Rows int64
	// Examples are the keys of the first few, with the numbers of their rows from 1.
	Examples []feedmill.Example
}

const (
	// maxDuplicates is how many duplicates are examples, and maxDuplicateKey how many
	// characters of their keys are kept.
	maxDuplicates   = 3
	maxDuplicateKey = 40
)

// Duplicates finds the rows of a version whose values in the columns of some ids a
// later row has, too. Rows without a value in one of them have no key.
func (r *Reader) Duplicates(ctx context.Context, v *Version, ids []string) (Duplicates, error) {
	keys := keyIndexes(v.Columns, ids)
	if keys == nil || v.Rows == 0 {
		return Duplicates{}, nil
	}
	s, err := r.side(ctx, v, v.Columns)
	if err != nil {
		return Duplicates{}, err
	}
	_, found, err := r.duplicates(ctx, s, v.Columns, keys)
	return found, err
}

// duplicates finds the rows of a side whose key a later one has.
func (r *Reader) duplicates(ctx context.Context, s *side, columns []feedmill.Column, keys []int) (bitmap, Duplicates, error) {
	rows, err := r.numbers(ctx, s.superseded(keys), s)
	rows = rows.minus(s.deletions) // marks of deletions are not rows
	if err != nil || rows.first() < 0 {
		return rows, Duplicates{}, err
	}
	found := Duplicates{Rows: rows.count()}
	found.Examples, err = r.keyTexts(ctx, s, columns, keys, rows.least(maxDuplicates))
	return rows, found, err
}

// keyTexts are the keys of some rows as text.
func (r *Reader) keyTexts(ctx context.Context, s *side, columns []feedmill.Column, keys []int, rows []int64) (examples []feedmill.Example, err error) {
	var texts, numbers []string
	for _, key := range keys {
		texts = append(texts, asText(&columns[key], s.columns[key]))
	}
	for _, row := range rows {
		numbers = append(numbers, fmt.Sprint(row))
	}
	sql := fmt.Sprintf("SELECT nr, left(%s, %d) FROM %s WHERE nr IN (%s)", strings.Join(texts, " || ', ' || "), maxDuplicateKey, s.from, strings.Join(numbers, ", "))
	for batch, err := range r.batches(ctx, wire.Request{SQL: sql, Names: []string{"nr", "key"}, Format: wire.FormatArrow, Files: s.files}) {
		if err != nil {
			return nil, err
		}
		nrs, isNumber := batch.Column(0).(*array.Int64)
		if !isNumber {
			return nil, fmt.Errorf("numbers of rows are %s", batch.Column(0).DataType())
		}
		for i, nr := range nrs.Int64Values() {
			examples = append(examples, feedmill.Example{Row: nr + 1, Value: batch.Column(1).ValueStr(i)})
		}
	}
	slices.SortFunc(examples, func(a, b feedmill.Example) int { return int(a.Row - b.Row) })
	return examples, nil
}

// superseded selects the rows whose key a later one has, too.
func (s *side) superseded(keys []int) string {
	var selected, groups, equal []string
	for i, key := range keys {
		selected = append(selected, fmt.Sprintf("%s AS k%d", s.columns[key], i))
		groups = append(groups, fmt.Sprintf("k%d", i))
		equal = append(equal, fmt.Sprintf("n.k%d = d.k%d", i, i))
	}
	rows := "(SELECT " + strings.Join(selected, ", ") + ", nr FROM " + s.from + ")"
	names := strings.Join(groups, ", ")
	return "SELECT n.nr FROM " + rows + " AS n JOIN (SELECT " + names + ", max(nr) AS last FROM " + rows +
		" GROUP BY " + names + " HAVING count(*) > 1) AS d ON " + strings.Join(equal, " AND ") + " WHERE n.nr < d.last"
}
