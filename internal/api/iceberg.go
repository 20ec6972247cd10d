package api

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// icebergPath is where the Iceberg REST catalogue is. The Iceberg project documents its
// operations, so the API's document does not have them.
const icebergPath = "/iceberg/v1"

// TableStore finds feeds by their table names.
type TableStore interface {
	TableFeed(ctx context.Context, workspace feedmill.ID, name string) (feedmill.ID, error)
	NamedTables(ctx context.Context, workspace feedmill.ID, after string, limit int) ([]feedmill.NamedTable, error)
}

// icebergRoutes are the operations of the catalogue. It is read-only.
func (s *Server) icebergRoutes() []route {
	routes := []route{
		{method: "GET", path: "/config", handle: s.icebergConfig},
		{method: "GET", path: "/namespaces", handle: s.icebergNamespaces},
		{method: "GET", path: "/namespaces/{ns}", handle: s.icebergNamespace},
		{method: "GET", path: "/namespaces/{ns}/tables", handle: s.icebergTables},
		{method: "GET", path: "/namespaces/{ns}/tables/{table}", handle: s.icebergTable},
		{method: "POST", path: "/oauth/tokens", body: strangerBody, formats: formType, handle: s.icebergToken},
	}
	for i := range routes {
		r := &routes[i]
		r.path, r.iceberg = icebergPath+r.path, true
		if r.method == http.MethodGet {
			r.scope = feedmill.ScopeRead
		}
	}
	return routes
}

const formType = "application/x-www-form-urlencoded"

// icebergErrors are the types of the catalogue's errors by status.
var icebergErrors = map[int]string{
	http.StatusBadRequest: "BadRequestException", http.StatusUnauthorized: "NotAuthorizedException", http.StatusForbidden: "ForbiddenException",
	http.StatusNotFound: noEndpoint, http.StatusMethodNotAllowed: "UnsupportedOperationException", http.StatusTooManyRequests: "TooManyRequestsException",
	http.StatusServiceUnavailable: "ServiceUnavailableException",
}

// The types of what is not found.
const (
	noEndpoint  = "NoSuchEndpointException"
	noNamespace = "NoSuchNamespaceException"
	noTable     = "NoSuchTableException"
)

type icebergError struct {
	Error icebergErrorBody `json:"error"`
}

type icebergErrorBody struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
}

// icebergAnswer renders a problem in the catalogue's shape.
func (p problem) icebergAnswer() answer {
	body := icebergErrorBody{Message: p.Detail, Type: "InternalServerError", Code: p.Status}
	if named := icebergErrors[p.Status]; named != "" {
		body.Type = named
	}
	if p.Status == http.StatusNotFound && slices.Contains([]string{noNamespace, noTable}, p.Title) {
		body.Type = p.Title
	}
	if p.RequestID != "" {
		body.Message += " Request ID: " + p.RequestID
	}
	a, shaped := p.answer(), jsonAnswer(p.Status, icebergError{body})
	a.body, a.contentType = shaped.body, shaped.contentType
	return a
}

func (s *Server) icebergConfig(*call) (answer, error) {
	endpoints := []string{}
	for _, r := range s.icebergRoutes() {
		path := strings.Replace(strings.TrimPrefix(r.path, "/iceberg"), "{ns}", "{namespace}", 1)
		if r.scope == "" || strings.HasSuffix(path, "/config") {
			continue // which every catalogue has
		}
		path = strings.Replace(path, "/v1/", "/v1/{prefix}/", 1)
		endpoints = append(endpoints, r.method+" "+path)
		if strings.HasSuffix(path, "}") {
			endpoints = append(endpoints, "HEAD "+path)
		}
	}
	none := map[string]string{}
	return jsonAnswer(http.StatusOK, map[string]any{"defaults": none, "overrides": none, "endpoints": endpoints}), nil
}

// namespace refuses all namespaces but the workspace of the credential.
func (c *call) namespace(name string) error {
	if name == string(c.who.Workspace) {
		return nil
	}
	return &feedmill.Error{Kind: feedmill.ErrNotFound, Title: noNamespace, Detail: "The namespace does not exist. Its name is the ID of the workspace."}
}

func (s *Server) icebergNamespaces(c *call) (answer, error) {
	all := [][]string{{string(c.who.Workspace)}}
	if parent, ok := c.query["parent"]; ok {
		if err := c.namespace(parent); err != nil {
			return answer{}, err
		}
		all = [][]string{}
	}
	return jsonAnswer(http.StatusOK, map[string]any{"namespaces": all}), nil
}

func (s *Server) icebergNamespace(c *call) (answer, error) {
	if err := c.namespace(c.r.PathValue("ns")); err != nil {
		return answer{}, err
	}
	if c.r.Method == http.MethodHead {
		return answer{status: http.StatusNoContent}, nil
	}
	return jsonAnswer(http.StatusOK, map[string]any{"namespace": []string{string(c.who.Workspace)}, "properties": map[string]string{}}), nil
}

// icebergPage is how many tables a page of a list has at most, and icebergList how many a list
// has that is not asked for in pages.
const icebergPage, icebergList = 1000, 100_000

type icebergTableID struct {
	Namespace []string `json:"namespace"`
	Name      string   `json:"name"`
}

type icebergTableList struct {
	Identifiers []icebergTableID `json:"identifiers"`
	Next        *string          `json:"next-page-token,omitzero"`
}

func (s *Server) icebergTables(c *call) (answer, error) {
	if err := c.namespace(c.r.PathValue("ns")); err != nil {
		return answer{}, err
	}
	limit := icebergList
	token, paged := c.query["pageToken"]
	if paged {
		limit = icebergPage
		if size, err := strconv.Atoi(c.query["pageSize"]); err == nil && size > 0 {
			limit = min(size, icebergPage)
		}
	}
	after, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrInvalid, Detail: "pageToken is not valid. Use the next-page-token of the page before."}
	}
	tables, err := s.Store.NamedTables(c.ctx(), c.who.Workspace, string(after), limit)
	if err != nil {
		return answer{}, err
	}
	list := icebergTableList{Identifiers: make([]icebergTableID, len(tables))}
	for i, t := range tables {
		list.Identifiers[i] = icebergTableID{[]string{string(c.who.Workspace)}, t.Name}
	}
	if paged && len(tables) == limit {
		list.Next = new(base64.RawURLEncoding.EncodeToString([]byte(tables[limit-1].Name)))
	}
	return jsonAnswer(http.StatusOK, list), nil
}

type icebergTableView struct {
	Location string            `json:"metadata-location"`
	Metadata jsontext.Value    `json:"metadata"`
	Config   map[string]string `json:"config"`
}

func (s *Server) icebergTable(c *call) (answer, error) {
	if err := c.namespace(c.r.PathValue("ns")); err != nil {
		return answer{}, err
	}
	var t feedmill.Table
	var metadata []byte
	feed, err := s.Store.TableFeed(c.ctx(), c.who.Workspace, c.r.PathValue("table"))
	if err == nil {
		t, metadata, err = s.Feeds.Table(c.ctx(), c.who.Workspace, feed)
	}
	if errors.Is(err, feedmill.ErrNotFound) {
		err = &feedmill.Error{Kind: feedmill.ErrNotFound, Title: noTable, Detail: "The table does not exist, or its feed has no data yet. Tables need a bucket, or the setting icebergLocal."}
	}
	if err != nil {
		return answer{}, err
	}
	if c.r.Method == http.MethodHead {
		return answer{status: http.StatusNoContent}, nil
	}
	return jsonAnswer(http.StatusOK, icebergTableView{s.Feeds.MetadataLocation(t.Metadata), metadata, map[string]string{}}), nil
}

// icebergToken exchanges an API key for a token, which is the key itself: clients that only
// know OAuth 2.0 send it as the client secret. Errors are those of RFC 6749.
func (s *Server) icebergToken(c *call) (answer, error) {
	body, err := io.ReadAll(c.r.Body)
	if err != nil {
		return answer{}, err
	}
	form, err := url.ParseQuery(string(body))
	refuse := func(status int, code, detail string) (answer, error) {
		return jsonAnswer(status, map[string]string{"error": code, "error_description": detail}).withSecret(), nil
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid_request", "The body must be "+formType+".")
	}
	if form.Get("grant_type") != "client_credentials" {
		return refuse(http.StatusBadRequest, "unsupported_grant_type", "grant_type must be client_credentials.")
	}
	secret := form.Get("client_secret")
	if _, password, ok := c.r.BasicAuth(); ok && secret == "" {
		secret = password
	}
	if _, err := s.Auth.Authenticate(c.ctx(), "Bearer "+secret); errors.Is(err, feedmill.ErrUnauthenticated) {
		return refuse(http.StatusUnauthorized, "invalid_client", "client_secret must be a valid API key.")
	} else if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, map[string]any{
		"access_token": secret, "token_type": "bearer", "expires_in": 3600, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
	}).withSecret(), nil
}
