package spec

import (
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Spec is how the data of a source is fetched, with its secrets. It is never
// changed, so goroutines may share it.
type Spec struct {
	Request     Request
	Auth        Auth
	Pagination  Pagination
	Incremental *Incremental
	// FullEvery is how often everything is fetched again, 0 for never.
	FullEvery   time.Duration
	MaxAttempts int
	Rate        *Rate
	Rules       []Rule
	TLS         *TLS // nil for none
	// DefinedUnder is the version of the reading rules.
	DefinedUnder feedmill.Rules
	// Each is what the request is repeated for, and report how data is made on
	// request; both are nil for neither.
	Each   *Each
	Report *Report
	// declared are the secrets that are declared, by their pointers.
	declared map[string]string
	// Zone is where days are counted.
	Zone *time.Location
	// Paths are all that is looked for in an answer, by pagination and rules.
	Paths []*jsonpath.Path
}

// Request is what is asked for.
type Request struct {
	Method  string
	url     Template
	Origin  *url.URL // scheme and host of the URL, which have no tokens
	query   []Param
	headers []Param
	Body    *Body
	Timeout time.Duration
	// rules is the version of the rules that say what a parameter in the body means.
	rules feedmill.Rules
	// placed are where parameters are sent in a body of JSON, as far as they have been read.
	placed []string
}

// Param is a named value, or several of the same name.
type Param struct {
	Name   string
	Values []Template
	secret bool
}

// The kinds of bodies.
const (
	bodyJSON = "json"
	bodyForm = "form"
	bodyText = "text"

	BodyGraphQL = "graphql"
)

// Body is what a request sends.
type Body struct {
	Kind string
	json strictjson.Value // of the kinds json and graphql
	form []Param
	text Template
}

// The kinds of pagination.
const (
	PagesNone   = "none"
	PagesURL    = "nextUrl"
	PagesLink   = "linkHeader"
	PagesCursor = "cursor"
	PagesOffset = "offset"
	PagesNumber = "page"
	PagesRange  = "range"
)

// Where a parameter stands in a request.
const (
	InQuery  = "query"
	InHeader = "header"
	inBody   = "body"
	InCookie = "cookie"
)

// Pagination is how one page leads to the next.
type Pagination struct {
	Kind string
	Path *jsonpath.Path // nextUrl, cursor
	// Outside is where the token is that is not in a JSON document, nil where it is in one.
	Outside   *TokenPlace
	In        string
	Param     string
	Start     int64
	Size      int64 // 0 where it is not sent
	SizeParam string
	MaxPages  int64
	MaxBytes  int64
	// More, End, Total and TotalPages are where the source says that there is
	// another page, that this is the last one, how many records there are in
	// all, and how many pages. Each is nil where it is not looked for.
	More, End, Total, TotalPages *Signal
}

// Incremental is how a fetch asks only for what is new.
type Incremental struct {
	column string // empty where windows alone say what is new
	In     string
	Param  string // empty where only {{cursor}} sends it
	Start  Template
	// NumericStart says that start is a number, and so is every cursor that is sent.
	NumericStart bool
	Lookback     time.Duration
	// Format is how times are sent, zero for as they stand in the data.
	Format TimeFormat
	// Step is how long a window of time is, 0 where there are none. The end of
	// one is sent in to, where that is not empty: inclusive says that it is the
	// last time of the window, and not the first after it.
	Step      time.Duration
	ToIn, To  string
	Inclusive bool
}

// Rate is how many requests there may be in any such time.
type Rate struct {
	Requests int
	Per      time.Duration
}

// What a rule has done with an answer.
const (
	ActionIgnore = "ignore"
	actionFail   = "fail"
	ActionRetry  = "retry"
)

// Rule says what an answer means that has one of the statuses, where there are
// any, and a value at the path that passes the test, where there is one.
type Rule struct {
	Status []int
	Path   *jsonpath.Path
	Test   Test
	// Says is where the answer says in words what is wrong; nil where path is.
	Says   *jsonpath.Path
	Action string
}

// CursorColumn is the column whose newest value the next fetch goes on from,
// as records of nested objects name it. Without one every fetch asks for
// everything.
func (s *Spec) CursorColumn() (name string, ok bool) {
	if s.Incremental == nil || s.Incremental.column == "" {
		return "", false
	}
	return s.Incremental.column, true
}
