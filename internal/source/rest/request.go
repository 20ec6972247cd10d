package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// build makes the request of a page, without the credential.
func (r *sequence) build(ctx context.Context, s step) (*http.Request, error) {
	spec := &r.spec.request
	ctx, at := r.stamped(ctx, r.at)
	sent := r.extras(s)
	target, err := r.target(s, at, sent)
	if err != nil {
		return nil, err
	}
	home := s.url == nil || sameOrigin(s.url, spec.origin)
	body, contentType, err := spec.payload(at, sent)
	if err != nil {
		return nil, err
	}
	method := spec.method
	if s.get || !home {
		// What was given for one origin is not for another: it is asked with its
		// address alone.
		body, contentType, method = "", "", http.MethodGet
	}
	request, err := newRequest(ctx, method, target, body, contentType)
	if err != nil {
		return nil, err
	}
	if home {
		if err := spec.setHeaders(request, at); err != nil {
			return nil, err
		}
		for _, e := range sent {
			if e.in == inHeader {
				request.Header.Set(e.name, e.value.text)
			}
		}
		setUnlessEmpty(request.Header, "Range", s.span)
	}
	if s.number == 1 && r.from.Request != "" && r.from.Request == s.fingerprint && !r.spec.incremental.conditional() {
		setUnlessEmpty(request.Header, "If-None-Match", r.from.ETag)
		setUnlessEmpty(request.Header, ifModifiedSince, r.from.LastModified)
	}
	r.f.identify(request)
	return request, nil
}

// target is the address of a page. That of a next page says all that its query needs.
func (r *sequence) target(s step, at moment, sent []extra) (target *url.URL, err error) {
	if s.url != nil {
		target, err = r.spec.request.completed(s.url, at)
	} else {
		target, err = r.spec.request.address(at)
	}
	if err != nil {
		return nil, err
	}
	if s.token != nil && r.spec.pagination.exclusive() {
		target.RawQuery = onlyVerb(target.RawQuery)
	}
	for _, e := range sent {
		if e.in == inQuery && s.url == nil {
			target.RawQuery = setQuery(target.RawQuery, e.name, e.value.text)
		}
	}
	return target, nil
}

func newRequest(ctx context.Context, method string, target *url.URL, body, contentType string) (*http.Request, error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	plain := *target
	plain.RawQuery = encoded(target.RawQuery)
	request, err := http.NewRequestWithContext(ctx, method, plain.String(), reader)
	if err != nil {
		// The error can hold the URL, whose secrets are not masked here.
		return nil, fail("fetch-failed", nil, "The request cannot be sent, because the URL is not valid after its tokens are replaced.")
	}
	setUnlessEmpty(request.Header, "Content-Type", contentType)
	return request, nil
}

// encoded is a query with its blanks and letters beyond ASCII encoded, as a request has
// them. Sources that name their next page do not always.
func encoded(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			_, _ = fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func setUnlessEmpty(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// identify adds what every request says.
func (f *Fetcher) identify(request *http.Request) {
	h := request.Header
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", f.options.UserAgent)
	}
	if h.Get("Accept") == "" {
		h.Set("Accept", "application/json, application/x-ndjson, text/csv;q=0.9, */*;q=0.5")
	}
	h.Set("Accept-Encoding", "gzip")
}

// extra is a parameter of pagination or of the cursor.
type extra struct {
	in, name string
	value    extraValue
}

// extraValue is a text, or JSON where that is wanted.
type extraValue struct {
	text string
	// json is the value as it came from the source, nil where it is text.
	json []byte
}

// typed is the cursor, or the end of a window, as a parameter.
func (m moment) typed(text string) extraValue {
	v := extraValue{text: text}
	if raw := jsontext.Value(text); m.numeric && raw.Kind() == '0' && raw.IsValid() {
		v.json = []byte(text)
	}
	return v
}

// count is a number as a parameter.
func count(n int64) extraValue {
	text := strconv.FormatInt(n, 10)
	return extraValue{text: text, json: []byte(text)}
}

// extra is a token as a parameter: its text, or in a body what it was.
func (v *value) extra() extraValue {
	text, ok := v.text()
	if !ok {
		text = string(v.raw)
	}
	return extraValue{text: text, json: v.raw}
}

// value is the parameter in a body of JSON.
func (v extraValue) value() (strictjson.Value, error) {
	if v.json == nil {
		return strictjson.String(v.text), nil
	}
	return parseDocument(v.json)
}

// extras are the parameters of a page.
func (r *sequence) extras(s step) (extras []extra) {
	if inc := r.spec.incremental; inc != nil && inc.param != "" && r.at.cursor != "" {
		extras = append(extras, extra{inc.in, inc.param, r.at.typed(r.at.cursor)})
	}
	if inc := r.spec.incremental; inc != nil && inc.to != "" {
		extras = append(extras, extra{inc.toIn, inc.to, r.at.typed(r.at.to)})
	}
	p := &r.spec.pagination
	if p.sizeParam != "" && p.size > 0 {
		extras = append(extras, extra{p.in, p.sizeParam, count(p.size)})
	}
	switch p.kind {
	case pagesOffset, pagesNumber:
		extras = append(extras, extra{p.in, p.param, count(s.count)})
	case pagesCursor:
		if s.token != nil {
			extras = append(extras, extra{p.in, p.param, s.token.extra()})
		}
	}
	return extras
}

// address is the URL with its query.
func (q *request) address(m moment) (*url.URL, error) {
	m = m.within(maxAddress)
	u, err := url.Parse(q.url.expand(m, escapeInURL))
	if err != nil {
		return nil, fail("fetch-failed", nil, "The URL is not valid after its tokens are replaced.")
	}
	for _, p := range q.query {
		u.RawQuery = p.add(removeQuery(u.RawQuery, p.name), m)
	}
	if err := m.tooLong("the URL of the request", maxAddress); err != nil {
		return nil, err
	}
	return u, nil
}

// completed is the address of a next page with the secrets of the query that
// it lacks, where it is of the same origin.
func (q *request) completed(next *url.URL, m moment) (*url.URL, error) {
	u := *next
	if !sameOrigin(next, q.origin) {
		return &u, nil
	}
	m = m.within(maxAddress)
	names := queryNames(next)
	for _, p := range q.query {
		if !p.secret || slices.Contains(names, p.name) {
			continue
		}
		u.RawQuery = p.add(u.RawQuery, m)
	}
	return &u, m.tooLong("the URL of the request", maxAddress)
}

// setHeaders sets the headers.
func (q *request) setHeaders(request *http.Request, m moment) error {
	m = m.within(maxHeaders)
	for _, p := range q.headers {
		for _, v := range p.values {
			request.Header.Set(p.name, v.expand(m, nil))
		}
	}
	return m.tooLong("the header of the request", maxHeaders)
}

// payload is the body with its tokens replaced and the parameters in it.
func (q *request) payload(m moment, extras []extra) (text, contentType string, err error) {
	inside := slices.DeleteFunc(slices.Clone(extras), func(e extra) bool { return e.in != inBody })
	if q.body == nil && len(inside) == 0 {
		return "", "", nil
	}
	m = m.within(maxBody)
	defer func() {
		if err == nil {
			err = m.tooLong("the body of the request", maxBody)
		}
	}()
	b := q.body
	if b == nil {
		b = &body{kind: bodyJSON, json: strictjson.Value{Kind: '{'}}
	}
	switch b.kind {
	case bodyForm:
		form := ""
		for _, p := range b.form {
			form = p.add(form, m)
		}
		for _, e := range inside {
			form = setQuery(form, e.name, e.value.text)
		}
		return form, "application/x-www-form-urlencoded", nil
	case bodyText:
		return b.text.expand(m, nil), "text/plain; charset=utf-8", nil
	}
	doc := b.json.Clone()
	expandTokens(&doc, m)
	for _, e := range inside {
		value, err := e.value.value()
		if err != nil {
			return "", "", err
		}
		if err := putMember(&doc, q.member(b.kind, e.name), value); err != nil {
			return "", "", err
		}
	}
	return string(doc.Append(nil)), "application/json", nil
}

// expandTokens replaces the tokens in all strings. A string that is {{cursor}} or {{to}}
// alone becomes a number where the cursor is one.
func expandTokens(v *strictjson.Value, m moment) {
	if v.Kind == '"' && strings.Contains(string(v.Raw), "{{") {
		if t, err := parseTemplate(v.Text()); err == nil {
			text := t.expand(m, nil)
			*v = strictjson.String(text)
			if len(t.parts) == 1 && (t.uses("cursor") || t.uses("to")) {
				if typed := m.typed(text); typed.json != nil {
					*v = strictjson.Value{Kind: '0', Raw: typed.json}
				}
			}
		}
	}
	for i := range v.Members {
		expandTokens(&v.Members[i].Value, m)
	}
	for i := range v.Items {
		expandTokens(&v.Items[i], m)
	}
}

// putMember sets a member by its name, or by a JSON Pointer to where it stands.
func putMember(v *strictjson.Value, name string, value strictjson.Value) error {
	if !strings.HasPrefix(name, "/") {
		v.Set(name, value)
		return nil
	}
	names := strings.Split(name[1:], "/")
	for _, part := range names[:len(names)-1] {
		part = strictjson.UnescapePointer(part)
		if v.Member(part) == nil || v.Member(part).Kind == 'n' {
			v.Set(part, strictjson.Value{Kind: '{'})
		}
		if v = v.Member(part); v.Kind != '{' {
			return fail("pagination", nil, "The body of the request has no object at %s.", fmt.Sprintf("%q", name))
		}
	}
	v.Set(strictjson.UnescapePointer(names[len(names)-1]), value)
	return nil
}

// add adds the parameter to a query, once for each of its values, as long as there is
// room: a long name may have very many of them.
func (p *param) add(query string, m moment) string {
	var b strings.Builder
	b.WriteString(query)
	name := ""
	for i := range p.values {
		if !m.reserve(p.name) {
			break
		}
		if name == "" {
			name = url.QueryEscape(p.name) + "="
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name)
		b.WriteString(url.QueryEscape(p.values[i].expand(m, nil)))
	}
	return b.String()
}

func addQuery(query, name, value string) string {
	pair := url.QueryEscape(name) + "=" + url.QueryEscape(value)
	if query == "" {
		return pair
	}
	return query + "&" + pair
}

func setQuery(query, name, value string) string {
	return addQuery(removeQuery(query, name), name, value)
}

// removeQuery takes a parameter out of a query and leaves the rest as it is.
func removeQuery(query, name string) string {
	if query == "" {
		return ""
	}
	pairs := strings.Split(query, "&")
	pairs = slices.DeleteFunc(pairs, func(pair string) bool {
		raw, _, _ := strings.Cut(pair, "=")
		decoded, err := url.QueryUnescape(raw)
		return err == nil && decoded == name
	})
	return strings.Join(pairs, "&")
}
