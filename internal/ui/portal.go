package ui

import (
	"context"
	"crypto/rand"
	"errors"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// Portals starts and finds the sessions of the portal.
type Portals interface {
	// PortalLink returns the unused link with a secret and its workspace. It uses nothing up.
	PortalLink(ctx context.Context, secret string) (feedmill.PortalLink, feedmill.Workspace, error)
	// OpenPortal starts the session of a link, for a client with an address.
	OpenPortal(ctx context.Context, secret, address string) (token string, l feedmill.PortalLink, err error)
	// PortalSession returns the link that started a session, and its workspace. A session that
	// has ended is feedmill.ErrUnauthenticated; its link is returned if it still exists.
	PortalSession(ctx context.Context, token string) (feedmill.PortalLink, feedmill.Workspace, error)
}

// portal is one request for a page of the portal. Its session is that of a portal link, which
// only these pages accept.
type portal struct {
	*visit
	token     string
	link      feedmill.PortalLink
	workspace feedmill.Workspace
}

// portalTitles are the names of the tabs.
var portalTitles = map[feedmill.PortalPage]string{
	feedmill.PortalSubscriptions: "Endpoints", feedmill.PortalEvents: "Events", feedmill.PortalFeeds: "Feeds",
}

// portalRoute is a page of the portal or an action on it.
type portalRoute struct {
	pattern string
	page    feedmill.PortalPage
	handle  func(*portal) error
}

// portalTable lists the pages of the portal. Each belongs to a tab; every POST needs the access
// to write.
var portalTable = []portalRoute{
	{"GET /portal/subscriptions", feedmill.PortalSubscriptions, showEndpoints},
	{"POST /portal/subscriptions", feedmill.PortalSubscriptions, createEndpoint},
	{"GET /portal/subscriptions/{id}", feedmill.PortalSubscriptions, showEndpoint},
	{"POST /portal/subscriptions/{id}", feedmill.PortalSubscriptions, changeEndpoint},
	{"POST /portal/subscriptions/{id}/test", feedmill.PortalSubscriptions, testEndpoint},
	{"POST /portal/subscriptions/{id}/pause", feedmill.PortalSubscriptions, actEndpoint(setState(feedmill.SubscriptionPaused), "paused")},
	{"POST /portal/subscriptions/{id}/activate", feedmill.PortalSubscriptions, actEndpoint(setState(feedmill.SubscriptionActive), "activated")},
	{"POST /portal/subscriptions/{id}/retry", feedmill.PortalSubscriptions, actEndpoint(retrySubscription, "retrying")},
	{"POST /portal/subscriptions/{id}/rotate", feedmill.PortalSubscriptions, rotateEndpoint},
	{"POST /portal/subscriptions/{id}/replay", feedmill.PortalSubscriptions, replayEndpoint},
	{"POST /portal/subscriptions/{id}/replays/{rid}/cancel", feedmill.PortalSubscriptions, cancelEndpointReplay},
	{"POST /portal/subscriptions/{id}/delete", feedmill.PortalSubscriptions, deleteEndpoint},
	{"GET /portal/deliveries/{id}", feedmill.PortalSubscriptions, showPortalDelivery},
	{"POST /portal/deliveries/{id}/retry", feedmill.PortalSubscriptions, retryPortalDelivery},

	{"GET /portal/events", feedmill.PortalEvents, showPortalEvents},
	{"GET /portal/events/{id}", feedmill.PortalEvents, showPortalEvent},

	{"GET /portal/feeds", feedmill.PortalFeeds, showPortalFeeds},
	{"GET /portal/feeds/{id}", feedmill.PortalFeeds, showPortalFeed},
}

// portalRoutes registers the pages of the portal.
func (s *Server) portalRoutes() {
	if s.Portals == nil {
		return
	}
	s.mux.HandleFunc("GET /portal/assets/{set}/{name}", func(w http.ResponseWriter, r *http.Request) { loadAssets().ServeHTTP(w, r) })
	s.mux.HandleFunc("GET /portal/links/{link}", s.portal(showPortalLink))
	s.mux.HandleFunc("POST /portal/links/{link}", s.portal(openPortalLink))
	s.mux.HandleFunc("GET /portal/{$}", s.inPortal(func(p *portal) error {
		return p.redirect("/portal/" + string(p.link.Pages[0]))
	}))
	for _, r := range portalTable {
		s.mux.HandleFunc(r.pattern, s.inPortal(func(p *portal) error {
			if !p.link.Opens(r.page) {
				return errPortalPage
			}
			if p.r.Method == http.MethodPost {
				if p.link.Access != feedmill.PortalWrite {
					return &client.Problem{Status: http.StatusForbidden, Title: "This session can only read", Detail: "The link that started the session does not allow changes."}
				}
				if err := p.readSignedInForm(string(p.link.Workspace)); err != nil {
					return err
				}
				if p.r.PostFormValue("session") != string(p.link.ID) {
					return errOtherPortal
				}
			}
			return r.handle(p)
		}))
	}
	s.mux.HandleFunc("/portal/", s.inPortal(func(*portal) error { return errPortalPage }))
}

// errPortalPage is the error for a page that does not exist or that the link does not open.
var errPortalPage = &client.Problem{Status: http.StatusNotFound, Title: "Page not found", Detail: "The page does not exist, or this session cannot open it."}

// errOtherPortal is the error for a form of a page that another session has shown. A browser has
// one session, so without it the form would change another workspace than the visitor sees.
var errOtherPortal = &client.Problem{
	Status: http.StatusConflict, Title: "This page is from another session", Detail: "Nothing was changed. Another portal was opened in this browser since the page was loaded. Open the portal again, and repeat the change.",
}

// portal serves a page of the portal to every visitor.
func (s *Server) portal(handle func(*portal) error) http.HandlerFunc {
	return s.open(func(v *visit) error {
		p := &portal{visit: v}
		p.allowFrames()
		if err := handle(p); err != nil {
			p.fail(err)
		}
		return nil
	})
}

// inPortal serves a page of the portal to a visitor with a session.
func (s *Server) inPortal(handle func(*portal) error) http.HandlerFunc {
	return s.portal(func(p *portal) (err error) {
		cookie, err := p.r.Cookie(p.portalCookie())
		if err != nil {
			return errNoPortal
		}
		p.token = cookie.Value
		if p.link, p.workspace, err = s.Portals.PortalSession(p.r.Context(), p.token); err != nil {
			return err
		}
		p.over.portal, p.me = p.token, &client.Me{} // whose time to fetch the page is not that of a stranger
		return handle(p)
	})
}

// errNoPortal is the error for a visitor without a session.
var errNoPortal = &feedmill.Error{Kind: feedmill.ErrUnauthenticated, Detail: "This session has ended."}

// allowFrames lets the pages of the operator show the portal in a frame.
func (p *portal) allowFrames() {
	h := p.w.Header()
	policy := strings.Replace(h.Get("Content-Security-Policy"), "style-src 'self'", "style-src 'self' 'nonce-"+p.nonce+"'", 1)
	if len(p.s.PortalOrigins) > 0 {
		policy = strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors "+strings.Join(p.s.PortalOrigins, " "), 1)
		h.Del("X-Frame-Options") // it cannot name origins
	}
	h.Set("Content-Security-Policy", policy)
}

// portalCookie is the name of the cookie of a session of the portal. Over TLS only this host
// and those above it can have set it.
func (v *visit) portalCookie() string {
	if v.overTLS() {
		return "__Secure-feedmill_portal"
	}
	return "feedmill_portal"
}

// showPortalLink shows the button that starts a session. Opening the page uses nothing up:
// programs that scan messages open every link.
func showPortalLink(p *portal) (err error) {
	if p.link, p.workspace, err = p.s.Portals.PortalLink(p.r.Context(), p.r.PathValue("link")); err != nil {
		return err
	}
	p.link.Pages = nil // there is no session yet, so there are no tabs
	return p.show(http.StatusOK, "portal_link", "Open "+p.s.Portal.Name, nil)
}

// openPortalLink starts a session.
func openPortalLink(p *portal) error {
	if err := p.readStrangersForm(); err != nil {
		return err
	}
	address, _, _ := net.SplitHostPort(p.r.RemoteAddr)
	token, l, err := p.s.Portals.OpenPortal(p.r.Context(), p.r.PathValue("link"), address)
	if err != nil {
		return err
	}
	http.SetCookie(p.w, &http.Cookie{
		Name: p.portalCookie(), Value: token, Path: "/portal/", MaxAge: max(int(time.Until(l.ExpiresAt).Seconds()), 1),
		HttpOnly: true, Secure: true, SameSite: http.SameSiteNoneMode, Partitioned: true,
	})
	return p.redirect("/portal/" + string(l.Pages[0]))
}

// portalFrame is what every page of the portal gets besides its own data.
type portalFrame struct {
	Title, Nonce, Name, Tenant, ReturnURL, Back, Once, Did, Posted, Kept, Session string
	Logo                                                                          template.URL
	Style                                                                         template.CSS
	Tabs                                                                          []portalTab
	Write                                                                         bool
	Ends                                                                          time.Time
	Data                                                                          any
}

type portalTab struct {
	To, Name string
	Here     bool
}

// CanWrite reports whether the visitor can change subscriptions.
func (f portalFrame) CanWrite() bool { return f.Write }

// show writes a page of the portal.
func (p *portal) show(status int, name, title string, data any) error {
	f := portalFrame{
		Title: title, Nonce: p.nonce, Name: p.s.Portal.Name, Tenant: p.workspace.Name, ReturnURL: p.link.ReturnURL, Back: "Back", Once: rand.Text(),
		Logo: template.URL(p.s.Portal.Logo), Style: portalStyle(p.s.Portal.Accent), Write: p.link.Access == feedmill.PortalWrite,
		Did: did[p.r.URL.Query().Get("did")], Data: data, Posted: p.posted(data), Kept: span(p.s.EventRetention),
	}
	if f.Name != "" {
		f.Back = "Back to " + f.Name
	}
	if p.token != "" {
		f.Ends, f.Session = p.link.ExpiresAt, string(p.link.ID)
	}
	for _, page := range p.link.Pages {
		to := "/portal/" + string(page)
		f.Tabs = append(f.Tabs, portalTab{to, portalTitles[page], strings.HasPrefix(p.r.URL.Path, to) || page == feedmill.PortalSubscriptions && strings.HasPrefix(p.r.URL.Path, "/portal/deliveries/")})
	}
	return p.write(status, loadPages()[name], "portal-page", f)
}

// fail answers with what went wrong, or with the end of the session.
func (p *portal) fail(err error) {
	problem, ok := errors.AsType[*client.Problem](err)
	if errors.Is(err, feedmill.ErrUnauthenticated) || ok && problem.Status == http.StatusUnauthorized {
		p.token, p.link.Pages = "", nil
		p.must(p.show(http.StatusUnauthorized, "portal_ended", endedTitle(p.r), nil))
		return
	}
	f := failure{Status: http.StatusInternalServerError, What: "Something went wrong on our side", Safe: "Saved data is safe.", Next: "Try again. If it fails again, report the request ID.", RequestID: p.over.requestID}
	if ok {
		f.Status, f.What, f.Why, f.Safe, f.Next, f.Faults = problem.Status, problem.Title, problem.Detail, "", "", problem.Errors
	} else {
		p.s.Log.Error("portal page", "path", portalPath(p.r), "error", err)
	}
	p.must(p.show(f.Status, "portal_problem", f.What, f))
}

// must reports a page that could not be rendered.
func (p *portal) must(err error) {
	if err != nil {
		p.s.Log.Error("rendering a page of the portal failed", "path", portalPath(p.r), "error", err)
		http.Error(p.w, "Something went wrong on our side.", http.StatusInternalServerError)
	}
}

// portalPath is the path of a request without the secret of a link.
func portalPath(r *http.Request) string {
	const links = "/portal/links/"
	if strings.HasPrefix(r.URL.Path, links) {
		return links + "***"
	}
	return r.URL.Path
}

// endedTitle is the heading of the page that shows nothing else.
func endedTitle(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, "/portal/links/") {
		return "This link was already used or has expired."
	}
	return "This session has ended."
}

// portalRedirect leads to a page that says what was done.
func (p *portal) done(to, what string) error { return p.redirect(to + "?did=" + url.QueryEscape(what)) }

// eventTypes lists the types that a customer can choose, without the ones about Feedmill's own
// operation.
func (p *portal) eventTypes() ([]client.EventType, error) {
	types, err := p.api.EventTypes(p.r.Context())
	return slices.DeleteFunc(types, func(t client.EventType) bool { return t.Status != "available" || t.Operational }), err
}
