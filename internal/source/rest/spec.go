package rest

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
	request     request
	auth        auth
	pagination  pagination
	incremental *incremental
	// fullEvery is how often everything is fetched again, 0 for never.
	fullEvery   time.Duration
	maxAttempts int
	rate        *rate
	rules       []rule
	tls         *secured // nil for none
	// definedUnder is the version of the reading rules.
	definedUnder feedmill.Rules
	// each is what the request is repeated for, and report how data is made on
	// request; both are nil for neither.
	each   *each
	report *report
	// declared are the secrets that are declared, by their pointers.
	declared map[string]string
	// zone is where days are counted.
	zone *time.Location
	// paths are all that is looked for in an answer, by pagination and rules.
	paths []*jsonpath.Path
}

// request is what is asked for.
type request struct {
	method  string
	url     template
	origin  *url.URL // scheme and host of the URL, which have no tokens
	query   []param
	headers []param
	body    *body
	timeout time.Duration
	// rules is the version of the rules that say what a parameter in the body means.
	rules feedmill.Rules
	// placed are where parameters are sent in a body of JSON, as far as they have been read.
	placed []string
}

// param is a named value, or several of the same name.
type param struct {
	name   string
	values []template
	secret bool
}

// The kinds of bodies.
const (
	bodyJSON = "json"
	bodyForm = "form"
	bodyText = "text"

	bodyGraphQL = "graphql"
)

// body is what a request sends.
type body struct {
	kind string
	json strictjson.Value // of the kinds json and graphql
	form []param
	text template
}

// The kinds of pagination.
const (
	pagesNone   = "none"
	pagesURL    = "nextUrl"
	pagesLink   = "linkHeader"
	pagesCursor = "cursor"
	pagesOffset = "offset"
	pagesNumber = "page"
	pagesRange  = "range"
)

// Where a parameter stands in a request.
const (
	inQuery  = "query"
	inHeader = "header"
	inBody   = "body"
	inCookie = "cookie"
)

// pagination is how one page leads to the next.
type pagination struct {
	kind string
	path *jsonpath.Path // nextUrl, cursor
	// outside is where the token is that is not in a JSON document, nil where it is in one.
	outside   *tokenPlace
	in        string
	param     string
	start     int64
	size      int64 // 0 where it is not sent
	sizeParam string
	maxPages  int64
	maxBytes  int64
	// more, end, total and totalPages are where the source says that there is
	// another page, that this is the last one, how many records there are in
	// all, and how many pages. Each is nil where it is not looked for.
	more, end, total, totalPages *signal
}

// incremental is how a fetch asks only for what is new.
type incremental struct {
	column string // empty where windows alone say what is new
	in     string
	param  string // empty where only {{cursor}} sends it
	start  template
	// numericStart says that start is a number, and so is every cursor that is sent.
	numericStart bool
	lookback     time.Duration
	// format is how times are sent, zero for as they stand in the data.
	format timeFormat
	// step is how long a window of time is, 0 where there are none. The end of
	// one is sent in to, where that is not empty: inclusive says that it is the
	// last time of the window, and not the first after it.
	step      time.Duration
	toIn, to  string
	inclusive bool
}

// rate is how many requests there may be in any such time.
type rate struct {
	requests int
	per      time.Duration
}

// What a rule has done with an answer.
const (
	actionIgnore = "ignore"
	actionFail   = "fail"
	actionRetry  = "retry"
)

// rule says what an answer means that has one of the statuses, where there are
// any, and a value at the path that passes the test, where there is one.
type rule struct {
	status []int
	path   *jsonpath.Path
	test   test
	// says is where the answer says in words what is wrong; nil where path is.
	says   *jsonpath.Path
	action string
}

// CursorColumn is the column whose newest value the next fetch goes on from,
// as records of nested objects name it. Without one every fetch asks for
// everything.
func (s *Spec) CursorColumn() (name string, ok bool) {
	if s.incremental == nil || s.incremental.column == "" {
		return "", false
	}
	return s.incremental.column, true
}
