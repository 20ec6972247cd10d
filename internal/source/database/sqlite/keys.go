package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/query"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

const (
	selectPrimary = `SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE pk > 0 ORDER BY pk`
	selectForeign = `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?1, 'main') ORDER BY id, seq`
)

// Keys returns the primary and foreign keys of a table. A foreign key that does not name the fields
// of the other table has its primary key.
func (f *file) Keys(ctx context.Context, _, name string) (keys database.Keys, err error) {
	err = f.read(ctx, name, func(ctx context.Context) error {
		if keys.Primary, err = f.names(ctx, selectPrimary, name); err != nil {
			return err
		}
		last := int64(-1)
		err := f.each(ctx, selectForeign, []string{name}, func(row []dialect.Cell) error {
			if row[0].Int != last {
				keys.Foreign = append(keys.Foreign, database.ForeignKey{View: database.ViewName("", string(row[1].Text), true)})
				last = row[0].Int
			}
			k := &keys.Foreign[len(keys.Foreign)-1]
			k.Fields = append(k.Fields, string(row[2].Text))
			if row[3].Class == dialect.ClassText {
				k.References = append(k.References, string(row[3].Text))
			}
			return nil
		})
		for i := range keys.Foreign {
			if k := &keys.Foreign[i]; err == nil && len(k.References) == 0 {
				_, other, _ := database.ParseViewName(k.View)
				k.References, err = f.names(ctx, selectPrimary, other)
			}
		}
		return err
	})
	return keys, err
}

func (f *file) names(ctx context.Context, statement string, args ...string) (names []string, err error) {
	err = f.each(ctx, statement, args, func(row []dialect.Cell) error {
		names = append(names, string(row[0].Text))
		return nil
	})
	return names, err
}

const selectFieldNames = `SELECT l.name, x.name FROM pragma_table_list l JOIN pragma_table_xinfo(l.name, 'main') x
WHERE l.schema = 'main' AND l.type <> 'shadow' AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND x.hidden <> 1 ORDER BY l.name, x.cid`

// FieldNames lists the columns of all tables and views.
func (f *file) FieldNames(ctx context.Context) (map[string][]string, error) {
	names := make(map[string][]string)
	var held database.Inventory
	err := f.read(ctx, "", func(ctx context.Context) error {
		return f.each(ctx, selectFieldNames, nil, func(row []dialect.Cell) error {
			view := database.ViewName("", string(row[0].Text), true)
			names[view] = append(names[view], string(row[1].Text))
			return held.Add(string(row[1].Text))
		})
	})
	return names, err
}

const (
	// estimatesEach is how many tables one statement counts, and countedRows how many rows it counts
	// one by one.
	estimatesEach, countedRows = 200, 1000
)

// estimate counts the rows of small tables, and takes the range of the row numbers of others. A
// table without row numbers stays unknown where it is not small.
func (f *file) estimate(ctx context.Context, views []database.View, tables []counted) error {
	for some := range slices.Chunk(tables, estimatesEach) {
		var parts []string
		for _, t := range some {
			from := query.Quote("main") + "." + query.Quote(t.name)
			beyond := "-1"
			if t.numbered {
				beyond = "(SELECT max(rowid) - min(rowid) + 1 FROM " + from + ")"
			}
			parts = append(parts, fmt.Sprintf("SELECT CASE WHEN n <= %d THEN n ELSE %s END FROM (SELECT count(*) AS n FROM (SELECT 1 FROM %s LIMIT %d))", countedRows, beyond, from, countedRows+1))
		}
		at := 0
		err := f.each(ctx, strings.Join(parts, "\nUNION ALL\n"), nil, func(row []dialect.Cell) error {
			if at < len(some) && row[0].Class == dialect.ClassInteger {
				views[some[at].at].RowEstimate = row[0].Int
			}
			at++
			return nil
		})
		if err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil // a table that cannot be read stays unknown
}

// counted is a table whose rows are estimated.
type counted struct {
	name     string
	at       int
	numbered bool
}
