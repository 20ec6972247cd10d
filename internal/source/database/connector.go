package database

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Connector opens databases of one kind: postgres.Connector, mysql.Connector,
// sqlite.Connector and duckdb.Connector, of the packages of these names.
type Connector interface {
	// Open makes ready to use a database. It need not reach it: [Database.Ping]
	// does. What is wrong with the config itself is a [*feedmill.Error] with
	// pointers into it, such as /sslmode.
	Open(ctx context.Context, c Config) (Database, error)
}

// Config says which database, and what it may be used for.
type Config struct {
	// Host, Port, Database, User and Password are those of a server. A Port of 0
	// is the usual one.
	Host                     string
	Port                     int
	Database, User, Password string
	// TLS is how the connection is protected, in the words of the connector:
	// postgres has disable, prefer, require, verify-ca and verify-full, and mysql
	// off, on and skipVerify.
	TLS string
	// CACert is the authority that vouches for the server, in PEM; empty means those of
	// the system. ClientCert and ClientKey are what the client shows.
	CACert, ClientCert, ClientKey string
	// Path is the file of a sqlite or duckdb database. The caller has checked that
	// it lies in a folder that is allowed, with symbolic links followed.
	Path string

	// Dial makes every connection to a server, by the egress policy. The name is
	// resolved there.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// ConnectTimeout bounds one attempt to connect, and StatementTimeout one
	// statement in the server; zero means [DefaultConnectTimeout] and
	// [DefaultStatementTimeout].
	ConnectTimeout, StatementTimeout time.Duration
	// MaxConns is how many connections there are at most at the same time; zero
	// means [DefaultMaxConns].
	MaxConns int
	// CloseIdle closes connections as soon as they are not used, so that another replica can
	// have them.
	CloseIdle bool
	// Temp is the folder for what outlives no query; empty means that of the system.
	Temp string
}

// What a config means that does not say.
const (
	DefaultConnectTimeout   = 10 * time.Second
	DefaultStatementTimeout = 10 * time.Minute
	DefaultMaxConns         = feedmill.DefaultSessions
)

// WithDefaults is the config with what it does not say.
func (c Config) WithDefaults() Config {
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = DefaultConnectTimeout
	}
	if c.StatementTimeout <= 0 {
		c.StatementTimeout = DefaultStatementTimeout
	}
	if c.MaxConns <= 0 {
		c.MaxConns = DefaultMaxConns
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return c
}

// Database is a database that is only ever read. Its methods may be called at
// the same time. An error is a [*feedmill.SourceFailure] whose Type is one of the
// Problem constants, what ctx ended with, or a fault of the service itself; none
// has a secret in it. When ctx ends the server stops to work on what was asked.
type Database interface {
	// Ping reports whether the database answers to this user.
	Ping(ctx context.Context) error
	// Views lists what this user may read, by schema and name.
	Views(ctx context.Context) ([]View, error)
	// Table describes a view as it is now, and as rules read it. Where there is no such
	// view, the error is of [ProblemView] and has the nearest names.
	Table(ctx context.Context, view string, rules feedmill.Rules) (Table, error)
	// SQLTable describes the rows of a SQL view, which the database checks for itself first.
	// SQL that is refused is a failure of [ProblemSQL], and a user who can do more than read
	// tables is one of [ProblemUser].
	SQLTable(ctx context.Context, v feedmill.SQLView, rules feedmill.Rules) (Table, error)
	// Keys returns the primary and foreign keys of a table.
	Keys(ctx context.Context, schema, name string) (Keys, error)
	// FieldNames returns the names of the fields of all views, by the names of the views.
	FieldNames(ctx context.Context) (map[string][]string, error)
	Close() error
}

// View is something that can be read: a table, a view, a materialised view.
type View struct {
	// Name is as [ViewName] writes it.
	Name string
	// Label is a short text for people, empty where there is none but the name, and
	// Description is the comment of the database, cut to 2 KiB.
	Label, Description string
	Kind               ViewKind
	// RowEstimate is about how many rows there are, -1 where nobody knows.
	RowEstimate int64
	// Cursor is the field by which only what is new can be fetched, and Key are those
	// that tell rows apart, where the service says so.
	Cursor string
	Key    []string
}

// ViewKind is what a view is in its database.
type ViewKind string

// The kinds of views.
const (
	KindTable            ViewKind = "table"
	KindView             ViewKind = "view"
	KindMaterializedView ViewKind = "materializedView"
	KindForeignTable     ViewKind = "foreignTable"
)

// Table is a view as it was when it was described. A column that changes after
// that is a failure of Read, never another meaning.
type Table interface {
	// At is where it is. The schema is empty where views have none.
	At() (schema, name string)
	// SQLView returns the id of the SQL view that the rows are of, empty for any other view.
	SQLView() feedmill.ID
	// Fields are its columns, in their order.
	Fields() []Field
	// Explain is what Read sends for a tree that was resolved over the columns of
	// this table ([Columns]), and what is left to do here.
	Explain(t *query.Tree) Explanation
	// Read runs a tree that was resolved over the columns of this table. It
	// hands on the columns, of which Name and SourceName are those of the outputs,
	// and then the rows, in their order.
	Read(ctx context.Context, t *query.Tree, out Rows) (Done, error)
}

// Joinable is a table that can be joined with others of its database.
type Joinable interface {
	Table
	// Join returns the table with another joined to it. The aliases are those of the table, if
	// nothing is joined to it yet, and of the other. The fields are those of both.
	Join(first, as string, other Table) Table
	// CanJoin returns the error of columns that the database cannot compare exactly; see
	// [query.CheckJoins].
	CanJoin(joins []query.Join) (join, pair int, err error)
}

// Field is a column of a view. Type, Nullable, Precision, Scale, Format and
// Description are known; Name and SourceName are what the database calls it. A
// decimal whose digits the database does not bound has Precision 0.
type Field struct {
	feedmill.Column
	// From is the alias of its view, empty for the first view of a join.
	From string
	// Label is a short text for people, empty where there is none but the name.
	Label string
	// Native is what the database calls its type.
	Native string
	// Zoned reports whether its times have a time zone, and Empty that no row has a value
	// and that its type is therefore only a guess.
	Zoned, Empty bool
	// Identifier says that its numbers name things, so that the database does not add
	// them up.
	Identifier bool
	// Pushdown are the operators that run in the database. The others are tested
	// here, after the rows have come.
	Pushdown []feedmill.FilterOp
}

// aggregates are those that the field can have.
func (f *Field) aggregates() []feedmill.Aggregate {
	return slices.DeleteFunc(query.Aggregates(f.Type), func(fn feedmill.Aggregate) bool { return f.Identifier && isSum(fn) })
}

func isSum(fn feedmill.Aggregate) bool {
	return fn == feedmill.AggregateSum || fn == feedmill.AggregateAvg
}

// Columns are what a query over fields is resolved with.
func Columns(fields []Field) []feedmill.Column {
	columns := make([]feedmill.Column, len(fields))
	for i := range fields {
		columns[i] = fields[i].Column
	}
	return columns
}

// Explanation is what a query comes to.
type Explanation struct {
	// SQL is the statement, with placeholders, and Parameters are the values that
	// are bound to them, in order.
	SQL        string
	Parameters []string
	// Ran is where a filter of the tree runs, and GroupedHere says that the aggregates
	// are made here because one runs here.
	Ran         func(f query.Placed) feedmill.RanIn
	GroupedHere bool
	// Computed are the computed fields that the query needs, and where each is computed.
	Computed []feedmill.RanComputed
}

// Rows takes what is read. [feedmill.FetchSink] is one. An error of it ends the
// reading and comes back as it is.
type Rows interface {
	// Columns is called once, before the first rows.
	Columns(ctx context.Context, columns []feedmill.Column) error
	// Rows takes a vector for each column, which nobody changes any more.
	Rows(ctx context.Context, run []columnar.Vector) error
}

// Done is what reading came to.
type Done struct {
	Rows int64
	// Latest is the greatest value of the field of [feedmill.Query.Since], written
	// as its From is; empty where there was none.
	Latest string
	// Nulls is how many rows have no value of that field, and Ahead how many have a
	// time that lies too far ahead to be the greatest.
	Nulls, Ahead int64
	Warnings     []feedmill.Warning
}
