package spec

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Limits of requests.
const (
	maxURL         = 8 << 10
	maxParams      = 200
	maxParamName   = 1 << 10
	defaultTimeout = 30 * time.Second
	minTimeout     = time.Second
	maxTimeout     = 10 * time.Minute
)

// readRequest reads what is to be asked for.
func readRequest(o *object, method string) Request {
	r := Request{
		Method:  o.choice("method", method, "GET", "POST", "PUT"),
		Timeout: o.duration("timeout", defaultTimeout, minTimeout, maxTimeout),
		rules:   o.r.rules,
	}
	if text := o.needText("url"); text != "" {
		var err error
		if r.url, r.Origin, err = parseURL(text); err != nil {
			o.unreadable("url", UpperFirst(err.Error())+".")
		}
		if holdsSecret(text) && !o.isDeclared("url") {
			o.Fault("url", "A parameter that looks like a secret appears more than once in the URL, or in query too. Write it once, in query.")
		}
		o.noteCursor("url", &r.url)
	}
	r.query = o.params("query", func(string) string { return "" })
	r.headers = o.params("headers", wrongHeader)
	if r.Body = readBody(o); r.Body != nil && r.Body.Kind == BodyGraphQL && !o.Has("method") {
		r.Method = "POST"
	}
	o.RefuseUnknown()
	return r
}

// UpperFirst returns a sentence with its first letter in upper case.
func UpperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// parseURL reads an absolute URL with tokens in its path or query. The error
// repeats nothing of it.
func parseURL(text string) (Template, *url.URL, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return t, nil, err
	}
	if len(text) > maxURL {
		return t, nil, fmt.Errorf("the URL can have at most %d bytes", maxURL)
	}
	sample := t.Expand(Moment{Cursor: "1", To: "1", Now: time.Unix(0, 0)}, EscapeInURL)
	u, err := url.Parse(sample)
	switch {
	case err != nil:
		return t, nil, errors.New("the URL is not valid; write https://host/path")
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.Hostname() == "", u.Opaque != "":
		return t, nil, errors.New("the URL must be absolute; write https://host/path, or http if the operator allows the host")
	case u.User != nil:
		return t, nil, errors.New("the URL must not contain a user or a password; use auth")
	case strings.Contains(text, "#"):
		return t, nil, errors.New("the URL must not have a fragment")
	}
	// The authority ends at the first of these after the scheme.
	authority := text[strings.Index(text, "://")+3:]
	if end := strings.IndexAny(authority, "/?"); end >= 0 {
		authority = authority[:end]
	}
	if strings.Contains(authority, "{{") {
		return t, nil, errors.New("tokens are allowed only in the path and the query of a URL")
	}
	return t, origin(u), nil
}

// EscapeInURL escapes the value of a token for where it stands.
func EscapeInURL(before, value string) string {
	if strings.Contains(before, "?") {
		return url.QueryEscape(value)
	}
	return url.PathEscape(value)
}

func origin(u *url.URL) *url.URL { return &url.URL{Scheme: u.Scheme, Host: u.Host} }

// SameOrigin reports whether two URLs have scheme, host and port in common.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// template reads a text with tokens.
func (o *object) template(name string) (Template, bool) {
	s, ok := o.text(name)
	if !ok {
		return Template{}, false
	}
	return o.parse(name, s), true
}

func (o *object) parse(name, text string) Template {
	t, err := parseTemplate(text)
	if err != nil {
		o.unreadable(name, UpperFirst(err.Error())+".")
	}
	o.noteCursor(name, &t)
	return t
}

func (o *object) noteCursor(name string, t *Template) {
	if wrong := o.r.noteVariables(t); wrong != "" {
		o.Fault(name, wrong)
	}
	if t.uses("to") {
		o.r.usesTo = o.pointer(name)
	}
	if o.r.usesCursor == "" && t.usesCursor() {
		o.r.usesCursor = o.pointer(name)
	}
}

// noteVariables notes the tokens of rows and jobs in a template, and says what is
// wrong with one that there is nothing for.
func (r *reading) noteVariables(t *Template) string {
	for _, p := range t.parts {
		if !p.token.variable {
			continue
		}
		word, _, _ := strings.Cut(p.token.name, ".")
		if !slices.Contains(r.variables, word) {
			return UpperFirst("unknown token; "+tokenForms+"; each.as adds those of its rows") + "."
		}
		r.used = append(r.used, p.token.name)
	}
	return ""
}

// params reads named values. Names are held to wrong, and values whose names
// look like those of secrets are kept as such.
func (o *object) params(field string, wrong func(name string) string) []Param {
	in := o.object(field)
	if in == nil {
		return nil
	}
	if n := len(in.Value.Members); n > maxParams && !o.r.stored {
		o.Fault(field, fmt.Sprintf("Must have at most %d members; got %d.", maxParams, n))
		return nil
	}
	var params []Param
	for _, m := range in.Value.Members {
		if len(m.Name) > maxParamName && !o.r.stored {
			o.Fault(field, fmt.Sprintf("A name can have at most %d bytes; got %d.", maxParamName, len(m.Name)))
			continue
		}
		if w := wrong(m.Name); (w != "" || m.Name == "") && !o.r.stored {
			in.Fault(m.Name, firstOf(w, "The name must not be empty."))
			continue
		}
		p := Param{Name: m.Name, secret: looksSecret(m.Name) || in.isDeclared(m.Name)}
		items := []strictjson.Value{m.Value}
		if m.Value.Kind == '[' && field != "headers" {
			items = m.Value.Items
		}
		for i := range items {
			s, ok := find.Scalar(&items[i])
			if !ok {
				in.unreadable(m.Name, "Must be a string, a number or a boolean"+also(field)+".")
				continue
			}
			if field == "headers" && !httpguts.ValidHeaderFieldValue(s) {
				in.Fault(m.Name, "The value contains characters that are not allowed in a header, such as line breaks.")
			}
			p.Values = append(p.Values, in.parse(m.Name, s))
		}
		if p.secret {
			in.secret(m.Name)
		}
		params = append(params, p)
	}
	return params
}

func also(field string) string {
	if field == "headers" {
		return ""
	}
	return ", or an array of them"
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// readBody reads what a request sends.
func readBody(o *object) *Body {
	in := o.object("body")
	if in == nil {
		return nil
	}
	in.needText("kind")
	b := &Body{Kind: in.choice("kind", bodyJSON, bodyJSON, bodyForm, bodyText, BodyGraphQL)}
	if b.Kind == BodyGraphQL {
		within := in
		if value := in.Value.Member("value"); value != nil && value.Kind == '{' { // as bodies of the other kinds have theirs
			within = in.object("value")
			defer within.RefuseUnknown()
		}
		b.json = readGraphQL(within)
		in.RefuseUnknown()
		return b
	}
	// A body of JSON can be null, unlike everything else.
	in.Know("value")
	value := in.Value.Member("value")
	switch {
	case value == nil:
		in.unreadable("value", strictjson.Required)
	case isHidden(value):
		// The body of a login is shown like this; nothing can be read from it.
		b.text, b.json = Template{Text: hidden}, *value
	case b.Kind == bodyJSON:
		b.json = *value
		in.checkBody("value", value)
	case b.Kind == bodyForm:
		b.form = in.params("value", func(string) string { return "" })
	case b.Kind == bodyText:
		b.text, _ = in.template("value")
	}
	in.RefuseUnknown()
	return b
}

// checkBody checks the tokens in a JSON body.
func (o *object) checkBody(name string, body *strictjson.Value) {
	if !o.checkTokens(o.pointer(name), body, false) {
		o.Fault(name, fmt.Sprintf("The names above a value can have at most %d bytes in total.", maxPlace))
	}
}

// checkTokens notes the tokens in the strings of a JSON body, and the values
// that look like secrets: all that stands below a name which does. It reports
// whether no place is longer than it may be.
func (o *object) checkTokens(at string, n *strictjson.Value, secret bool) bool {
	if len(at) > maxPlace && !o.r.stored {
		return false
	}
	if secret && (n.Kind == '"' || n.Kind == '0') {
		o.r.secrets = append(o.r.secrets, at)
	}
	if n.Kind == '"' {
		t, err := parseTemplate(n.Text())
		if err != nil {
			o.r.faults.Note(at, UpperFirst(err.Error())+".")
		}
		if wrong := o.r.noteVariables(&t); wrong != "" {
			o.r.fault(at, wrong)
		}
		if t.uses("to") {
			o.r.usesTo = at
		}
		if o.r.usesCursor == "" && t.usesCursor() {
			o.r.usesCursor = at
		}
	}
	for _, m := range n.Members {
		if !o.checkTokens(at+"/"+strictjson.EscapePointer(m.Name), &m.Value, secret || looksSecret(m.Name)) {
			return false
		}
	}
	for i := range n.Items {
		if !o.checkTokens(fmt.Sprintf("%s/%d", at, i), &n.Items[i], secret) {
			return false
		}
	}
	return true
}
