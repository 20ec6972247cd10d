package database

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

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
	return d.SQLTable(ctx, v, rules)
}

// NoSQLViews is the failure of a service that has no SQL views.
func NoSQLViews() error {
	return Fail(ProblemSQL, "Only connections to databases have SQL views.", nil)
}

// allSQLViews lists the SQL views of a connection by name, without their SQL, of which all views
// together can have 50 MB.
func allSQLViews(ctx context.Context, s Store, of feedmill.Connection) (all []feedmill.SQLView, err error) {
	const step = 20
	for page := (feedmill.Page{Limit: step}); ; {
		some, err := s.SQLViews(ctx, of.Workspace, of.ID, page)
		if err != nil {
			return nil, err
		}
		for _, v := range some {
			v.SQL = ""
			all = append(all, v)
			page.Before = v.ID
		}
		if len(some) < step {
			slices.SortFunc(all, func(a, b feedmill.SQLView) int { return strings.Compare(a.Name, b.Name) })
			return all, nil
		}
	}
}
