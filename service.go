package feedmill

// Service is something that queries run on.
type Service struct {
	Name      string
	Title     string
	Connector string
	Status    ServiceStatus
}

// ServiceStatus says whether a service can be asked.
type ServiceStatus string

// The states of a service.
const (
	ServiceConnected     ServiceStatus = "connected"
	ServiceNotConfigured ServiceStatus = "notConfigured"
	ServicePersonal      ServiceStatus = "personal"
)

// ServiceView is something of a service that can be read, such as a table.
type ServiceView struct {
	Name               string
	Label, Description string
	Kind               string
	// RowEstimate is about how many rows there are, -1 where nobody knows.
	RowEstimate int64
	// Cursor is the field by which only what is new can be fetched, and Key are those
	// that tell rows apart, where the service says so.
	Cursor string
	Key    []string
	// MatchedFields are the fields whose names have the text of a search.
	MatchedFields []string
}

// FieldReference is the field that a foreign key leads to.
type FieldReference struct{ View, Field string }

// ServiceField is a column of a view.
type ServiceField struct {
	Column
	Label string
	// Native is what the source calls the type.
	Native string
	// Operators are those that the field can be filtered with, and Pushdown those
	// of them that run in the source.
	Operators, Pushdown []FilterOp
	// Aggregates are those that the field can have.
	Aggregates []Aggregate
	// PrimaryKey says that the field is part of the primary key, and References is the field that a
	// foreign key leads to, nil for none.
	PrimaryKey bool
	References *FieldReference
	// Samples are a few values as JSON.
	Samples [][]byte
}

// QueryPlan is what a query comes to in its source.
type QueryPlan struct {
	// SQL is the statement, and Parameters are the values that are bound to it.
	SQL        string
	Parameters []string
	Bounds     []QueryBounds
	// Filters are those of the query, in its order, and GroupedHere says that its
	// aggregates were made here, of the rows that came.
	Filters     []RanFilter
	GroupedHere bool
	// Computed are the computed fields that the query needs.
	Computed []RanComputed
}

// RanFilter is a filter of a query and where it ran.
type RanFilter struct {
	Field string
	// Fn is the aggregate that a filter of having tests.
	Fn       Aggregate
	Op       FilterOp
	Inverted bool
	RanIn    RanIn
}

// RanIn is where a filter of a query ran.
type RanIn string

// The places. Of a filter that ran in both, the source was told what it can be told, so
// that fewer rows came, and each of those was tested here.
const (
	RanInSource RanIn = "source"
	RanInHere   RanIn = "here"
	RanInBoth   RanIn = "both"
)

// QueryBounds is the time that a filter of a query came to: from and including
// From, up to and not including To.
type QueryBounds struct {
	Field    string
	Op       FilterOp
	From, To string
}

// Provider is where people sign in for a service, by authorization code (RFC 6749)
// with PKCE.
type Provider struct {
	AuthorizeURL, TokenURL string
	// RevokeURL is where a grant is given back, empty where that cannot be done.
	RevokeURL string
	// Issuer is how the provider names itself in its answers (RFC 9207), empty
	// where it does not.
	Issuer string
	Scopes []string
	// Parameters are sent along to the authorization.
	Parameters map[string]string
}

// OAuthClient is what the operator has registered at a provider.
type OAuthClient struct{ ID, Secret string }
