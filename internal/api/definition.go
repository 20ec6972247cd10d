package api

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// HandleStore has the handles of objects, and the applies that are running.
type HandleStore interface {
	Handles(ctx context.Context, workspace feedmill.ID, kind feedmill.DefinitionKind) ([]feedmill.Handle, error)
	AssignHandles(ctx context.Context, handles []feedmill.Handle) error
	SetHandle(ctx context.Context, h feedmill.Handle) error
	BeginApply(ctx context.Context, workspace feedmill.ID, holder string, at, until time.Time) error
	EndApply(ctx context.Context, workspace feedmill.ID, holder string) error
}

// maxCompared is how many digests a request can compare.
const maxCompared = 500

type definitionView struct {
	ID         feedmill.ID             `json:"id"`
	Kind       feedmill.DefinitionKind `json:"kind"`
	Name       string                  `json:"name"`
	Label      string                  `json:"label"`
	Set        *string                 `json:"set"`
	Definition jsontext.Value          `json:"definition"`
}

// labelled is an object before its handle is known.
type labelled struct {
	id         feedmill.ID
	label      string
	definition any
}

// listDefinitions lists the objects of a kind as configuration files define them. An object
// without a handle gets one.
func (s *Server) listDefinitions(c *call) (answer, error) {
	kind := feedmill.DefinitionKind(c.query["kind"])
	if !slices.Contains(feedmill.DefinitionKinds, kind) {
		c.fault(feedmill.Fault{Parameter: "kind", Detail: "kind must be one of " + joinWords(feedmill.DefinitionKinds) + "."})
	}
	handles := make(map[feedmill.ID]feedmill.Handle)
	fetch := func(p feedmill.Page) ([]labelled, error) {
		found, err := s.definedObjects(c, kind, p)
		if err == nil {
			err = s.handlesFor(c, kind, found, handles)
		}
		return found, err
	}
	return listAnswer(c, kind.Prefix(), fetch, func(l labelled) feedmill.ID { return l.id }, func(l labelled) definitionView {
		text, err := render(l.definition)
		if err != nil {
			panic(fmt.Errorf("rendering a definition: %w", err))
		}
		h := handles[l.id]
		return definitionView{l.id, kind, h.Name, l.label, orNull(h.Set), text}
	})
}

// definedObjects reads a page of the objects of a kind.
func (s *Server) definedObjects(c *call, kind feedmill.DefinitionKind, p feedmill.Page) (found []labelled, err error) {
	switch kind {
	case feedmill.DefinedConnection:
		all, err := s.Store.Connections(c.ctx(), c.who.Workspace, p)
		for _, o := range all {
			found = append(found, labelled{o.ID, o.ServiceName, connectionDefinition{o.ServiceName, o.Connector, o.Config}})
		}
		return found, err
	case feedmill.DefinedSQLView:
		return s.definedSQLViews(c, p)
	case feedmill.DefinedSubscription:
		all, err := s.Store.Subscriptions(c.ctx(), c.who.Workspace, p)
		for _, o := range all {
			found = append(found, labelled{o.ID, cmp.Or(o.Name, o.ShownURL()), s.defineSubscription(o)})
		}
		return found, err
	}
	search := feedmill.FeedSearch{Limit: p.Limit, Sort: feedmill.SortFeedCreated, Descending: true}
	if p.Before != "" {
		search.After = &feedmill.FeedPlace{ID: p.Before}
	}
	search.Fits = func(f feedmill.Feed) bool {
		found = append(found, labelled{f.ID, f.Name, defineFeed(f)})
		return true
	}
	_, err = s.Store.SearchFeeds(c.ctx(), c.who.Workspace, search)
	return found, err
}

// definedSQLViews reads a page of the SQL views of all connections.
func (s *Server) definedSQLViews(c *call, p feedmill.Page) (found []labelled, err error) {
	all, err := s.Store.SQLViews(c.ctx(), c.who.Workspace, "", p)
	services := make(map[feedmill.ID]string)
	for _, v := range all {
		if services[v.Connection] == "" {
			of, err := s.Store.Connection(c.ctx(), c.who.Workspace, v.Connection)
			if errors.Is(err, feedmill.ErrNotFound) {
				continue // it was deleted with its views
			}
			if err != nil {
				return nil, err
			}
			services[v.Connection] = of.ServiceName
		}
		found = append(found, labelled{v.ID, v.Name, sqlViewDefinition{services[v.Connection], v.SQL}})
	}
	return found, err
}

// definedSQLView finds a SQL view by its id.
func (s *Server) definedSQLView(c *call, id feedmill.ID) error {
	page := feedmill.Page{Limit: maxLimit}
	for {
		all, err := s.Store.SQLViews(c.ctx(), c.who.Workspace, "", page)
		if err != nil {
			return err
		}
		for _, v := range all {
			if v.ID == id {
				return nil
			}
			page.Before = v.ID
		}
		if len(all) < page.Limit {
			return feedmill.ErrNotFound
		}
	}
}

// handlesFor completes handles with those of the objects, and assigns those that are missing.
func (s *Server) handlesFor(c *call, kind feedmill.DefinitionKind, objects []labelled, handles map[feedmill.ID]feedmill.Handle) error {
	for range changeTries {
		all, err := s.Store.Handles(c.ctx(), c.who.Workspace, kind)
		if err != nil {
			return err
		}
		taken := make(map[string]bool, len(all))
		for _, h := range all {
			handles[h.Object], taken[h.Name] = h, true
		}
		var missing []feedmill.Handle
		for _, o := range objects {
			if handles[o.id].Name != "" {
				continue
			}
			name := feedmill.NewHandleName(o.label, kind, func(name string) bool { return taken[name] })
			taken[name] = true
			missing = append(missing, feedmill.Handle{Workspace: c.who.Workspace, Kind: kind, Object: o.id, Name: name})
		}
		if len(missing) == 0 {
			return nil
		}
		if err := s.Store.AssignHandles(c.ctx(), missing); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: handles were assigned by other requests at the same time", feedmill.ErrUnavailable)
}

// changeTries is how often handles are assigned again after another request was faster.
const changeTries = 5

// setDefinition gives an object a handle and a set.
func (s *Server) setDefinition(c *call) (answer, error) {
	id := feedmill.ID(c.r.PathValue("id"))
	kind := feedmill.DefinitionKindOf(string(id))
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	h := feedmill.Handle{Workspace: c.who.Workspace, Kind: kind, Object: id}
	if f, ok := body.Need("name"); ok {
		h.Name = readHandle(f)
	}
	if f, ok := body.Given("set"); ok {
		h.Set = readHandle(f)
	}
	digest := readDigest(body)
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	switch kind {
	case feedmill.DefinedConnection:
		_, err = s.Store.Connection(c.ctx(), c.who.Workspace, id)
	case feedmill.DefinedSQLView:
		err = s.definedSQLView(c, id)
	case feedmill.DefinedFeed:
		_, err = s.Store.Feed(c.ctx(), c.who.Workspace, id)
	case feedmill.DefinedSubscription:
		_, err = s.Store.Subscription(c.ctx(), c.who.Workspace, id)
	default:
		err = feedmill.ErrNotFound
	}
	if err != nil {
		return answer{}, err
	}
	if h.Secrets, err = s.sealDigest(h, digest); err != nil {
		return answer{}, err
	}
	if err := s.Store.SetHandle(c.ctx(), h); err != nil {
		return answer{}, handleConflict(err, h)
	}
	return answer{status: http.StatusNoContent}, nil
}

func handleConflict(err error, h feedmill.Handle) error {
	if errors.Is(err, feedmill.ErrConflict) {
		return &feedmill.Error{Kind: feedmill.ErrConflict, Type: "handle-taken", Detail: fmt.Sprintf("Another %s has the handle %s. Choose another name.", h.Kind, h.Name)}
	}
	return err
}

func readHandle(f strictjson.Field) string {
	text, ok := f.Text()
	if wrong := feedmill.WrongHandle(text); ok && wrong != "" {
		f.Fault("The name " + wrong + ".")
	}
	return text
}

// readDigest reads the digest of the secrets of a definition, nil if there is none.
func readDigest(o *strictjson.Object) []byte {
	f, ok := o.Given("secrets")
	if !ok {
		return nil
	}
	text, ok := f.Text()
	digest, err := hex.DecodeString(text)
	if ok && (err != nil || len(digest) != 32) {
		f.Fault("secrets must be a SHA-256 digest in hexadecimal digits.")
	}
	return digest
}

// sealDigest encrypts a digest of secrets for the store. It never leaves the server again.
func (s *Server) sealDigest(h feedmill.Handle, digest []byte) ([]byte, error) {
	if len(digest) == 0 {
		return nil, nil
	}
	return s.Vault.Seal(digest, h.SecretsRecord())
}

// compareDefinitions reports whether objects have the secrets that were last applied.
func (s *Server) compareDefinitions(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	type compared struct {
		id     feedmill.ID
		digest []byte
	}
	var wanted []compared
	if f, ok := body.Need("items"); ok {
		switch {
		case f.Kind != '[':
			f.Fault("items must be an array, not " + strictjson.KindName(f.Kind) + ".")
		case len(f.Items) > maxCompared:
			f.Fault(fmt.Sprintf("items must have at most %d elements; it has %d.", maxCompared, len(f.Items)))
		default:
			for _, item := range f.Elements() {
				o, ok := item.Object()
				if !ok {
					continue
				}
				var one compared
				if f, ok := o.Need("id"); ok {
					text, _ := f.Text()
					one.id = feedmill.ID(text)
				}
				if one.digest = readDigest(o); !o.Has("secrets") {
					o.Fault("secrets", "secrets is required.")
				}
				o.RefuseUnknown()
				wanted = append(wanted, one)
			}
		}
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	all, err := s.Store.Handles(c.ctx(), c.who.Workspace, "")
	if err != nil {
		return answer{}, err
	}
	views := []client.ComparedDefinition{}
	for _, w := range wanted {
		view := client.ComparedDefinition{ID: string(w.id)}
		at := slices.IndexFunc(all, func(h feedmill.Handle) bool { return h.Object == w.id })
		if at >= 0 && len(all[at].Secrets) > 0 {
			stored, err := s.Vault.Unseal(c.ctx(), all[at].Secrets, all[at].SecretsRecord())
			if err != nil {
				return answer{}, err
			}
			view.Same = subtle.ConstantTimeCompare(stored, w.digest) == 1
		}
		views = append(views, view)
	}
	return jsonAnswer(http.StatusOK, views), nil
}

var holderName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// beginApply reserves the configuration of the workspace for an apply.
func (s *Server) beginApply(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	holder := ""
	if f, ok := body.Need("holder"); ok {
		if holder, ok = f.Text(); ok && !holderName.MatchString(holder) {
			f.Fault("holder must have 1 to 100 letters, digits, hyphens and underscores.")
		}
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	at := now()
	until := at.Add(feedmill.ApplyLease)
	err = s.Store.BeginApply(c.ctx(), c.who.Workspace, holder, at, until)
	if errors.Is(err, feedmill.ErrConflict) {
		return answer{}, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "apply-running", Transient: true, RetryAfter: time.Second,
			Detail: "Another apply is changing the configuration of this workspace. Retry when it has ended; an interrupted one expires after 30 seconds.",
		}
	}
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, client.ApplyLock{Holder: holder, Until: until}), nil
}

func (s *Server) endApply(c *call) (answer, error) {
	if c.query["holder"] == "" {
		c.fault(feedmill.Fault{Parameter: "holder", Detail: "holder is required."})
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	if err := s.Store.EndApply(c.ctx(), c.who.Workspace, c.query["holder"]); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

// handledActions are the changes that can set the handle of their object.
var handledActions = []string{
	"connection.create", "connection.update", "sql_view.create", "sql_view.update", "feed.create", "feed.update", "feed.upload", "subscription.create", "subscription.update",
}

// readHandle has the change of a request set the handle that its headers name.
func (s *Server) readHandle(c *call, action string) error {
	name := c.r.Header.Get("Feedmill-Handle")
	if name == "" || !slices.Contains(handledActions, action) {
		return nil
	}
	kinds := map[string]feedmill.DefinitionKind{"connection": feedmill.DefinedConnection, "sql_view": feedmill.DefinedSQLView, "feed": feedmill.DefinedFeed, "subscription": feedmill.DefinedSubscription}
	resource, _, _ := strings.Cut(action, ".")
	h := feedmill.Handle{Workspace: c.who.Workspace, Kind: kinds[resource], Name: name, Set: c.r.Header.Get("Feedmill-Set")}
	if wrong := feedmill.WrongHandle(name); wrong != "" {
		c.fault(feedmill.Fault{Header: "Feedmill-Handle", Detail: "Feedmill-Handle " + wrong + "."})
	}
	if wrong := feedmill.WrongHandle(h.Set); h.Set != "" && wrong != "" {
		c.fault(feedmill.Fault{Header: "Feedmill-Set", Detail: "Feedmill-Set " + wrong + "."})
	}
	digest, err := hex.DecodeString(c.r.Header.Get("Feedmill-Secrets"))
	if err != nil || len(digest) != 0 && len(digest) != 32 {
		c.fault(feedmill.Fault{Header: "Feedmill-Secrets", Detail: "Feedmill-Secrets must be a SHA-256 digest in hexadecimal digits."})
	}
	if err := c.refusal(); err != nil {
		return err
	}
	if h.Secrets, err = s.sealDigest(h, digest); err != nil {
		return err
	}
	c.context = feedmill.WithHandle(c.ctx(), &h)
	return nil
}
