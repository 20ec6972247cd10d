package spec

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
	MaxRate         = 1000
	defaultPages    = 1000
	maxPagesEver    = 100_000
)

// readSpec reads the members of the source.
func readSpec(o *object, maxBytes int64) *Spec {
	s := &Spec{Auth: noAuth{}, MaxAttempts: defaultAttempts, declared: o.r.declared, DefinedUnder: o.r.rules}
	readVariables(o)
	readStampWords(o)
	if request := o.object("request"); request != nil {
		s.Request = readRequest(request, "GET")
	} else if !o.Has("request") {
		o.unreadable("request", "This field is required. Set at least url.")
	}
	if a := o.object("auth"); a != nil {
		s.Auth = readAuth(a)
	}
	s.Pagination = readPagination(o, &s.Request, maxBytes)
	s.Incremental = readIncremental(o, &s.Request)
	if retry := o.object("retry"); retry != nil {
		s.MaxAttempts = int(retry.integer("maxAttempts", defaultAttempts, 1, maxAttemptsEver))
		retry.RefuseUnknown()
	}
	s.Rate = readRate(o)
	s.FullEvery = o.duration("fullEvery", 0, minFullEvery, maxFullEvery)
	s.Rules = readRules(o)
	if s.Request.Body != nil && s.Request.Body.Kind == BodyGraphQL {
		s.Rules = append(s.Rules, Rule{Path: GraphQLErrors, Says: graphQLMessage, Action: actionFail})
	}
	s.Zone = readZone(o)
	if s.Report = readReport(o); s.Report != nil && s.Pagination.Param != "" {
		o.r.fault("/pagination/kind", "Pages of a job result must name the next page. Use nextUrl or linkHeader.")
	}
	if o.r.usesTo != "" && (s.Incremental == nil || s.Incremental.Step == 0) {
		o.r.fault(o.r.usesTo, "{{to}} is the end of a window of time, and needs incremental.step.")
	}
	s.Each = readEach(o, s, maxBytes)
	s.TLS = readTLS(o)
	s.secure(o)
	s.Paths = s.lookedFor()
	return s
}

func readRate(o *object) *Rate {
	limit := o.object("rateLimit")
	if limit == nil {
		return nil
	}
	for _, name := range []string{"requests", "per"} {
		if !limit.Has(name) {
			limit.unreadable(name, strictjson.Required)
		}
	}
	r := &Rate{
		Requests: int(limit.integer("requests", 1, 1, MaxRate)),
		Per:      limit.duration("per", time.Second, time.Second, time.Hour),
	}
	limit.RefuseUnknown()
	return r
}

func readRules(o *object) (rules []Rule) {
	for _, f := range o.elements("errors", maxRules) {
		in := o.inner(f)
		if in == nil {
			continue
		}
		var r Rule
		for _, f := range in.elements("status", 100) {
			n, err := strconv.Atoi(string(f.Raw))
			if f.Kind != '0' || err != nil || n < 100 || n > 599 {
				f.Fault("Must be an HTTP status between 100 and 599.")
				continue
			}
			r.Status = append(r.Status, n)
		}
		r.Path = in.path("bodyPath", false)
		r.Test = readTest(in)
		if !in.Has("status") && !in.Has("bodyPath") {
			f.Fault("A rule needs status, bodyPath or both.")
		}
		in.needText("action")
		r.Action = in.choice("action", "", ActionIgnore, actionFail, ActionRetry)
		in.RefuseUnknown()
		rules = append(rules, r)
	}
	return rules
}

func readPagination(o *object, r *Request, maxBytes int64) Pagination {
	p := Pagination{Kind: PagesNone, In: InQuery, MaxPages: defaultPages, MaxBytes: min(DefaultMaxBytes, maxBytes)}
	in := o.object("pagination")
	if in == nil {
		return p
	}
	kind, known := in.kind(PagesNone, PagesURL, PagesLink, PagesCursor, PagesOffset, PagesNumber, PagesRange)
	if !known {
		return p
	}
	p.Kind = kind
	p.MaxPages = in.integer("maxPages", defaultPages, 1, maxPagesEver)
	p.MaxBytes = in.integer("maxBytes", p.MaxBytes, 1, maxBytes)
	if p.Kind == PagesURL || p.Kind == PagesCursor {
		p.Path, p.Outside = in.tokenPath("path")
	}
	switch p.Kind {
	case PagesNone, PagesURL, PagesLink, PagesRange:
		in.refuse(p.Kind, "in", "param", "start", "size", "sizeParam")
	default:
		p.In = in.choice("in", r.Body.home(), InQuery, InHeader, inBody)
		p.Param, _ = in.text("param")
	}
	switch p.Kind {
	case PagesCursor:
		p.Param = in.needText("param")
		in.refuse(p.Kind, "start", "size", "sizeParam")
	case PagesOffset, PagesNumber:
		if !in.Has("param") {
			p.Param = p.Kind
		}
		if p.Kind == PagesNumber {
			p.Start = in.integer("start", 1, 0, 1<<31)
		} else {
			in.refuse(p.Kind, "start")
		}
		p.Size = in.integer("size", 0, 1, 1<<31)
		p.SizeParam, _ = in.text("sizeParam")
		if p.SizeParam != "" {
			in.checkParam("sizeParam", p.SizeParam, p.In, r)
			if p.Size == 0 && !in.Has("size") {
				in.Fault("size", "Required with sizeParam, which sends it.")
			}
		}
	}
	if p.Param != "" {
		in.checkParam("param", p.Param, p.In, r)
	}
	if p.Path == nil && p.Outside == nil {
		in.refuse(p.Kind, "path")
	}
	if p.Kind == PagesNone {
		in.refuse(p.Kind, "more", "end", "total", "totalPages")
	} else {
		p.More, p.End, p.Total, p.TotalPages = in.signal("more"), in.signal("end"), in.signal("total"), in.signal("totalPages")
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
func (o *object) checkParam(field, name, in string, r *Request) {
	switch in {
	case InHeader:
		if wrong := wrongHeader(name); wrong != "" {
			o.Fault(field, wrong)
		}
	case inBody:
		switch {
		case r.Body == nil && r.Method == "GET":
			o.Fault(field, "A parameter in the body requires a request with a body. Set request.method to POST.")
		case r.Body != nil && r.Body.Kind == BodyGraphQL && !strings.HasPrefix(name, "variables."):
			o.Fault(field, "A parameter of a GraphQL request is a variable. Use variables."+name+".")
		case r.Body != nil && r.Body.Kind == bodyText:
			o.Fault(field, "A body of the kind text has no parameters. Use json or form.")
		case r.Body != nil && r.Body.Kind == bodyJSON && r.Body.json.Kind != '{' && !isHidden(&r.Body.json):
			o.Fault(field, "request.body must be a JSON object if parameters are sent in it.")
		case r.Body == nil || r.Body.Kind == bodyJSON || r.Body.Kind == BodyGraphQL:
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
