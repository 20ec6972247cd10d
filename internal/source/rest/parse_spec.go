package rest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Limits of specs.
const (
	defaultAttempts = 5
	maxAttemptsEver = 10
	maxRules        = 20
	maxRate         = 1000
	defaultPages    = 1000
	maxPagesEver    = 100_000
)

// readSpec reads the members of the source.
func readSpec(o *object, maxBytes int64) *Spec {
	s := &Spec{auth: noAuth{}, maxAttempts: defaultAttempts, declared: o.r.declared, definedUnder: o.r.rules}
	readVariables(o)
	readStampWords(o)
	if request := o.object("request"); request != nil {
		s.request = readRequest(request, "GET")
	} else if !o.Has("request") {
		o.unreadable("request", "This field is required. Set at least url.")
	}
	if a := o.object("auth"); a != nil {
		s.auth = readAuth(a)
	}
	s.pagination = readPagination(o, &s.request, maxBytes)
	s.incremental = readIncremental(o, &s.request)
	if retry := o.object("retry"); retry != nil {
		s.maxAttempts = int(retry.integer("maxAttempts", defaultAttempts, 1, maxAttemptsEver))
		retry.RefuseUnknown()
	}
	s.rate = readRate(o)
	s.fullEvery = o.duration("fullEvery", 0, minFullEvery, maxFullEvery)
	s.rules = readRules(o)
	if s.request.body != nil && s.request.body.kind == bodyGraphQL {
		s.rules = append(s.rules, rule{path: graphQLErrors, says: graphQLMessage, action: actionFail})
	}
	s.zone = readZone(o)
	if s.report = readReport(o); s.report != nil && s.pagination.param != "" {
		o.r.fault("/pagination/kind", "Pages of a job result must name the next page. Use nextUrl or linkHeader.")
	}
	if o.r.usesTo != "" && (s.incremental == nil || s.incremental.step == 0) {
		o.r.fault(o.r.usesTo, "{{to}} is the end of a window of time, and needs incremental.step.")
	}
	s.each = readEach(o, s, maxBytes)
	s.tls = readTLS(o)
	s.secure(o)
	s.paths = s.lookedFor()
	return s
}

func readRate(o *object) *rate {
	limit := o.object("rateLimit")
	if limit == nil {
		return nil
	}
	for _, name := range []string{"requests", "per"} {
		if !limit.Has(name) {
			limit.unreadable(name, strictjson.Required)
		}
	}
	r := &rate{
		requests: int(limit.integer("requests", 1, 1, maxRate)),
		per:      limit.duration("per", time.Second, time.Second, time.Hour),
	}
	limit.RefuseUnknown()
	return r
}

func readRules(o *object) (rules []rule) {
	for _, f := range o.elements("errors", maxRules) {
		in := o.inner(f)
		if in == nil {
			continue
		}
		var r rule
		for _, f := range in.elements("status", 100) {
			n, err := strconv.Atoi(string(f.Raw))
			if f.Kind != '0' || err != nil || n < 100 || n > 599 {
				f.Fault("Must be an HTTP status between 100 and 599.")
				continue
			}
			r.status = append(r.status, n)
		}
		r.path = in.path("bodyPath", false)
		r.test = readTest(in)
		if !in.Has("status") && !in.Has("bodyPath") {
			f.Fault("A rule needs status, bodyPath or both.")
		}
		in.needText("action")
		r.action = in.choice("action", "", actionIgnore, actionFail, actionRetry)
		in.RefuseUnknown()
		rules = append(rules, r)
	}
	return rules
}

func readPagination(o *object, r *request, maxBytes int64) pagination {
	p := pagination{kind: pagesNone, in: inQuery, maxPages: defaultPages, maxBytes: min(DefaultMaxBytes, maxBytes)}
	in := o.object("pagination")
	if in == nil {
		return p
	}
	kind, known := in.kind(pagesNone, pagesURL, pagesLink, pagesCursor, pagesOffset, pagesNumber, pagesRange)
	if !known {
		return p
	}
	p.kind = kind
	p.maxPages = in.integer("maxPages", defaultPages, 1, maxPagesEver)
	p.maxBytes = in.integer("maxBytes", p.maxBytes, 1, maxBytes)
	if p.kind == pagesURL || p.kind == pagesCursor {
		p.path, p.outside = in.tokenPath("path")
	}
	switch p.kind {
	case pagesNone, pagesURL, pagesLink, pagesRange:
		in.refuse(p.kind, "in", "param", "start", "size", "sizeParam")
	default:
		p.in = in.choice("in", r.body.home(), inQuery, inHeader, inBody)
		p.param, _ = in.text("param")
	}
	switch p.kind {
	case pagesCursor:
		p.param = in.needText("param")
		in.refuse(p.kind, "start", "size", "sizeParam")
	case pagesOffset, pagesNumber:
		if !in.Has("param") {
			p.param = p.kind
		}
		if p.kind == pagesNumber {
			p.start = in.integer("start", 1, 0, 1<<31)
		} else {
			in.refuse(p.kind, "start")
		}
		p.size = in.integer("size", 0, 1, 1<<31)
		p.sizeParam, _ = in.text("sizeParam")
		if p.sizeParam != "" {
			in.checkParam("sizeParam", p.sizeParam, p.in, r)
			if p.size == 0 && !in.Has("size") {
				in.Fault("size", "Required with sizeParam, which sends it.")
			}
		}
	}
	if p.param != "" {
		in.checkParam("param", p.param, p.in, r)
	}
	if p.path == nil && p.outside == nil {
		in.refuse(p.kind, "path")
	}
	if p.kind == pagesNone {
		in.refuse(p.kind, "more", "end", "total", "totalPages")
	} else {
		p.more, p.end, p.total, p.totalPages = in.signal("more"), in.signal("end"), in.signal("total"), in.signal("totalPages")
	}
	in.RefuseUnknown()
	return p
}

// refuse notes members that a kind has no use for.
func (o *object) refuse(kind string, names ...string) {
	for _, name := range names {
		if o.Knows(name) {
			continue
		}
		if o.Has(name) {
			o.Fault(name, fmt.Sprintf("The kind %s does not use this field. Remove it.", kind))
		}
	}
}

// path reads a JSONPath.
func (o *object) path(name string, needed bool) *jsonpath.Path {
	s, ok := o.text(name)
	if !ok {
		if needed && !o.Has(name) {
			o.unreadable(name, strictjson.Required)
		}
		return nil
	}
	path, err := jsonpath.Parse(s)
	if err != nil {
		o.unreadable(name, "Not a valid JSONPath: "+err.Error()+".")
		return nil
	}
	return path
}

// checkParam says whether a parameter can stand where it is to.
func (o *object) checkParam(field, name, in string, r *request) {
	switch in {
	case inHeader:
		if wrong := wrongHeader(name); wrong != "" {
			o.Fault(field, wrong)
		}
	case inBody:
		switch {
		case r.body == nil && r.method == "GET":
			o.Fault(field, "A parameter in the body requires a request with a body. Set request.method to POST.")
		case r.body != nil && r.body.kind == bodyGraphQL && !strings.HasPrefix(name, "variables."):
			o.Fault(field, "A parameter of a GraphQL request is a variable. Use variables."+name+".")
		case r.body != nil && r.body.kind == bodyText:
			o.Fault(field, "A body of the kind text has no parameters. Use json or form.")
		case r.body != nil && r.body.kind == bodyJSON && r.body.json.Kind != '{' && !isHidden(&r.body.json):
			o.Fault(field, "request.body must be a JSON object if parameters are sent in it.")
		case r.body == nil || r.body.kind == bodyJSON || r.body.kind == bodyGraphQL:
			o.checkMember(field, name, r)
		}
	}
}

func isHidden(n *strictjson.Value) bool { return n.Kind == '"' && n.Text() == hidden }

// ownHeaders are those that HTTP itself or the fetch works with.
var ownHeaders = []string{
	"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
	"accept-encoding", "if-none-match", "if-modified-since", "range", "proxy-authorization", "proxy-connection",
}

func wrongHeader(name string) string {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return "Not a valid header name."
	case slices.Contains(ownHeaders, strings.ToLower(name)):
		return "Feedmill sets this header itself. Remove it."
	}
	return ""
}
