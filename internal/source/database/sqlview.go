package database

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// SQLDatabase is a database that reads the rows of a statement as a view.
type SQLDatabase interface {
	Database
	// SQLTable describes the rows of a statement that a user wrote, which the database checks for
	// itself first. A statement that is refused is a failure of [ProblemSQL],
	// and a user who may do more than read tables is one of [ProblemUser].
	SQLTable(ctx context.Context, v feedmill.SQLView, rules feedmill.Rules) (Table, error)
}

// KindSQL is the kind of a view that a user wrote in SQL.
const KindSQL ViewKind = "sql"

// WrongSQL is the failure of SQL that a user wrote.
func WrongSQL(detail string, cause error) error { return Fail(ProblemSQL, detail, cause) }

// RefusedSQL is the failure of SQL that the database refuses, in its own words. The position is the
// number of characters before the fault, negative where it is not known.
func RefusedSQL(sql, said string, position int, cause error) error {
	said = strings.TrimSuffix(said, ".")
	if position >= 0 {
		said += " (" + SQLPosition(sql, position) + ")"
	}
	return WrongSQL("The database refused sql: "+said+".", cause)
}

// UnsafeUser is the failure of a user who may do more than SQL of others must. Why completes "The
// database user … ".
func UnsafeUser(user, why string) error {
	return Fail(ProblemUser, fmt.Sprintf("The database user %q %s, so SQL views cannot run as this user. Change the connection to a user that can only read tables.", user, why), nil)
}

// UniqueNames refuses SQL whose columns have no names, or the same. Where fold is set, case does not
// tell names apart.
func UniqueNames(names []string, fold bool) error {
	seen := make(map[string]bool)
	for i, name := range names {
		key := name
		if fold {
			key = strings.ToLower(name)
		}
		if name == "" {
			return WrongSQL(fmt.Sprintf("Column %d of sql has no name. Give it one with AS.", i+1), nil)
		}
		if seen[key] {
			return WrongSQL(fmt.Sprintf("sql has more than one column %q. Give each another name with AS.", feedmill.CutText(name, 100)), nil)
		}
		seen[key] = true
	}
	if len(names) == 0 {
		return WrongSQL("sql must return columns.", nil)
	}
	return nil
}

// viewedDatabase is the database of a connection with its SQL views. It lists only those of the database.
type viewedDatabase struct {
	Database
	store Store
	of    feedmill.Connection
}

// Table describes a view of the database, or a SQL view.
func (d *viewedDatabase) Table(ctx context.Context, view string, rules feedmill.Rules) (Table, error) {
	v, err := d.store.SQLView(ctx, d.of.Workspace, d.of.ID, view)
	if errors.Is(err, feedmill.ErrNotFound) {
		return d.Database.Table(ctx, view, rules)
	}
	if err != nil {
		return nil, err
	}
	return describeSQL(ctx, d.Database, v, rules)
}

// describeSQL describes a SQL view.
func describeSQL(ctx context.Context, db Database, v feedmill.SQLView, rules feedmill.Rules) (Table, error) {
	reader, ok := db.(SQLDatabase)
	if !ok {
		return nil, Fail(ProblemSQL, "This connector has no SQL views.", nil)
	}
	return reader.SQLTable(ctx, v, rules)
}

// sqlViewOf is the id of the SQL view that a table is, empty for any other.
func sqlViewOf(t Table) feedmill.ID {
	if v, ok := t.(interface{ SQLView() feedmill.ID }); ok {
		return v.SQLView()
	}
	return ""
}

// allSQLViews lists the SQL views of a connection by name.
func allSQLViews(ctx context.Context, s Store, of feedmill.Connection) ([]feedmill.SQLView, error) {
	all, err := s.SQLViews(ctx, of.Workspace, of.ID, feedmill.Page{Limit: feedmill.MaxSQLViews})
	slices.SortFunc(all, func(a, b feedmill.SQLView) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}
