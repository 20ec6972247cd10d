package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// PortalLinkStore has the portal links.
type PortalLinkStore interface {
	CreatePortalLink(ctx context.Context, l feedmill.PortalLink, response *feedmill.IdempotentResponse) error
	PortalLinks(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.PortalLink, error)
	PortalLinkByID(ctx context.Context, workspace, id feedmill.ID) (feedmill.PortalLink, error)
	DeletePortalLink(ctx context.Context, workspace, id feedmill.ID) error
}

type portalLinkView struct {
	ID        feedmill.ID              `json:"id"`
	Pages     []feedmill.PortalPage    `json:"pages"`
	Access    feedmill.PortalAccess    `json:"access"`
	State     feedmill.PortalLinkState `json:"state"`
	ReturnURL *string                  `json:"returnUrl"`
	CreatedAt timestamp                `json:"createdAt"`
	OpenedAt  timestamp                `json:"openedAt"`
	ExpiresAt timestamp                `json:"expiresAt"`
	// URL contains the secret. Only the response to the link's creation has it.
	URL string `json:"url,omitzero"`
}

func viewPortalLink(l feedmill.PortalLink) portalLinkView {
	return portalLinkView{
		ID: l.ID, Pages: l.Pages, Access: l.Access, State: l.State(time.Now()), ReturnURL: orNull(l.ReturnURL),
		CreatedAt: timestamp(l.CreatedAt), OpenedAt: timestamp(l.OpenedAt), ExpiresAt: timestamp(l.ExpiresAt),
	}
}

func portalLinkURL(l feedmill.PortalLink) string {
	return workspaceURL(l.Workspace) + "/portal_links/" + string(l.ID)
}

// portalWorkspace returns the workspace that the path names, for an admin of the workspace
// "default".
func (c *call) portalWorkspace() (feedmill.ID, error) {
	id, err := c.workspaceID()
	if err == nil && !c.who.AllWorkspaces {
		err = &feedmill.Error{Kind: feedmill.ErrForbidden, Detail: `Only an admin of the workspace "default" can manage portal links.`}
	}
	return id, err
}

// createPortalLink creates a URL that opens the portal of a workspace once.
func (s *Server) createPortalLink(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	l := feedmill.PortalLink{
		ID: feedmill.NewID(feedmill.PrefixPortalLink), Key: c.who.Actor().Key, CreatedAt: now(),
		Pages: readPortalPages(body), Access: feedmill.PortalRead,
	}
	if f, ok := body.Given("access"); ok {
		access, _ := f.Choice(string(feedmill.PortalRead), string(feedmill.PortalWrite))
		l.Access = feedmill.PortalAccess(access)
	}
	l.ExpiresAt = l.CreatedAt.Add(readPortalAge(body))
	if f, ok := body.Given("returnUrl"); ok {
		l.ReturnURL = s.readReturnURL(f)
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	if l.Workspace, err = c.portalWorkspace(); err != nil {
		return answer{}, err
	}
	secret := feedmill.NewLinkSecret()
	l.Link = feedmill.HashKey(secret)
	view := viewPortalLink(l)
	view.URL = s.publicURL(c.r) + "/portal/links/" + secret
	a := created(portalLinkURL(l), view).withSecret()
	err = s.Store.CreatePortalLink(c.ctx(), l, c.keep(a))
	if _, explained := errors.AsType[*feedmill.Error](err); !explained && errors.Is(err, feedmill.ErrConflict) {
		err = &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "quota-reached",
			Detail: fmt.Sprintf("This workspace already has %d portal links that have not expired (the maximum). Delete some, or create links with a shorter expiresIn.", feedmill.MaxPortalLinks),
		}
	}
	return a, err
}

// readPortalPages reads the pages that a link opens, in the order of the tabs. The default is
// the page of subscriptions.
func readPortalPages(body *strictjson.Object) []feedmill.PortalPage {
	if _, ok := body.Given("pages"); !ok {
		return []feedmill.PortalPage{feedmill.PortalSubscriptions}
	}
	var words []string
	for _, page := range feedmill.PortalPages {
		words = append(words, string(page))
	}
	var given []string
	for f := range body.Texts("pages", 20) {
		if word, ok := f.Choice(words...); ok {
			given = append(given, word)
		}
	}
	return slices.DeleteFunc(slices.Clone(feedmill.PortalPages), func(page feedmill.PortalPage) bool { return !slices.Contains(given, string(page)) })
}

// readPortalAge reads how long a link and its session are valid.
func readPortalAge(body *strictjson.Object) time.Duration {
	f, ok := body.Given("expiresIn")
	if !ok {
		return feedmill.PortalLinkAge
	}
	age, _ := strictjson.Parse(f, feedmill.DurationBetween(feedmill.MinPortalLinkAge, feedmill.MaxPortalLinkAge))
	return age
}

// readReturnURL reads where the portal leads back to, which is on a page of the operator.
func (s *Server) readReturnURL(f strictjson.Field) string {
	text, ok := f.Text()
	if !ok {
		return ""
	}
	if len(s.PortalOrigins) == 0 {
		f.Fault("returnUrl needs the setting portalOrigins. Add the origin of the URL to it, or omit returnUrl.")
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || len(text) > feedmill.MaxReturnURL || !slices.Contains(s.PortalOrigins, strings.ToLower(u.Scheme+"://"+u.Host)) {
		f.Fault(fmt.Sprintf("returnUrl must be a URL of at most %d characters in one of the origins of the setting portalOrigins: %s.", feedmill.MaxReturnURL, strings.Join(s.PortalOrigins, ", ")))
		return ""
	}
	return text
}

// listPortalLinks lists the portal links of a workspace, without their secrets.
func (s *Server) listPortalLinks(c *call) (answer, error) {
	fetch := func(p feedmill.Page) ([]feedmill.PortalLink, error) {
		id, err := c.portalWorkspace()
		if err != nil {
			return nil, err
		}
		if _, err := s.Store.WorkspaceByID(c.ctx(), id); err != nil {
			return nil, err
		}
		return s.Store.PortalLinks(c.ctx(), id, p)
	}
	return listAnswer(c, feedmill.PrefixPortalLink, fetch, func(l feedmill.PortalLink) feedmill.ID { return l.ID }, viewPortalLink)
}

// portalLinkOf returns the workspace and the portal link that the path names.
func portalLinkOf(c *call) (workspace, link feedmill.ID, err error) {
	if workspace, err = c.portalWorkspace(); err == nil {
		link, err = feedmill.ParseID(feedmill.PrefixPortalLink, c.r.PathValue("ptl"))
	}
	return workspace, link, err
}

// getPortalLink returns a portal link without its secret.
func (s *Server) getPortalLink(c *call) (answer, error) {
	workspace, id, err := portalLinkOf(c)
	if err != nil {
		return answer{}, err
	}
	l, err := s.Store.PortalLinkByID(c.ctx(), workspace, id)
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{portalLinkURL(l)}, viewPortalLink(l)}), nil
}

// deletePortalLink revokes a portal link and ends its session.
func (s *Server) deletePortalLink(c *call) (answer, error) {
	workspace, id, err := portalLinkOf(c)
	if err != nil {
		return answer{}, err
	}
	if err := s.Store.DeletePortalLink(c.ctx(), workspace, id); err != nil {
		return answer{}, err
	}
	s.Auth.Forget(id)
	return answer{status: http.StatusNoContent}, nil
}

// checkPortal refuses a session of the portal what is not an operation of its pages.
func checkPortal(link *feedmill.PortalLink, rt route) error {
	if link == nil || slices.ContainsFunc(rt.portal, link.Opens) {
		return nil
	}
	return &feedmill.Error{Kind: feedmill.ErrForbidden, Detail: "The portal link does not give access to this operation."}
}
