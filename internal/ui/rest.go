package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/feedmill/feedmill/client"
)

// restPage sets up a fetch. The YAML is the whole of the definition; the form has the
// parts that most need, and what it has no field for stays as the YAML says.
type restPage struct {
	restForm
	// Head is the feed whose definition is changed, nil for a new one, and Replace asks
	// for its credential.
	Head    *feedHead
	Replace bool
	// Sent says that the form has what a visitor wrote, and not what the feed has.
	Sent    bool
	YAML    string
	Fault   string
	Faults  map[string]string
	Preview *client.DataPreview
	Rows    [][]gridCell
	Trace   traceView
}

// restForm are the fields of the form.
type restForm struct {
	Name, Method, URL, Query, Headers, Body string

	Auth, Username, Password, Token, KeyIn, KeyName, KeyValue, TokenURL, ClientID, ClientSecret, Scope string

	Path, Paging, Param, NextPath, Start, Size, SizeParam string

	Every, Mode, Key string
}

// restFields are the names of the fields, and where each is kept.
func (f *restForm) fields() map[string]*string {
	return map[string]*string{
		"name": &f.Name, "method": &f.Method, "url": &f.URL, "query": &f.Query, "headers": &f.Headers, "body": &f.Body,
		"auth": &f.Auth, "username": &f.Username, "password": &f.Password, "token": &f.Token, "keyIn": &f.KeyIn, "keyName": &f.KeyName, "keyValue": &f.KeyValue,
		"tokenUrl": &f.TokenURL, "clientId": &f.ClientID, "clientSecret": &f.ClientSecret, "scope": &f.Scope,
		"path": &f.Path, "paging": &f.Paging, "param": &f.Param, "nextPath": &f.NextPath, "start": &f.Start, "size": &f.Size, "sizeParam": &f.SizeParam,
		"every": &f.Every, "mode": &f.Mode, "key": &f.Key,
	}
}

func showRest(v *visit) error {
	p := restPage{restForm: restForm{Method: "GET", Auth: "none", Paging: "none", Mode: "replace"}}
	return p.render(v, http.StatusOK)
}

// receiveRest puts form and YAML in step, tries the fetch, or makes the feed.
func receiveRest(v *visit) error {
	var p restPage
	do, spec, err := p.receive(v)
	if err != nil {
		p.Fault = "The YAML is not valid: " + err.Error()
		return p.render(v, http.StatusUnprocessableEntity)
	}
	switch do {
	case "try":
		preview, err := v.api.PreviewRestFeed(v.r.Context(), spec)
		return p.tried(v, preview, err)
	case "make":
		f, err := v.api.CreateRestFeed(v.r.Context(), client.RestFeed{Spec: spec})
		if err == nil {
			return v.redirect(feedPagePath(f.ID) + "?did=made")
		}
		return p.refuse(v, err)
	}
	return p.render(v, http.StatusOK)
}

// read makes the definition of the form and the YAML, whichever was changed last.
func (p *restPage) read(fromYAML bool) ([]byte, error) {
	spec := make(map[string]any)
	if err := yaml.Unmarshal([]byte(p.YAML), &spec); err != nil {
		return nil, err
	}
	if spec == nil {
		spec = make(map[string]any)
	}
	if fromYAML {
		p.restForm = formOf(spec)
	} else {
		p.overlay(spec)
	}
	if err := p.write(spec); err != nil {
		return nil, err
	}
	return json.Marshal(spec)
}

// fill shows a definition in the form and as YAML.
func (p *restPage) fill(spec map[string]any) error {
	p.restForm = formOf(spec)
	return p.write(spec)
}

func (p *restPage) write(spec map[string]any) error {
	var b bytes.Buffer
	out := yaml.NewEncoder(&b)
	out.SetIndent(2)
	err := out.Encode(ordered(spec))
	p.YAML = b.String()
	return err
}

// ordered is a definition with its members in the order in which people read them.
func ordered(spec map[string]any) *yaml.Node {
	order := []string{"name", "description", "request", "auth", "response", "pagination", "incremental", "serviceName", "viewName", "query", "schedule", "mode", "key"}
	names := slices.Sorted(maps.Keys(spec))
	slices.SortStableFunc(names, func(a, b string) int {
		i, j := slices.Index(order, a), slices.Index(order, b)
		return (i+len(order)+1)%(len(order)+1) - (j+len(order)+1)%(len(order)+1)
	})
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range names {
		key, value := new(yaml.Node), new(yaml.Node)
		key.SetString(name)
		if err := value.Encode(spec[name]); err != nil {
			continue
		}
		node.Content = append(node.Content, key, value)
	}
	return node
}

// overlay writes the fields of the form into a definition. What is empty is left out.
func (f *restForm) overlay(spec map[string]any) {
	set := func(m map[string]any, name string, value any) {
		if value == nil || value == "" {
			delete(m, name)
			return
		}
		m[name] = value
	}
	part := func(name string) map[string]any {
		m, _ := spec[name].(map[string]any)
		if m == nil {
			m = make(map[string]any)
		}
		return m
	}
	keep := func(name string, m map[string]any) {
		if len(m) == 0 {
			delete(spec, name)
			return
		}
		spec[name] = m
	}
	set(spec, "name", f.Name)
	request := part("request")
	set(request, "method", strings.TrimPrefix(f.Method, "GET"))
	request["url"] = f.URL
	set(request, "query", pairsOf(f.Query, "="))
	set(request, "headers", pairsOf(f.Headers, ":"))
	if f.Body == "" {
		delete(request, "body")
	} else if body, ok := request["body"].(map[string]any); !ok || textOf(body, "value") != f.Body {
		request["body"] = bodyOfText(f.Body)
	}
	keep("request", request)
	switch f.Auth {
	case "none":
		delete(spec, "auth")
	case "basic":
		spec["auth"] = map[string]any{"kind": "basic", "username": f.Username, "password": f.Password}
	case "bearer":
		spec["auth"] = map[string]any{"kind": "bearer", "token": f.Token}
	case "apiKey":
		spec["auth"] = map[string]any{"kind": "apiKey", "in": f.KeyIn, "name": f.KeyName, "value": f.KeyValue}
	case "oauth2ClientCredentials":
		auth := map[string]any{"kind": f.Auth, "tokenUrl": f.TokenURL, "clientId": f.ClientID, "clientSecret": f.ClientSecret}
		set(auth, "scope", f.Scope)
		spec["auth"] = auth
	}
	response := part("response")
	set(response, "path", f.Path)
	keep("response", response)
	if f.Paging == "none" {
		delete(spec, "pagination")
	} else {
		pages := part("pagination")
		pages["kind"] = f.Paging
		for name, value := range map[string]string{"param": f.Param, "path": f.NextPath, "sizeParam": f.SizeParam} {
			set(pages, name, value)
		}
		for name, value := range map[string]string{"start": f.Start, "size": f.Size} {
			set(pages, name, wholeOrText(value))
		}
		spec["pagination"] = pages
	}
	if f.Every != "as is" {
		set(spec, "schedule", nil)
		if f.Every != "" {
			spec["schedule"] = map[string]any{"every": f.Every}
		}
	}
	set(spec, "mode", strings.TrimPrefix(f.Mode, "replace"))
	delete(spec, "key")
	if f.Key != "" {
		spec["key"] = listOf(f.Key)
	}
}

// bodyOfText is the body that a text means: JSON where it is some.
func bodyOfText(text string) map[string]any {
	var value any
	if json.Unmarshal([]byte(text), &value) == nil {
		return map[string]any{"kind": "json", "value": value}
	}
	return map[string]any{"kind": "text", "value": text}
}

// textOf is a member as a text, as JSON where it is none.
func textOf(m map[string]any, name string) string {
	switch value := m[name].(type) {
	case nil:
		return ""
	case string:
		return value
	default:
		b, _ := json.Marshal(value)
		return string(b)
	}
}

func listOf(text string) (all []any) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

func wholeOrText(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return text
}

// pairsOf reads lines of names and values.
func pairsOf(text, sign string) any {
	pairs := make(map[string]any)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, sign); ok && strings.TrimSpace(name) != "" {
			pairs[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return pairs
}

// formOf is what the form shows of a definition.
func formOf(spec map[string]any) restForm {
	f := restForm{Method: "GET", Auth: "none", Paging: "none", Mode: "replace"}
	part := func(name string) map[string]any { m, _ := spec[name].(map[string]any); return m }
	text := textOf
	or := func(field *string, value string) {
		if value != "" {
			*field = value
		}
	}
	lines := func(m any, sign string) string {
		pairs, _ := m.(map[string]any)
		var all []string
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			all = append(all, name+sign+text(pairs, name))
		}
		return strings.Join(all, "\n")
	}
	f.Name = text(spec, "name")
	request := part("request")
	or(&f.Method, text(request, "method"))
	f.URL, f.Query, f.Headers = text(request, "url"), lines(request["query"], "="), lines(request["headers"], ": ")
	if body, ok := request["body"].(map[string]any); ok {
		f.Body = text(body, "value")
	}
	auth := part("auth")
	or(&f.Auth, text(auth, "kind"))
	f.Username, f.Password, f.Token, f.KeyIn, f.KeyName, f.KeyValue = text(auth, "username"), text(auth, "password"), text(auth, "token"), text(auth, "in"), text(auth, "name"), text(auth, "value")
	f.TokenURL, f.ClientID, f.ClientSecret, f.Scope = text(auth, "tokenUrl"), text(auth, "clientId"), text(auth, "clientSecret"), text(auth, "scope")
	f.Path = text(part("response"), "path")
	pages := part("pagination")
	or(&f.Paging, text(pages, "kind"))
	f.Param, f.NextPath, f.Start, f.Size, f.SizeParam = text(pages, "param"), text(pages, "path"), text(pages, "start"), text(pages, "size"), text(pages, "sizeParam")
	f.Every = text(part("schedule"), "every")
	if part("schedule")["cron"] != nil {
		f.Every = "as is"
	}
	or(&f.Mode, text(spec, "mode"))
	if key, ok := spec["key"].([]any); ok {
		var names []string
		for _, name := range key {
			if s, ok := name.(string); ok {
				names = append(names, s)
			}
		}
		f.Key = strings.Join(names, ", ")
	}
	return f
}

func (p *restPage) refuse(v *visit, err error) error {
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok || problem.Status == http.StatusUnauthorized {
		return err
	}
	p.Trace = waterfall(problem.Trace)
	if problem.Source != nil {
		p.Trace.say(problem.Source)
	}
	p.Faults, _ = faultsOf(err, "name", "request/url", "request/query", "request/headers", "request/body", "auth", "response/path", "pagination", "schedule", "mode", "key")
	if p.Fault = p.Faults[""]; len(p.Faults) == 0 {
		p.Fault = problem.Detail
	}
	return p.render(v, http.StatusUnprocessableEntity)
}

// AuthKinds are the credentials that the form has fields for.
func (p restPage) AuthKinds() []operator {
	kinds := []operator{{"none", "None"}, {"basic", "User and password"}, {"bearer", "Bearer token"}, {"apiKey", "API key"}, {"oauth2ClientCredentials", "OAuth 2 client credentials"}}
	return withOther(kinds, p.Auth)
}

// PageKinds are the ways to the next page.
func (p restPage) PageKinds() []operator {
	return withOther([]operator{{"none", "Single page"}, {"nextUrl", "Next URL in the response"}, {"linkHeader", "Link header"}, {"cursor", "Cursor"}, {"offset", "Offset"}, {"page", "Page number"}}, p.Paging)
}

// withOther adds what the definition says where the form has no word for it.
func withOther(kinds []operator, chosen string) []operator {
	if !slices.ContainsFunc(kinds, func(k operator) bool { return k.Op == chosen }) && chosen != "" {
		kinds = append(kinds, operator{chosen, chosen + ", as in the YAML"})
	}
	return kinds
}
