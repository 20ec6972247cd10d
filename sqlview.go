package feedmill

import (
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// SQLView is a view of a connection that a user wrote in SQL. Queries use it as
// they use the tables and views of the database.
type SQLView struct {
	ID         ID
	Workspace  ID
	Connection ID
	// Name is unique for the connection.
	Name string
	// SQL is one statement that only reads.
	SQL string
	// Fields are the names of its columns, as the database last checked it. Searches use them.
	Fields []string

	CreatedAt time.Time
	UpdatedAt time.Time
}

const (
	// MaxSQLViews is the maximum number of SQL views of a connection.
	MaxSQLViews = 500
	// MaxSQLViewName is the maximum number of characters of the name of a SQL view.
	MaxSQLViewName = 63
	// MaxSQL is the maximum number of bytes of the SQL of a view.
	MaxSQL = 100_000
)

// ReadSQLViewName reads the name of a SQL view.
func ReadSQLViewName(f strictjson.Field) string {
	name, ok := f.Label(MaxSQLViewName)
	if ok && (strings.TrimSpace(name) != name || strings.ContainsAny(name, `."/`)) {
		f.Fault("The name of a SQL view must not contain a dot, a double quote or a slash. It must not start or end with a space.")
	}
	return name
}
