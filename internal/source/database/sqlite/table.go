package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

// table is a view as it was described.
type table struct {
	*file
	database.Described[dialect.Table, *dialect.Table]
}

// Join returns the view with another joined to it.
func (t *table) Join(first, as string, other database.Table) database.Table {
	joined := *t
	joined.Described = t.JoinWith(first, as, &other.(*table).Described)
	return &joined
}

const selectColumns = `SELECT x.name, x.type, x."notnull" OR x.pk > 0 AND upper(x.type) = 'INTEGER' AND
       (SELECT count(*) FROM pragma_table_xinfo(?1, 'main') WHERE pk > 0) = 1,
       x.pk > 0 AND upper(x.type) = 'INTEGER' AND (SELECT count(*) FROM pragma_table_xinfo(?1, 'main') WHERE pk > 0) = 1,
       (SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ?1), (SELECT encoding <> 'UTF-8' FROM pragma_encoding)
FROM pragma_table_xinfo(?1, 'main') x WHERE x.hidden <> 1 ORDER BY x.cid`

// describe finds the columns, and types that hold all of their values.
func (t *table) describe(ctx context.Context) error {
	t.SQL.Name = t.View
	var columns []*candidate
	err := t.each(ctx, selectColumns, []string{t.View}, func(row []dialect.Cell) error {
		c := newCandidate(string(row[0].Text), string(row[1].Text))
		c.notNull = isTrue(row[2])
		// A row's number is an integer, and so is what a strict table says is one.
		c.sure = isTrue(row[3]) || isTrue(row[4])
		t.SQL.UTF16 = isTrue(row[5])
		columns = append(columns, c)
		return nil
	})
	if err != nil {
		return err
	}
	if len(columns) == 0 {
		return database.Fail(database.ProblemView, fmt.Sprintf("The view %q has no readable columns.", t.View), nil)
	}
	return t.decide(ctx, columns)
}

// decide finds the types of the columns.
func (t *table) decide(ctx context.Context, columns []*candidate) error {
	if err := t.countKinds(ctx, columns); err != nil {
		return err
	}
	for i, c := range columns {
		field, column := c.decide()
		t.Found = append(t.Found, field)
		t.SQL.Columns = append(t.SQL.Columns, column)
		if c.warning != "" {
			t.Warn(i, feedmill.Warning{Code: feedmill.WarnMisfit, Column: c.name, Count: c.others, Detail: c.warning})
		}
	}
	t.SetPushdown()
	return nil
}

// countKinds counts which kinds of values the columns have that need it.
func (t *table) countKinds(ctx context.Context, columns []*candidate) error {
	// Mostly all values are what is declared, which one pass finds out. Where some may
	// not be, or nothing is declared, it has to be known what they are.
	var declared, open []*candidate
	for _, c := range columns {
		switch {
		case len(c.tests()) == 0:
		case c.kind == "":
			open = append(open, c)
		default:
			declared = append(declared, c)
		}
	}
	if len(declared) > 0 {
		var names []string
		for _, c := range declared {
			names = append(names, dialect.Name(c.name))
		}
		counts, err := t.doubts(ctx, "SELECT "+join(names)+" FROM "+t.SQL.From(), declared)
		if err != nil {
			return err
		}
		for i, c := range declared {
			if counts[i] > 0 {
				open = append(open, c)
			}
		}
	}
	return t.ask(ctx, open)
}

// doubts counts the values of some columns that may not be what the columns are declared
// as, in one pass.
func (t *table) doubts(ctx context.Context, statement string, columns []*candidate) (counts []int64, err error) {
	s := dialect.Statement{SQL: statement}
	for _, c := range columns {
		s.Declared = append(s.Declared, dialect.Declared{Type: c.kind, Precision: c.precision, Scale: c.scale})
	}
	err = t.engine.Select(ctx, t.path, s, func(row []dialect.Cell) error {
		for i := range row {
			counts = append(counts, row[i].Int)
		}
		return nil
	})
	return counts, err
}

func isTrue(c dialect.Cell) bool { return c.Class == dialect.ClassInteger && c.Int == 1 }

// ask counts what the values of some columns are.
func (t *table) ask(ctx context.Context, columns []*candidate) error {
	// Many columns take several passes: a statement may have 2,000 results.
	const most = 200
	for some := range slices.Chunk(columns, most) {
		var asked []string
		for _, c := range some {
			asked = append(asked, c.tests()...)
		}
		err := t.each(ctx, "SELECT "+join(asked)+" FROM "+t.SQL.From(), nil, func(row []dialect.Cell) error {
			each := len(row) / len(some)
			for i, c := range some {
				c.counted(row[i*each : (i+1)*each])
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changed says what became of the view where a statement on it failed: SQLite has
// no code for that.
func (t *table) changed(ctx context.Context, cause error) error {
	if t.SQL.Select != "" {
		_, err := t.columnsOfSQL(ctx)
		return cmp.Or(err, cause)
	}
	there := make(map[string]bool)
	err := t.each(ctx, "SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1", []string{t.View}, func(row []dialect.Cell) error {
		there[string(row[0].Text)] = true
		return nil
	})
	if err != nil {
		return cause
	}
	if len(there) == 0 {
		return database.Fail(database.ProblemView, fmt.Sprintf("The view %q no longer exists.", t.View), cause)
	}
	var gone []string
	for _, c := range t.SQL.Columns {
		if !there[c.Name] {
			gone = append(gone, `"`+c.Name+`"`)
		}
	}
	if len(gone) == 0 {
		return cause
	}
	return database.Fail(database.ProblemField, fmt.Sprintf("The view %q no longer has the column %s.", t.View, strings.Join(gone, ", ")), cause)
}
