package rest

import (
	"net/url"
	"time"

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
	maxAttempts int
	rate        *rate
	rules       []rule
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
)

// body is what a request sends.
type body struct {
	kind string
	json strictjson.Value // of the kind json
	form []param
	text template
}

// The kinds of authentication.
const (
	authNone   = "none"
	authBasic  = "basic"
	authBearer = "bearer"
	authAPIKey = "apiKey"
	authOAuth  = "oauth2ClientCredentials"
	authLogin  = "login"
)

// auth is how requests are signed.
type auth struct {
	kind               string
	username, password string // basic; clientId and clientSecret of oauth2ClientCredentials
	value              string // token of bearer, value of apiKey
	in, name           string // apiKey
	tokenURL           *url.URL
	scope              string
	login              request
	tokenPath          *jsonpath.Path
	header, prefix     string // of login
}

// The kinds of pagination.
const (
	pagesNone   = "none"
	pagesURL    = "nextUrl"
	pagesLink   = "linkHeader"
	pagesCursor = "cursor"
	pagesOffset = "offset"
	pagesNumber = "page"
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
	kind      string
	path      *jsonpath.Path // nextUrl, cursor
	in        string
	param     string
	start     int64
	size      int64 // 0 where it is not sent
	sizeParam string
	maxPages  int64
	maxBytes  int64
}

// incremental is how a fetch asks only for what is new.
type incremental struct {
	column   string
	in       string
	param    string // empty where only {{cursor}} sends it
	start    template
	lookback time.Duration
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
// any, and something at the path, where there is one.
type rule struct {
	status []int
	path   *jsonpath.Path
	action string
}

// CursorColumn is the column whose newest value the next fetch goes on from,
// as records of nested objects name it. Without one every fetch asks for
// everything.
func (s *Spec) CursorColumn() (name string, ok bool) {
	if s.incremental == nil {
		return "", false
	}
	return s.incremental.column, true
}
