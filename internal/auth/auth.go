// Package auth authenticates requests.
//
// A credential is an API key, which the service created or the operator chose for the first
// start, or a JWT of the OIDC issuer that the operator trusts.
// [Authenticator.Authenticate] returns the [feedmill.Principal] of either, or an error that
// describes what is wrong and never contains the credential.
//
// A verified credential is cached for a second under its hash, so a busy client costs one
// hash and one map lookup a request. For that second another process may still accept a key
// that was revoked here; in this process [Authenticator.Forget] takes effect immediately.
// Unknown keys are not cached, so a new key works immediately.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// Store reads keys and workspaces and records when a key was last used.
type Store interface {
	// KeyByHash returns the key with the hash, revoked or not, or an error
	// that matches [feedmill.ErrNotFound].
	KeyByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Key, error)
	// WorkspaceByID returns the workspace or an error that matches
	// [feedmill.ErrNotFound].
	WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error)
	// WorkspaceByName returns the workspace or an error that matches
	// [feedmill.ErrNotFound].
	WorkspaceByName(ctx context.Context, name string) (feedmill.Workspace, error)
	// TouchKeys moves the last-used times of keys forward, never back. It skips keys that
	// no longer exist.
	TouchKeys(ctx context.Context, used map[feedmill.ID]time.Time) error
	Sessions
	PortalLinks
}

// Options configures an [Authenticator]. Without an OIDCIssuer only API keys are accepted.
type Options struct {
	// OIDCIssuer is the URL of the issuer, exactly as in the iss claim of its tokens.
	OIDCIssuer string
	// OIDCAudience is the required value in the aud claim of tokens. It must be set with
	// OIDCIssuer.
	OIDCAudience string
	// Client is the OAuth client for users who sign in with a browser. Without an ID
	// users cannot sign in at the issuer.
	Client feedmill.OAuthClient
	// HTTPClient fetches the issuer's configuration and keys. It must be set with
	// OIDCIssuer, because a default client would bypass the egress policy.
	HTTPClient *http.Client
	// CacheTTL is how long a verified credential is cached. Zero means one second.
	CacheTTL time.Duration
	// Logger logs failures to reach the issuer and to write last-used times. It can be
	// nil.
	Logger *slog.Logger
}

const (
	defaultCacheTTL = time.Second
	// cacheSize is the maximum number of cached credentials.
	cacheSize = 10_000
)

// Authenticator verifies credentials. It is safe for concurrent use.
type Authenticator struct {
	store    Store
	issuer   *issuer // nil if none is configured
	audience string
	client   feedmill.OAuthClient
	ttl      time.Duration
	logger   *slog.Logger
	verified *cache
	// portals caches sessions of the portal.
	portals *cache
	used    lastUsed
	links   links
}

// New returns an Authenticator. It does not call the issuer, so an issuer that is down only
// affects callers with its tokens.
func New(store Store, o Options) (*Authenticator, error) {
	a := &Authenticator{
		store:    store,
		audience: o.OIDCAudience,
		client:   o.Client,
		ttl:      o.CacheTTL,
		logger:   o.Logger,
		verified: newCache(cacheSize),
		portals:  newCache(cacheSize),
	}
	if a.ttl == 0 {
		a.ttl = defaultCacheTTL
	}
	if a.logger == nil {
		a.logger = slog.New(slog.DiscardHandler)
	}
	if o.OIDCIssuer != "" {
		if o.OIDCAudience == "" {
			return nil, errors.New("auth: an OIDC issuer requires an audience; without one, tokens for other services would be accepted")
		}
		if o.HTTPClient == nil {
			return nil, errors.New("auth: an OIDC issuer requires an HTTP client")
		}
		a.issuer = newIssuer(o.OIDCIssuer, o.HTTPClient, a.logger)
	}
	return a, nil
}

// Authenticate returns the principal of an Authorization header.
//
// A missing or invalid credential is a [*feedmill.Error] that matches
// [feedmill.ErrUnauthenticated]. A token that cannot be checked because the issuer is
// unavailable is one that matches [feedmill.ErrUnavailable]. Errors of the store are
// returned as they are. The principal's scopes are shared between requests and must not be
// changed.
func (a *Authenticator) Authenticate(ctx context.Context, authorization string) (feedmill.Principal, error) {
	credential, err := bearer(authorization)
	if err != nil {
		return feedmill.Principal{}, err
	}
	hash := feedmill.HashKey(credential)
	now := time.Now()
	if hit, ok := a.verified.get(hash, now); ok && hit.session == "" {
		a.noteUse(hit, now)
		return hit.principal, nil
	}

	epoch := a.verified.epoch()
	var fresh entry
	if a.issuer != nil && looksLikeJWT(credential) {
		fresh, err = a.token(ctx, credential)
	} else {
		fresh, err = a.key(ctx, credential, hash)
	}
	if err != nil {
		return feedmill.Principal{}, err
	}
	a.noteUse(fresh, now)
	a.verified.put(hash, fresh, epoch, now)
	return fresh.principal, nil
}

// Forget removes a key or a portal link from the cache, or all credentials of a workspace. Call
// it after one was revoked, or a workspace was changed or deleted.
func (a *Authenticator) Forget(id feedmill.ID) {
	a.verified.forget(id)
	a.portals.forget(id)
}

// key verifies an API key against the store.
func (a *Authenticator) key(ctx context.Context, credential string, hash feedmill.KeyHash) (entry, error) {
	if !canBeKey(credential) {
		return entry{}, refuse("The credential is not an API key of this service. API keys start with " + feedmill.KeyPrefix + ".")
	}
	read := time.Now()
	key, err := a.store.KeyByHash(ctx, hash)
	if errors.Is(err, feedmill.ErrNotFound) || err == nil && !key.Hash.Equal(hash) {
		return entry{}, refuse("The API key is unknown. Check that it is complete and belongs to this service.")
	}
	if err != nil {
		return entry{}, fmt.Errorf("look up API key: %w", err)
	}
	return a.verify(ctx, key, read)
}

// verify returns the principal of a key that was read at a time, or an error if the key is
// revoked or expired.
func (a *Authenticator) verify(ctx context.Context, key feedmill.Key, read time.Time) (entry, error) {
	if !key.RevokedAt.IsZero() {
		return entry{}, refuse("The API key was revoked. Ask an admin of the workspace for a new one.")
	}
	expires := read.Add(a.ttl)
	if !key.ExpiresAt.IsZero() {
		if !read.Before(key.ExpiresAt) {
			return entry{}, refuse("The API key has expired. Ask an admin of the workspace for a new one.")
		}
		expires = earlier(expires, key.ExpiresAt)
	}
	principal := feedmill.Principal{
		Workspace: key.Workspace,
		Subject:   string(key.ID),
		Name:      key.Name,
		Scopes:    slices.Clone(key.Scopes),
	}
	workspace, err := a.store.WorkspaceByID(ctx, key.Workspace)
	if errors.Is(err, feedmill.ErrNotFound) || err == nil && workspace.Deleting != nil {
		return entry{}, refuse("The workspace of the API key no longer exists.")
	}
	if err != nil {
		return entry{}, fmt.Errorf("look up workspace of API key: %w", err)
	}
	principal.AllWorkspaces, principal.Quotas = isOperator(principal, workspace), workspace.Quotas
	return entry{principal: principal, key: key.ID, expires: expires}, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// refuse returns the error for an invalid credential. The detail must not contain any part
// of the credential.
func refuse(detail string) error {
	return &feedmill.Error{Kind: feedmill.ErrUnauthenticated, Detail: detail}
}
