package sqlite

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

// style is how SQLite reads SQL. The functions are those of the dialect, and those that SQLite has
// for its own files and extensions; the process that runs it can read the file and nothing else.
var style = database.SQLStyle{
	Brackets: true, Parameters: "?:@$", First: []string{"select", "with", "values"},
	Denied: []string{"feedmill_*", "rows_handle", "load_extension", "fts3_tokenizer", "fts5", "readfile", "writefile", "edit", "pragma_*", "sqlite_*"},
}

// SQLTable describes the rows of a statement that a user wrote, for which its values are looked at.
func (f *file) SQLTable(ctx context.Context, v feedmill.SQLView, rules feedmill.Rules) (database.Table, error) {
	text, err := style.Check(v.SQL)
	if err != nil {
		return nil, err
	}
	key := string(v.ID) + " " + text // which no view is called
	before, stamp := f.known.find(f, key)
	if before != nil {
		return before.under(rules), nil
	}
	t := &table{file: f}
	t.View, t.OfSQL, t.SQL.Select = v.Name, v.ID, text
	err = f.read(ctx, v.Name, func(ctx context.Context) error {
		columns, err := t.columnsOfSQL(ctx)
		if err != nil {
			return err
		}
		err = t.each(ctx, "SELECT encoding <> 'UTF-8' FROM pragma_encoding", nil, func(row []dialect.Cell) error {
			t.SQL.UTF16 = isTrue(row[0])
			return nil
		})
		if err != nil {
			return err
		}
		return t.refused(t.decide(ctx, columns))
	})
	if err != nil {
		return nil, err
	}
	if stamp != "" {
		f.known.keep(t, key, stamp)
	}
	return t.under(rules), nil
}

// columnsOfSQL compiles the statement, alone and as a part of another one, and returns its columns.
func (t *table) columnsOfSQL(ctx context.Context) (columns []*candidate, err error) {
	for _, statement := range []string{t.SQL.Select, "SELECT * FROM " + t.SQL.From()} {
		columns = nil
		var names []string
		err := t.engine.Select(ctx, t.path, dialect.Statement{SQL: statement, Describe: true}, func(row []dialect.Cell) error {
			columns = append(columns, newCandidate(string(row[0].Text), string(row[1].Text)))
			names = append(names, string(row[0].Text))
			return nil
		})
		if err == nil {
			err = database.UniqueNames(names, true)
		}
		if err != nil {
			return nil, t.refused(err)
		}
	}
	return columns, nil
}

// refused is what SQLite says of the statement itself.
func (t *table) refused(err error) error {
	if said, ok := errors.AsType[*dialect.Error](err); ok && (said.Code == dialect.CodeError || said.Code == codeAuth) {
		return database.RefusedSQL(t.SQL.Select, database.Said(said.Message), -1, err)
	}
	return err
}

// codeAuth is the result code of a statement that does more than read.
const codeAuth = 23
