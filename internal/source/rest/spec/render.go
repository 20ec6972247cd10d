package spec

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// PageParam is a parameter of pagination or of the cursor.
type PageParam struct {
	In, Name string
	Value    ParamValue
}

// ParamValue is a text, or JSON where that is wanted.
type ParamValue struct {
	Text string
	// json is the value as it came from the source, nil where it is text.
	json []byte
}

// Typed is the cursor, or the end of a window, as a parameter.
func (m Moment) Typed(text string) ParamValue {
	v := ParamValue{Text: text}
	if raw := jsontext.Value(text); m.Numeric && raw.Kind() == '0' && raw.IsValid() {
		v.json = []byte(text)
	}
	return v
}

// CountValue is a number as a parameter.
func CountValue(n int64) ParamValue {
	text := strconv.FormatInt(n, 10)
	return ParamValue{Text: text, json: []byte(text)}
}

// TokenValue is a token as a parameter: its text, or in a body what it was.
func TokenValue(v *find.Value) ParamValue {
	text, ok := v.Text()
	if !ok {
		text = string(v.Raw)
	}
	return ParamValue{Text: text, json: v.Raw}
}

// value is the parameter in a body of JSON.
func (v ParamValue) value() (strictjson.Value, error) {
	if v.json == nil {
		return strictjson.String(v.Text), nil
	}
	return ParseDocument(v.json)
}

// Address is the URL with its query.
func (q *Request) Address(m Moment) (*url.URL, error) {
	m = m.Within(MaxAddress)
	u, err := url.Parse(q.url.Expand(m, EscapeInURL))
	if err != nil {
		return nil, Fail("fetch-failed", nil, "The URL is not valid after its tokens are replaced.")
	}
	for _, p := range q.query {
		u.RawQuery = p.add(RemoveQuery(u.RawQuery, p.Name), m)
	}
	if err := m.TooLong("the URL of the request", MaxAddress); err != nil {
		return nil, err
	}
	return u, nil
}

// Completed is the address of a next page with the secrets of the query that
// it lacks, where it is of the same origin.
func (q *Request) Completed(next *url.URL, m Moment) (*url.URL, error) {
	u := *next
	if !SameOrigin(next, q.Origin) {
		return &u, nil
	}
	m = m.Within(MaxAddress)
	names := queryNames(next)
	for _, p := range q.query {
		if !p.secret || slices.Contains(names, p.Name) {
			continue
		}
		u.RawQuery = p.add(u.RawQuery, m)
	}
	return &u, m.TooLong("the URL of the request", MaxAddress)
}

// SetHeaders sets the headers.
func (q *Request) SetHeaders(request *http.Request, m Moment) error {
	m = m.Within(maxHeaders)
	for _, p := range q.headers {
		for _, v := range p.Values {
			request.Header.Set(p.Name, v.Expand(m, nil))
		}
	}
	return m.TooLong("the header of the request", maxHeaders)
}

// Payload is the body with its tokens replaced and the parameters in it.
func (q *Request) Payload(m Moment, extras []PageParam) (text, contentType string, err error) {
	inside := slices.DeleteFunc(slices.Clone(extras), func(e PageParam) bool { return e.In != inBody })
	if q.Body == nil && len(inside) == 0 {
		return "", "", nil
	}
	m = m.Within(maxBody)
	defer func() {
		if err == nil {
			err = m.TooLong("the body of the request", maxBody)
		}
	}()
	b := q.Body
	if b == nil {
		b = &Body{Kind: bodyJSON, json: strictjson.Value{Kind: '{'}}
	}
	switch b.Kind {
	case bodyForm:
		form := ""
		for _, p := range b.form {
			form = p.add(form, m)
		}
		for _, e := range inside {
			form = SetQuery(form, e.Name, e.Value.Text)
		}
		return form, "application/x-www-form-urlencoded", nil
	case bodyText:
		return b.text.Expand(m, nil), "text/plain; charset=utf-8", nil
	}
	doc := b.json.Clone()
	expandTokens(&doc, m)
	for _, e := range inside {
		value, err := e.Value.value()
		if err != nil {
			return "", "", err
		}
		if err := putMember(&doc, q.member(b.Kind, e.Name), value); err != nil {
			return "", "", err
		}
	}
	return string(doc.Append(nil)), "application/json", nil
}

// expandTokens replaces the tokens in all strings. A string that is {{cursor}} or {{to}}
// alone becomes a number where the cursor is one.
func expandTokens(v *strictjson.Value, m Moment) {
	if v.Kind == '"' && strings.Contains(string(v.Raw), "{{") {
		if t, err := parseTemplate(v.Text()); err == nil {
			text := t.Expand(m, nil)
			*v = strictjson.String(text)
			if len(t.parts) == 1 && (t.uses("cursor") || t.uses("to")) {
				if typed := m.Typed(text); typed.json != nil {
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
			return Fail("pagination", nil, "The body of the request has no object at %s.", fmt.Sprintf("%q", name))
		}
	}
	v.Set(strictjson.UnescapePointer(names[len(names)-1]), value)
	return nil
}

// add adds the parameter to a query, once for each of its values, as long as there is
// room: a long name may have very many of them.
func (p *Param) add(query string, m Moment) string {
	var b strings.Builder
	b.WriteString(query)
	name := ""
	for i := range p.Values {
		if !m.reserve(p.Name) {
			break
		}
		if name == "" {
			name = url.QueryEscape(p.Name) + "="
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name)
		b.WriteString(url.QueryEscape(p.Values[i].Expand(m, nil)))
	}
	return b.String()
}

// AddQuery adds a parameter to a query.
func AddQuery(query, name, value string) string {
	pair := url.QueryEscape(name) + "=" + url.QueryEscape(value)
	if query == "" {
		return pair
	}
	return query + "&" + pair
}

// SetQuery sets a parameter of a query.
func SetQuery(query, name, value string) string {
	return AddQuery(RemoveQuery(query, name), name, value)
}

// RemoveQuery takes a parameter out of a query and leaves the rest as it is.
func RemoveQuery(query, name string) string {
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
