package spec

import (
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Login is a request whose response has a token.
type Login struct {
	Request Request
	// The token is at tokenPath of the response, or in one of its headers or cookies.
	TokenPath                *jsonpath.Path
	TokenHeader, TokenCookie string
	// Header is where the token is sent, behind a prefix.
	Header, Prefix string
}

// readLogin reads a request whose response has the token.
func readLogin(o *object) Auth {
	a := &Login{Header: "Authorization", Prefix: "Bearer"}
	if in := o.object("request"); in != nil {
		cursor := o.r.usesCursor
		if a.Request = readRequest(in, "POST"); o.r.usesCursor != cursor {
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
	a.TokenPath = o.path("tokenPath", false)
	a.TokenHeader, _ = o.text("tokenHeader")
	if a.TokenCookie, _ = o.text("tokenCookie"); a.TokenCookie != "" {
		a.Header, a.Prefix = "Cookie", a.TokenCookie+"="
	}
	if s, ok := o.text("header"); ok {
		a.Header = s
		if wrong := wrongHeader(s); wrong != "" {
			o.Fault("header", wrong)
		}
		if !strings.EqualFold(s, "Authorization") && (a.TokenCookie == "" || !strings.EqualFold(s, "Cookie")) {
			a.Prefix = ""
		}
	}
	if s, ok := o.text("prefix"); ok {
		a.Prefix = s
		if !httpguts.ValidHeaderFieldValue(s) {
			o.Fault("prefix", "Contains characters that are not allowed in a header, such as line breaks.")
		}
	}
	return a
}

func (a *Login) places() []NamedURL { return []NamedURL{{"/auth/request/url", a.Request.Origin}} }

func (a *Login) fingerprint(add func(...string)) {
	add("login", a.Header, a.Prefix)
	if a.Request.Origin != nil {
		body, _, _ := a.Request.Payload(Moment{}, nil)
		add(a.Request.url.Text, body)
	}
	fingerprintParams(add, a.Request.query, a.Request.headers)
}

func (a *Login) hide(m *Mask) {
	m.addRequest(&a.Request)
	if b := a.Request.Body; b != nil {
		m.addNode(&b.json, true)
		m.Add(b.text.Text)
		for _, p := range b.form {
			m.addTemplates(p.Values)
		}
	}
}
