package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// PortalLinks stores portal links and their sessions.
type PortalLinks interface {
	PortalLinkByHash(ctx context.Context, link feedmill.KeyHash) (feedmill.PortalLink, error)
	PortalLinkBySession(ctx context.Context, session feedmill.KeyHash) (feedmill.PortalLink, error)
	// OpenPortalLink starts the session of a link that is unused and has not expired.
	OpenPortalLink(ctx context.Context, link, session feedmill.KeyHash, at time.Time) (feedmill.PortalLink, error)
}

// errPortalLink is the error of a portal link that opens nothing, and errPortalSession that
// of a session that has ended, for any reason.
var (
	errPortalLink    = refuse("The link was already used or has expired.")
	errPortalSession = refuse("This session has ended.")
)

// PortalLink returns the portal link with a secret and its workspace. It uses nothing up.
func (a *Authenticator) PortalLink(ctx context.Context, secret string) (feedmill.PortalLink, feedmill.Workspace, error) {
	l, err := a.store.PortalLinkByHash(ctx, feedmill.HashKey(secret))
	if err == nil && l.State(time.Now()) != feedmill.PortalLinkUnused {
		err = feedmill.ErrNotFound
	}
	w, _, err := a.portalOwner(ctx, l, err, errPortalLink)
	return l, w, err
}

// OpenPortal starts the session of a portal link and returns its token.
func (a *Authenticator) OpenPortal(ctx context.Context, secret, address string) (token string, l feedmill.PortalLink, err error) {
	if l, _, err = a.PortalLink(ctx, secret); err != nil {
		return "", l, err
	}
	token = feedmill.NewSessionToken()
	now := storedTime(time.Now())
	ctx = feedmill.WithAudit(ctx, &feedmill.AuditEntry{Workspace: l.Workspace, At: now, Actor: portalPrincipal(l).Actor(), Action: "portal_link.open", Address: address})
	l, err = a.store.OpenPortalLink(ctx, l.Link, feedmill.HashKey(token), now)
	if errors.Is(err, feedmill.ErrNotFound) {
		return "", l, errPortalLink
	}
	return token, l, err
}

// PortalSession returns the portal link of a session and its workspace, as they are now.
func (a *Authenticator) PortalSession(ctx context.Context, token string) (feedmill.PortalLink, feedmill.Workspace, error) {
	l, w, _, err := a.portalSession(ctx, feedmill.HashKey(token))
	return l, w, err
}

func (a *Authenticator) portalSession(ctx context.Context, hash feedmill.KeyHash) (feedmill.PortalLink, feedmill.Workspace, time.Time, error) {
	l, err := a.store.PortalLinkBySession(ctx, hash)
	if err == nil && l.State(time.Now()) != feedmill.PortalLinkInUse {
		err = feedmill.ErrNotFound
	}
	w, until, err := a.portalOwner(ctx, l, err, errPortalSession)
	return l, w, until, err
}

// portalOwner returns the workspace of a link that was read, and until when that can be
// cached. It returns ended if the link, its workspace or the key that created it is gone, or
// if that key no longer belongs to an admin of the default workspace.
func (a *Authenticator) portalOwner(ctx context.Context, l feedmill.PortalLink, read, ended error) (w feedmill.Workspace, until time.Time, err error) {
	now := time.Now()
	until = earlier(now.Add(a.ttl), l.ExpiresAt)
	if read == nil && l.Key != "" {
		var key feedmill.Key
		if key, read = a.store.KeyByID(ctx, l.Key); read == nil {
			var creator entry
			creator, read = a.verify(ctx, key, now)
			if read == nil && !creator.principal.AllWorkspaces {
				read = feedmill.ErrNotFound
			}
			until = earlier(until, creator.expires)
		}
	}
	if read == nil {
		w, read = a.store.WorkspaceByID(ctx, l.Workspace)
	}
	switch {
	case errors.Is(read, feedmill.ErrNotFound), errors.Is(read, feedmill.ErrUnauthenticated), read == nil && w.Deleting != nil:
		return w, until, ended
	case read != nil:
		return w, until, fmt.Errorf("look up portal link: %w", read)
	}
	return w, until, nil
}

// AuthenticatePortal returns the principal of a session of the portal. It is cached like a
// key, but apart from keys and sessions, which are accepted elsewhere. Its scopes are those of the pages; [feedmill.Principal.Portal] limits the operations.
func (a *Authenticator) AuthenticatePortal(ctx context.Context, token string) (feedmill.Principal, error) {
	hash, now := feedmill.HashKey(token), time.Now()
	if hit, ok := a.portals.get(hash, now); ok {
		a.noteUse(hit, now)
		return hit.principal, nil
	}
	epoch := a.portals.epoch()
	l, w, until, err := a.portalSession(ctx, hash)
	if err != nil {
		return feedmill.Principal{}, err
	}
	fresh := entry{principal: portalPrincipal(l), session: l.ID, expires: until}
	fresh.principal.Quotas = w.Quotas
	a.noteUse(fresh, now)
	a.portals.put(hash, fresh, epoch, now)
	return fresh.principal, nil
}

func portalPrincipal(l feedmill.PortalLink) feedmill.Principal {
	who := feedmill.Principal{Workspace: l.Workspace, Subject: string(l.ID), Name: "portal", Scopes: []feedmill.Scope{feedmill.ScopeRead}, Portal: &l}
	if l.Access == feedmill.PortalWrite {
		who.Scopes = append(who.Scopes, feedmill.ScopeWrite)
	}
	return who
}
