package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// Sessions are people who have signed in with a browser.
type Sessions interface {
	// AuthenticateSession returns who the token of a session stands for.
	AuthenticateSession(ctx context.Context, token string) (feedmill.Principal, error)
	// AuthenticateLink returns who a link that signs in once stands for.
	AuthenticateLink(ctx context.Context, link string) (feedmill.Principal, error)
	BeginSession(ctx context.Context, who feedmill.Principal) (token string, s feedmill.Session, err error)
	// RenewSession reads a session, and returns another token where it is time
	// for one.
	RenewSession(ctx context.Context, token string) (renewed string, s feedmill.Session, err error)
	MoveSession(ctx context.Context, token string, workspace feedmill.ID) error
	EndSession(ctx context.Context, token string) error
	// AuthenticatePortal returns the principal of a session of the portal.
	AuthenticatePortal(ctx context.Context, token string) (feedmill.Principal, error)
}

// anyScope is for operations that every credential may use.
const anyScope feedmill.Scope = "any"

// sessionCookie is the name of the cookie that has the token of a session, and
// hostCookie its name over TLS: a browser lets no other host set it, and no page without TLS.
const sessionCookie, hostCookie = "feedmill_session", "__Host-feedmill_session"

// cookieName is the name of a request's cookie.
func cookieName(r *http.Request) string {
	if overTLS(r) {
		return hostCookie
	}
	return sessionCookie
}

func overTLS(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// crossOrigin keeps the pages of others from using the cookie.
var crossOrigin = http.NewCrossOriginProtection()

// sessionToken is that of the request's cookie, empty where it has none.
func sessionToken(r *http.Request) string {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// authenticate finds out who makes a request: by its Authorization header, and
// without one by the cookie of a session. Requests of the portal's pages have their own session.
func (s *Server) authenticate(ctx context.Context, r *http.Request) (feedmill.Principal, error) {
	if token := feedmill.PortalSessionOf(ctx); token != "" && s.Sessions != nil {
		return s.Sessions.AuthenticatePortal(ctx, token)
	}
	given := r.Header.Values("Authorization")
	if len(given) > 1 {
		return feedmill.Principal{}, &feedmill.Error{Kind: feedmill.ErrUnauthenticated, Detail: "The request has more than one Authorization header. Send only one."}
	}
	token := sessionToken(r)
	if len(given) > 0 || token == "" || s.Sessions == nil {
		return s.Auth.Authenticate(ctx, strings.Join(given, ""))
	}
	if err := sameOrigin(r); err != nil {
		return feedmill.Principal{}, err
	}
	return s.Sessions.AuthenticateSession(ctx, token)
}

// sameOrigin refuses what a page of another origin sends.
func sameOrigin(r *http.Request) error {
	if crossOrigin.Check(r) != nil {
		return &feedmill.Error{Kind: feedmill.ErrForbidden, Type: "cross-origin", Detail: "A page of another origin sent the request. Only pages of this server can use a session."}
	}
	return nil
}

// setSession gives the browser the token of a session. Nothing that runs in a
// page can read it.
func (c *call) setSession(a *answer, token string) {
	cookie := http.Cookie{
		Name: cookieName(c.r), Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: overTLS(c.r), MaxAge: int(feedmill.SessionAge.Seconds()),
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	a.set("Set-Cookie", cookie.String())
	a.set("Cache-Control", "no-store")
}

func viewSession(s feedmill.Session) *client.Session {
	return &client.Session{ExpiresAt: s.CreatedAt.Add(feedmill.SessionAge), IdleUntil: s.Ends()}
}

// me describes the caller.
func (s *Server) me(c *call, session *client.Session) (client.Me, error) {
	w, err := s.Store.WorkspaceByID(c.ctx(), c.who.Workspace)
	if err != nil {
		return client.Me{}, err
	}
	actor := c.who.Actor()
	return client.Me{
		Key: string(actor.Key), Subject: actor.Subject, Name: actor.Name, Scopes: c.who.Scopes, Workspace: client.Workspace{ID: string(w.ID), Name: w.Name, CreatedAt: w.CreatedAt},
		AllWorkspaces: c.who.AllWorkspaces, Session: session,
	}, nil
}

// createSession signs in with an API key, or with a link that the server printed.
func (s *Server) createSession(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	var key, link string
	if f, ok := body.Get("key"); ok {
		key, _ = f.Text()
	}
	if f, ok := body.Get("link"); ok {
		link, _ = f.Text()
	}
	if (key == "") == (link == "") {
		c.faults.Note("/key", "Set either key to an API key, or link to the sign-in link that the first start printed.")
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	if err := sameOrigin(c.r); err != nil {
		return answer{}, err
	}
	if key != "" {
		c.who, err = s.Auth.Authenticate(c.ctx(), "Bearer "+key)
	} else {
		c.who, err = s.Sessions.AuthenticateLink(c.ctx(), link)
	}
	if err != nil {
		return answer{}, err
	}
	known(c.ctx())
	c.audited.Workspace, c.audited.Actor = c.who.Workspace, c.who.Actor()
	token, session, err := s.Sessions.BeginSession(c.ctx(), c.who)
	if err != nil {
		return answer{}, err
	}
	view, err := s.me(c, viewSession(session))
	if err != nil {
		return answer{}, err
	}
	a := created("/sessions/current", view)
	c.setSession(&a, token)
	return a, nil
}

// getMe says who the caller is. A session gets another token here from time to time.
func (s *Server) getMe(c *call) (answer, error) {
	var session *client.Session
	var renewed string
	if token := sessionToken(c.r); token != "" && s.Sessions != nil && c.r.Header.Get("Authorization") == "" {
		fresh, found, err := s.Sessions.RenewSession(c.ctx(), token)
		if err != nil {
			return answer{}, err
		}
		renewed, session = fresh, viewSession(found)
	}
	view, err := s.me(c, session)
	if err != nil {
		return answer{}, err
	}
	a := jsonAnswer(http.StatusOK, resource{resourceMeta{"/me"}, view}).withSecret()
	if renewed != "" {
		c.setSession(&a, renewed)
	}
	return a, nil
}

// errNoSession answers a change of a session by who has none.
var errNoSession = &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: "The request has no session. It was sent with an API key or a token."}

func (s *Server) session(c *call) (token string, err error) {
	token = sessionToken(c.r)
	if token == "" || s.Sessions == nil || c.r.Header.Get("Authorization") != "" {
		return "", errNoSession
	}
	return token, nil
}

// moveSession has the session work in another workspace.
func (s *Server) moveSession(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	var workspace string
	if f, ok := body.Need("workspaceId"); ok {
		workspace, _ = f.Text()
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	token, err := s.session(c)
	if err != nil {
		return answer{}, err
	}
	id, err := s.workspaceOf(c, workspace)
	if err != nil {
		return answer{}, err
	}
	if w, err := s.Store.WorkspaceByID(c.ctx(), id); errors.Is(err, feedmill.ErrNotFound) || err == nil && w.Deleting != nil {
		return answer{}, noWorkspace(feedmill.Fault{Pointer: "/workspaceId"})
	} else if err != nil {
		return answer{}, err
	}
	if err := s.Sessions.MoveSession(c.ctx(), token, id); err != nil {
		return answer{}, err
	}
	if c.who, err = s.Sessions.AuthenticateSession(c.ctx(), token); err != nil {
		return answer{}, err
	}
	return s.getMe(c)
}

// endSession signs out.
func (s *Server) endSession(c *call) (answer, error) {
	token, err := s.session(c)
	if err != nil {
		return answer{}, err
	}
	if err := s.Sessions.EndSession(c.ctx(), token); err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusNoContent}
	c.setSession(&a, "")
	return a, nil
}
