package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// api calls the HTTP API with one credential.
type api struct {
	base          string
	authorization string
	agent         string
	http          *http.Client
	// until ends the work of all tools.
	until context.Context
}

// call is a request to the API.
type call struct {
	method, path string
	query        url.Values
	body         []byte
}

// do sends a request. A refusal is a [*client.Problem].
func (a *api) do(ctx context.Context, c call) (*http.Response, error) {
	resp, err := a.send(ctx, c)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, refused(resp)
	}
	return resp, nil
}

func (a *api) send(ctx context.Context, c call) (*http.Response, error) {
	address := a.base + c.path
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, c.method, address, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	if c.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.authorization != "" {
		r.Header.Set("Authorization", a.authorization)
	}
	if a.agent != "" {
		r.Header.Set("User-Agent", a.agent)
	}
	return a.http.Do(r)
}

// refused is the problem in a response.
func refused(resp *http.Response) error {
	p := new(client.Problem)
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	if json.Unmarshal(text, p) == nil && p.Title != "" {
		p.Document = text
	} else {
		*p = client.Problem{Title: http.StatusText(resp.StatusCode), Detail: "The response is not from Feedmill. Check the server's address."}
	}
	p.Status = resp.StatusCode
	return p
}

// scopes returns the scopes of the credential, or the response that refuses it. A credential
// that cannot read is refused: no tool would work.
func (a *api) scopes(ctx context.Context) (scopes []feedmill.Scope, refusal *http.Response, err error) {
	resp, err := a.send(ctx, call{method: http.MethodGet, path: "/me"})
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, resp, err
	}
	defer resp.Body.Close()
	var me struct{ Data client.Me }
	if err := json.NewDecoder(resp.Body).Decode(&me); err != nil {
		return nil, nil, fmt.Errorf("GET /me: %w", err)
	}
	if slices.Contains(me.Data.Scopes, feedmill.ScopeRead) {
		return me.Data.Scopes, nil, nil
	}
	resp, err = a.send(ctx, call{method: http.MethodGet, path: "/data_feeds", query: url.Values{"limit": {"1"}}})
	if err == nil && resp.StatusCode == http.StatusOK { // the scope was added in between
		resp.Body.Close()
		return me.Data.Scopes, nil, nil
	}
	return nil, resp, err
}

// record reads one record.
func record[T any](ctx context.Context, a *api, c call) (out T, err error) {
	resp, err := a.do(ctx, c)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	var answer struct{ Data *T }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return out, fmt.Errorf("%s %s: the response cannot be read: %w", c.method, c.path, err)
	}
	if answer.Data == nil {
		return out, fmt.Errorf("%s %s: the response has no data", c.method, c.path)
	}
	return *answer.Data, nil
}

// listing is a part of a list of the API.
type listing struct {
	lines [][]byte
	// next is the cursor of the next part, empty on the last, and version the version that
	// it is for, 0 if the list has none.
	next    string
	version int64
	total   int64
	counts  string
}

// errTooWide says that not even one record fits into a result.
var errTooWide = errors.New("one record is larger than a result can be")

// list reads up to limit records. If they have more than budget bytes, it reads fewer, so that
// the next part starts after the last one. line returns what to keep of a record, nil for nothing.
func (a *api) list(ctx context.Context, ask func(limit int) (call, error), limit, budget int, line func(record []byte) ([]byte, error)) (listing, error) {
	for {
		c, err := ask(limit)
		if err != nil {
			return listing{}, err
		}
		resp, err := a.do(ctx, c)
		if err != nil {
			return listing{}, err
		}
		lines, read, whole, err := readList(resp.Body, budget, line)
		resp.Body.Close()
		if err != nil {
			return listing{}, fmt.Errorf("%s %s: %w", c.method, c.path, err)
		}
		if whole {
			l := listing{lines: lines, counts: resp.Header.Get("X-Counts")}
			l.total, _ = strconv.ParseInt(resp.Header.Get("X-Total-Count"), 10, 64)
			l.next, l.version = nextPage(resp.Header.Get("Link"))
			return l, nil
		}
		if read == 0 {
			return listing{}, errTooWide
		}
		limit = read
	}
}

// readList reads the records of a JSON array as long as they fit into budget bytes. It returns
// how many records it read, and whether these are all.
func readList(body io.Reader, budget int, line func([]byte) ([]byte, error)) (lines [][]byte, read int, whole bool, err error) {
	d := jsontext.NewDecoder(body)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
		return nil, 0, false, errors.Join(errors.New("the response is not a list"), err)
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if errors.Is(err, client.ErrLongResponse) {
			return lines, read, false, nil
		}
		if err != nil {
			return nil, 0, false, fmt.Errorf("the response broke off: %w", err)
		}
		text, err := line(value)
		if err != nil {
			return nil, 0, false, err
		}
		if budget -= len(text) + 1; budget < 0 {
			return lines, read, false, nil
		}
		if text != nil {
			lines = append(lines, bytes.Clone(text))
		}
		read++
	}
	return lines, read, true, nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>; *rel="next"`)

// nextPage reads the cursor of the next page and the version that it is for.
func nextPage(link string) (cursor string, version int64) {
	m := nextLink.FindStringSubmatch(link)
	if m == nil {
		return "", 0
	}
	u, err := url.Parse(m[1])
	if err != nil {
		return "", 0
	}
	q := u.Query()
	for _, name := range []string{"version", "to"} {
		if n, err := strconv.ParseInt(q.Get(name), 10, 64); err == nil {
			version = n
		}
	}
	return q.Get("cursor"), version
}

// compact is a record without insignificant whitespace, as one line.
func compact(record []byte) ([]byte, error) {
	v := jsontext.Value(record).Clone()
	err := v.Compact()
	return v, err
}

func feedPath(id string) string { return "/data_feeds/" + url.PathEscape(id) }

func refreshPath(feed, id string) string { return feedPath(feed) + "/refreshes/" + url.PathEscape(id) }

func deliveryPath(id string) string { return "/events/deliveries/" + url.PathEscape(id) }

// problemType returns the explanation of a type of problem, whose name can start with
// "/problems/".
func problemType(name string) feedmill.ProblemType {
	slug := strings.TrimPrefix(name, "/problems/")
	for _, t := range feedmill.ProblemTypes() {
		if t.Slug == slug {
			return t
		}
	}
	return feedmill.ProblemType{Slug: slug, Title: "The request failed"}
}
