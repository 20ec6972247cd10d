package database

import (
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/suggest"
)

// The types of the failures of databases.
const (
	ProblemUnreachable = "database-unreachable" // no connection, or it broke
	ProblemCredential  = "database-credential"  // the server refused the user
	ProblemPermission  = "database-permission"  // the user may not read the view
	ProblemView        = "unknown-view"         // there is no such view (any more)
	ProblemField       = "unknown-field"        // a column went, or changed its type
	ProblemTimeout     = "database-timeout"     // a statement took too long
	ProblemStatement   = "database-error"       // everything else that a server says
	ProblemTooMuch     = "too-much-here"        // more than can be done outside the database
	ProblemTooLarge    = "preview-too-large"    // rows of more bytes than a preview has
	ProblemBusy        = "connection-busy"      // all sessions of a connection are in use
	ProblemSQL         = "invalid-sql"          // the SQL of a view is refused
	ProblemUser        = "unsafe-user"          // the user may do too much to run SQL of users
)

var titles = map[string]string{
	ProblemUnreachable: "The database cannot be reached",
	ProblemCredential:  "The database refused the user",
	ProblemPermission:  "The user cannot read this",
	ProblemView:        "The view does not exist",
	ProblemField:       "The view has changed",
	ProblemTimeout:     "The database took too long",
	ProblemStatement:   "The database refused the query",
	ProblemTooMuch:     "The query requires too many resources",
	ProblemTooLarge:    "The preview is too large",
	ProblemBusy:        "The connection is busy",
	ProblemSQL:         "The SQL of the view is not valid",
	ProblemUser:        "The database user has too many privileges",

	feedmill.ProblemTypeChanged: "The type of a field changed",
}

// Fail is a failure of a database. The detail must hold no secret.
func Fail(problem, detail string, cause error) *feedmill.SourceFailure {
	return &feedmill.SourceFailure{
		Type: problem, Title: titles[problem], Detail: detail, Cause: cause,
		AuthRequired: problem == ProblemCredential,
	}
}

// NoView is the failure of a view that is not among those there are.
func NoView(view string, views []View) *feedmill.SourceFailure {
	names := make([]string, len(views))
	for i := range views {
		names[i] = views[i].Name
	}
	detail := "No view \"" + view + "\" exists that this user can read."
	if near := suggest.Nearest(view, names); len(near) > 0 {
		detail += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return Fail(ProblemView, detail, nil)
}
