package lake

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// difference is how SQL finds the rows in which versions differ.
type difference struct {
	columns  []feedmill.Column
	old, new *side
	keys     []int
	files    map[string]string
	// different defines d: the numbers of a row in the old version (o) and in the
	// new one (n), null where it is not in it, and about how many bytes of both a worker
	// holds. It is there where there is a key.
	different string
	// textNumbers is that of the [Comparison].
	textNumbers bool
}

// compare prepares the comparison of versions. Files that both have are not looked
// at: their rows are the same.
func (r *Reader) compare(ctx context.Context, c *Comparison) (*difference, error) {
	d := &difference{columns: c.common(), textNumbers: c.TextNumbers}
	var err error
	if d.old, err = r.unshared(ctx, c.Old, c.New, d.columns); err != nil {
		return nil, err
	}
	if d.new, err = r.unshared(ctx, c.New, c.Old, d.columns); err != nil {
		return nil, err
	}
	d.files = filesOf(d.old, d.new)
	if len(c.Key) == 0 {
		return d, nil
	}
	if d.keys = keyIndexes(d.columns, c.Key); d.keys == nil {
		return nil, fmt.Errorf("a key of missing columns")
	}
	var equal []string
	for _, key := range d.keys {
		equal = append(equal, fmt.Sprintf("a.v%d = b.v%d", key, key))
	}
	d.different = "d AS MATERIALIZED (SELECT a.nr AS o, b.nr AS n, CAST(2 * coalesce(a.size, 0) + coalesce(b.size, 0) AS BIGINT) AS size FROM " + d.digests(d.old) + " AS a FULL OUTER JOIN " + d.digests(d.new) + " AS b ON " +
		strings.Join(equal, " AND ") + " WHERE a.digest IS DISTINCT FROM b.digest)"
	return d, nil
}

// unshared is a side with those files of a version alone that another does not
// have.
func (r *Reader) unshared(ctx context.Context, v, other *Version, columns []feedmill.Column) (*side, error) {
	shared := make(map[string]bool)
	for _, file := range other.Files {
		shared[file.Name] = true
	}
	wanted := func(file *feedmill.VersionFile) bool { return !shared[file.Name] && file.Rows > 0 }
	only := Version{Columns: v.Columns}
	for i := range v.Files {
		if wanted(&v.Files[i]) {
			only.Files = append(only.Files, v.Files[i])
			only.Rows += v.Files[i].Rows
		}
	}
	s, err := r.side(ctx, &only, columns)
	if err == nil && only.Rows > 0 {
		s.from, s.scans = v.scanSome("", wanted), nil
	}
	return s, err
}

// rowsOf selects the values of a side, v0 and so on, and the numbers of its rows.
func (d *difference) rowsOf(s *side) string {
	var selected []string
	for i, sql := range s.columns {
		selected = append(selected, fmt.Sprintf("%s AS v%d", typed(sql, &d.columns[i]), i))
	}
	if s.version.Rows == 0 {
		return "(SELECT " + strings.Join(append(selected, "CAST(0 AS BIGINT) AS nr"), ", ") + " WHERE false)"
	}
	return "(SELECT " + strings.Join(append(selected, "nr"), ", ") + " FROM " + s.from + ")"
}

// digests selects the key of the rows of a side, what stands for all of their
// values, their numbers and the bytes of their texts.
func (d *difference) digests(s *side) string {
	selected := []string{"nr", d.size() + " AS size", "hash(" + strings.Join(numbered("v", len(d.columns)), ", ") + ") AS digest"}
	for _, key := range d.keys {
		selected = append(selected, fmt.Sprintf("v%d", key))
	}
	return "(SELECT " + strings.Join(selected, ", ") + " FROM " + d.rowsOf(s) + ")"
}

// rows selects what is different.
func (d *difference) rows() string {
	if d.different == "" {
		return d.multiset()
	}
	selected := []string{"CASE WHEN d.o IS NULL THEN 'insert' WHEN d.n IS NULL THEN 'delete' ELSE 'update' END AS f0"}
	values := make([]string, len(d.columns))
	for i := range d.columns {
		selected = append(selected, fmt.Sprintf("CASE WHEN d.n IS NULL THEN a.v%d ELSE b.v%d END AS f%d", i, i, i+1))
		values[i] = fmt.Sprintf("a.v%d", i)
	}
	selected = append(selected, fmt.Sprintf("CASE WHEN d.o IS NOT NULL AND d.n IS NOT NULL THEN CAST(%s AS JSON) END AS f%d", beforeObject(d.columns, values, d.textNumbers), len(d.columns)+1))
	// What a join looks through is at its left; what it holds is at its right.
	some := func(s *side, nr string) string {
		return "(SELECT r.* FROM " + d.rowsOf(s) + " AS r SEMI JOIN d ON r.nr = d." + nr + ")"
	}
	return "WITH " + d.different + " SELECT " + strings.Join(selected, ", ") + " FROM d LEFT JOIN " + some(d.old, "o") + " AS a ON a.nr = d.o LEFT JOIN " +
		some(d.new, "n") + " AS b ON b.nr = d.n ORDER BY d.n NULLS FIRST, d.o"
}

// multiset selects the rows that one version has more often than the other, each
// as often as that.
func (d *difference) multiset() string {
	names := numbered("v", len(d.columns))
	all := strings.Join(names, ", ")
	if len(d.columns) == 0 {
		return "SELECT 'insert' AS f0, CAST(NULL AS JSON) AS f1 WHERE false"
	}
	counted := "SELECT " + all + ", sum(step) AS times, CASE WHEN sum(step) > 0 THEN min(nr) FILTER (WHERE step > 0) ELSE min(nr) FILTER (WHERE step < 0) END AS nr FROM (SELECT *, 1 AS step FROM " + d.rowsOf(d.new) + " UNION ALL SELECT *, -1 FROM " + d.rowsOf(d.old) +
		") GROUP BY " + all + " HAVING sum(step) <> 0"
	selected := []string{"CASE WHEN times > 0 THEN 'insert' ELSE 'delete' END AS f0"}
	for i, name := range names {
		selected = append(selected, fmt.Sprintf("%s AS f%d", name, i+1))
	}
	selected = append(selected, fmt.Sprintf("CAST(NULL AS JSON) AS f%d", len(names)+1))
	return "SELECT " + strings.Join(selected, ", ") + " FROM (SELECT *, unnest(range(CAST(abs(times) AS BIGINT))) FROM (" + counted + ")) ORDER BY times > 0, nr"
}

// exactBoth is a type for exact numbers that holds all of two others.
func exactBoth(a, b *feedmill.Column) (feedmill.Column, bool) {
	digits := func(c *feedmill.Column) (before, after int, ok bool) {
		switch c.Type {
		case columnar.TypeInteger:
			return 19, 0, true
		case columnar.TypeDecimal:
			return c.Precision - c.Scale, c.Scale, true
		}
		return 0, 0, false
	}
	before, after, ok := digits(a)
	otherBefore, otherAfter, otherOK := digits(b)
	before, after = max(before, otherBefore), max(after, otherAfter)
	if !ok || !otherOK || before+after > columnar.WideDigits {
		return feedmill.Column{}, false
	}
	return feedmill.Column{Type: columnar.TypeDecimal, Precision: before + after, Scale: after}, true
}

// jsonText is a text as JSON has it.
func jsonText(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text can be written
	}
	return string(quoted)
}
