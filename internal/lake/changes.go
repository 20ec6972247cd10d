package lake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// Comparison is two versions of which it is asked what is different.
type Comparison struct {
	Old, New *Version
	// Key are the ids of the columns by which a row of one version is known in
	// the other. Each row of both versions must have values in them that no
	// other has. Without any, rows are the same that are equal, as often as
	// both versions have them.
	Key []string
	// TextNumbers writes the integers and decimals of old rows as strings.
	TextNumbers bool
}

// The names of the columns that rows of changes have besides those of the
// versions.
const (
	ChangeColumn = "_change"
	BeforeColumn = "_before"
)

// Columns are those of the changes: what happened, the columns of both versions,
// and the old row of one that was updated, as a JSON object of the columns that are
// not hidden. A column that a version lacks is null in its rows; one that has another
// type in each version is of the type that can hold both.
func (c *Comparison) Columns() []feedmill.Column {
	common := c.common()
	for at, i := range feedmill.ShownOrder(common) {
		common[i].Position = at + 2
	}
	return slices.Concat(
		[]feedmill.Column{{ID: ChangeColumn, Name: ChangeColumn, SourceName: ChangeColumn, Type: columnar.TypeText, Position: 1}},
		common,
		[]feedmill.Column{{ID: BeforeColumn, Name: BeforeColumn, SourceName: BeforeColumn, Type: columnar.TypeJSON, Nullable: true, Position: len(common) + 2}},
	)
}

// common are the columns of both versions, those of the new one first.
func (c *Comparison) common() (all []feedmill.Column) {
	taken := map[string]bool{ChangeColumn: true, BeforeColumn: true}
	add := func(column feedmill.Column) {
		name := column.Name
		for n := 2; taken[column.Name]; n++ {
			column.Name = fmt.Sprintf("%s_%d", name, n)
		}
		taken[column.Name] = true
		all = append(all, column)
	}
	find := func(columns []feedmill.Column, id string) int {
		return slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.ID == id })
	}
	for _, column := range c.New.Columns {
		if at := find(c.Old.Columns, column.ID); at >= 0 {
			column = widest(c.Old.Columns[at], column)
		} else {
			column.Nullable = true
		}
		add(column)
	}
	for _, column := range c.Old.Columns {
		if find(c.New.Columns, column.ID) < 0 {
			column.Nullable = true
			add(column)
		}
	}
	return all
}

// widest is a column, as the new version calls it, that can hold what two versions
// of it have.
func widest(old, column feedmill.Column) feedmill.Column {
	column.Nullable = column.Nullable || old.Nullable
	if old.Type == column.Type && old.Precision == column.Precision && old.Scale == column.Scale {
		return column
	}
	if exact, ok := exactBoth(&old, &column); ok {
		old = exact
	} else if _, ok := widened(&old, &column, ""); ok {
		return column
	} else if _, ok := widened(&column, &old, ""); !ok {
		old = feedmill.Column{Type: columnar.TypeText}
	}
	column.Type, column.Precision, column.Scale = old.Type, old.Precision, old.Scale
	return column
}

// Unique reports whether each row of a version has values in the columns of some
// ids, none of which is null, that no other row has.
func (r *Reader) Unique(ctx context.Context, v *Version, ids []string) (bool, error) {
	keys := keyIndexes(v.Columns, ids)
	if keys == nil {
		return false, nil
	}
	s, err := r.side(ctx, v, v.Columns)
	if err != nil || v.Rows == 0 {
		return err == nil, err
	}
	var names, nulls []string
	for _, key := range keys {
		names = append(names, s.columns[key])
		nulls = append(nulls, s.columns[key]+" IS NULL")
	}
	first, err := r.number(ctx, "SELECT min(nr) FROM "+s.from+" GROUP BY "+strings.Join(names, ", ")+" HAVING count(*) > 1 OR "+strings.Join(nulls, " OR ")+" LIMIT 1", s)
	return first < 0, err
}

// keyIndexes are the places of columns by their ids, nil where one is not there.
func keyIndexes(columns []feedmill.Column, ids []string) (keys []int) {
	for _, id := range ids {
		at := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.ID == id })
		if at < 0 {
			return nil
		}
		keys = append(keys, at)
	}
	return keys
}

// CountChanges counts the rows that are different, by their key.
func (r *Reader) CountChanges(ctx context.Context, c Comparison) (n feedmill.RowChanges, err error) {
	d, err := r.compare(ctx, &c)
	if err != nil {
		return n, fmt.Errorf("compare versions: %w", err)
	}
	sql := "WITH " + d.different + " SELECT count(*) FILTER (WHERE o IS NULL), count(*) FILTER (WHERE o IS NOT NULL AND n IS NOT NULL), count(*) FILTER (WHERE n IS NULL) FROM d"
	for batch, err := range r.batches(ctx, wire.Request{SQL: sql, Names: []string{"i", "u", "d"}, Format: wire.FormatArrow, Files: d.files}) {
		if err != nil {
			return n, fmt.Errorf("compare versions: %w", err)
		}
		for i, into := range []*int64{&n.Inserted, &n.Updated, &n.Deleted} {
			*into = batch.Column(i).(*array.Int64).Value(0)
		}
	}
	return n, nil
}

// Changes are the rows that are different, as a version that can be read like any
// other, with [Comparison.Columns]: first those that are gone, in the order of the old
// version, and then those that are new or other ones, in the order of the new version.
// They are found whenever they are read, so nothing has to be kept. Rows is how many they
// are at most.
func (r *Reader) Changes(ctx context.Context, name string, c Comparison) (Version, error) {
	d, err := r.compare(ctx, &c)
	if err != nil {
		return Version{}, fmt.Errorf("compare versions: %w", err)
	}
	columns := c.Columns()
	var parts []sourcePart
	if (c.Old.isLarge() || c.New.isLarge()) && len(d.columns) > 0 {
		if parts, err = r.changedParts(ctx, &c, d); err != nil {
			return Version{}, fmt.Errorf("compare versions: %w", err)
		}
	}
	return Version{
		parts: parts,
		Name:  name, Columns: columns, Rows: d.old.version.Rows + d.new.version.Rows,
		Files: slices.Concat(d.old.version.Files, d.new.version.Files),
		source: "(SELECT *, row_number() OVER () - 1 FROM (" + d.rows() + ")) AS t(" +
			strings.Join(append(numbered("c", len(columns)), "nr"), ", ") + ")",
	}, nil
}

// beforeObject is a row as a JSON object in SQL. With textNumbers, integers and decimals are strings.
func beforeObject(columns []feedmill.Column, values []string, textNumbers bool) string {
	json := feedmill.Column{Type: columnar.TypeJSON}
	parts := make([]string, 0, len(columns))
	for _, i := range feedmill.ShownOrder(columns) {
		if columns[i].Hidden {
			continue
		}
		sql := "'null'"
		if values[i] != "" {
			text, _ := widened(&columns[i], &json, values[i])
			if columns[i].Type == columnar.TypeNumber {
				text = "CASE WHEN isfinite(" + values[i] + ") THEN " + asText(&columns[i], values[i]) + " END"
			}
			if textNumbers && (columns[i].Type == columnar.TypeInteger || columns[i].Type == columnar.TypeDecimal) {
				text = `'"' || ` + asText(&columns[i], values[i]) + ` || '"'`
			}
			sql = "coalesce(CAST(" + text + " AS VARCHAR), 'null')"
		}
		parts = append(parts, quote(jsonText(columns[i].Name)+":")+" || "+sql)
	}
	if len(parts) == 0 {
		return "'{}'"
	}
	return "'{' || " + strings.Join(parts, " || ',' || ") + " || '}'"
}

// typed is a value of a column in SQL, or null.
func typed(sql string, c *feedmill.Column) string {
	if sql == "" {
		sql = "NULL"
	}
	return "CAST(" + sql + " AS " + duckdb.ColumnType(c) + ")"
}
