package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// loginAuth is a request whose response has a token.
type loginAuth struct {
	noAuth
	request request
	// The token is at tokenPath of the response, or in one of its headers or cookies.
	tokenPath                *jsonpath.Path
	tokenHeader, tokenCookie string
	// header is where the token is sent, behind a prefix.
	header, prefix string
}

// readLogin reads a request whose response has the token.
func readLogin(o *object) auth {
	a := &loginAuth{header: "Authorization", prefix: "Bearer"}
	if in := o.object("request"); in != nil {
		cursor := o.r.usesCursor
		if a.request = readRequest(in, "POST"); o.r.usesCursor != cursor {
			o.r.fault(o.r.usesCursor, "A login request cannot use the cursor.")
		}
		if body := in.Value.Member("body"); body != nil && body.Member("value") != nil {
			at := in.pointer("body") + "/value"
			o.r.secrets = slices.DeleteFunc(o.r.secrets, func(p string) bool { return strings.HasPrefix(p, at+"/") })
			o.r.secrets = append(o.r.secrets, at)
		}
	} else if !o.Has("request") {
		o.unreadable("request", strictjson.Required)
	}
	given := 0
	for _, name := range []string{"tokenPath", "tokenHeader", "tokenCookie"} {
		if o.Has(name) {
			given++
		}
	}
	if given != 1 {
		o.unreadable("tokenPath", "Set one of tokenPath, tokenHeader and tokenCookie to where the response contains the token.")
	}
	a.tokenPath = o.path("tokenPath", false)
	a.tokenHeader, _ = o.text("tokenHeader")
	if a.tokenCookie, _ = o.text("tokenCookie"); a.tokenCookie != "" {
		a.header, a.prefix = "Cookie", a.tokenCookie+"="
	}
	if s, ok := o.text("header"); ok {
		a.header = s
		if wrong := wrongHeader(s); wrong != "" {
			o.Fault("header", wrong)
		}
		if !strings.EqualFold(s, "Authorization") && (a.tokenCookie == "" || !strings.EqualFold(s, "Cookie")) {
			a.prefix = ""
		}
	}
	if s, ok := o.text("prefix"); ok {
		a.prefix = s
		if !httpguts.ValidHeaderFieldValue(s) {
			o.Fault("prefix", "Contains characters that are not allowed in a header, such as line breaks.")
		}
	}
	return a
}

type loginSigner struct {
	plainSigner
	*loginAuth
}

func (a loginSigner) sign(request *http.Request, token string) {
	request.Header.Set(a.header, prefixed(a.prefix, token))
}

func (a loginSigner) receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver {
	return func(ctx context.Context, _ *tokenSlot) (receivedToken, error) { return a.login(ctx, r, traced) }
}

func (a *loginAuth) places() []NamedURL { return []NamedURL{{"/auth/request/url", a.request.origin}} }

func (a *loginAuth) tell(add func(...string)) {
	add("login", a.header, a.prefix)
	if a.request.origin != nil {
		body, _, _ := a.request.payload(moment{}, nil)
		add(a.request.url.text, body)
	}
	tellParams(add, a.request.query, a.request.headers)
}

func (a *loginAuth) hide(m *mask) {
	m.addRequest(&a.request)
	if b := a.request.body; b != nil {
		m.addNode(&b.json, true)
		m.add(b.text.text)
		for _, p := range b.form {
			m.addTemplates(p.values)
		}
	}
}

// login makes the request and finds the token in its answer.
func (a loginSigner) login(ctx context.Context, r *run, traced *[]feedmill.TracedRequest) (receivedToken, error) {
	q := &a.request
	build := func(ctx context.Context) (*http.Request, error) {
		target, err := q.address(r.at)
		if err != nil {
			return nil, err
		}
		body, contentType, err := q.payload(r.at, nil)
		if err != nil {
			return nil, err
		}
		request, err := newRequest(ctx, q.method, target, body, contentType)
		if err != nil {
			return nil, err
		}
		return request, q.setHeaders(request, r.at)
	}
	if a.tokenPath != nil {
		found, err := r.askToken(ctx, build, q.timeout, traced, nil, a.tokenPath)
		if err != nil {
			return receivedToken{}, err
		}
		return r.received(found[0], value{})
	}
	var token string
	_, err := r.askToken(ctx, build, q.timeout, traced, func(response *http.Response) bool {
		token = a.tokenIn(response)
		return token != ""
	})
	if err != nil {
		return receivedToken{}, err
	}
	quoted := strictjson.String(token)
	return r.received(value{kind: '"', raw: jsontext.Value(quoted.Raw)}, value{})
}

// tokenIn is the token in the header of a response, empty where there is none. A cookie that
// is deleted is none.
func (a loginSigner) tokenIn(response *http.Response) (token string) {
	if a.tokenCookie == "" {
		return response.Header.Get(a.tokenHeader)
	}
	for _, cookie := range response.Cookies() {
		if cookie.Name == a.tokenCookie && cookie.MaxAge >= 0 && (cookie.Expires.IsZero() || cookie.Expires.After(time.Now())) {
			token = cookie.Value
		}
	}
	return token
}
