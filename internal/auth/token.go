package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/golang-jwt/jwt/v5"
)

// The claims that Feedmill defines.
const (
	scopeClaim     = "scope"
	workspaceClaim = "feedmill_workspace"
)

// notBeforeLeeway is how far the issuer's clock can be ahead. The expiry has no leeway.
const notBeforeLeeway = time.Minute

// token verifies a JWT of the issuer and returns its principal.
func (a *Authenticator) token(ctx context.Context, raw string) (entry, error) {
	read := time.Now()
	claims, err := a.issuer.verify(ctx, raw, func(claims jwt.MapClaims) error {
		return a.checkClaims(claims, a.audience, read)
	})
	if err != nil {
		return entry{}, err
	}
	principal, err := a.principal(ctx, claims)
	if err != nil {
		return entry{}, err
	}
	exp, _ := claims.GetExpirationTime()
	return entry{principal: principal, expires: earlier(read.Add(a.ttl), exp.Time)}, nil
}

// principal returns the principal of verified claims.
func (a *Authenticator) principal(ctx context.Context, claims jwt.MapClaims) (feedmill.Principal, error) {
	workspace, err := a.tokenWorkspace(ctx, claims)
	if err != nil {
		return feedmill.Principal{}, err
	}
	subject, _ := claims.GetSubject()
	principal := feedmill.Principal{
		Workspace: workspace.ID,
		Subject:   a.issuer.url + "|" + subject,
		Scopes:    tokenScopes(claims),
		Quotas:    workspace.Quotas,
	}
	principal.AllWorkspaces = isOperator(principal, workspace)
	principal.Name, _ = claims["name"].(string)
	if principal.Name == "" {
		principal.Name = subject
	}
	return principal, nil
}

// checkClaims checks the registered claims against the configuration and the clock. It runs
// before the signature is verified.
func (a *Authenticator) checkClaims(claims jwt.MapClaims, audience string, now time.Time) error {
	if issuer, err := claims.GetIssuer(); err != nil || issuer != a.issuer.url {
		return refuse("The token's iss claim does not match the configured issuer.")
	}
	if given, err := claims.GetAudience(); err != nil || !slices.Contains(given, audience) {
		return refuse("The token was issued for another service: its aud claim does not contain " + audience + ".")
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return refuse("The token's exp claim is missing or is not a time.")
	}
	if !now.Before(expires.Time) {
		return refuse("The token has expired. Request a new one from the issuer.")
	}
	starts, err := claims.GetNotBefore()
	if err != nil {
		return refuse("The token's nbf claim is not a time.")
	}
	if starts != nil && now.Add(notBeforeLeeway).Before(starts.Time) {
		return refuse("The token is not valid yet: its nbf claim is in the future.")
	}
	if subject, err := claims.GetSubject(); err != nil || subject == "" {
		return refuse("The token has no sub claim.")
	}
	return nil
}

// tokenWorkspace returns the workspace of a token. A text in the form of an id is always an
// id and never a name.
func (a *Authenticator) tokenWorkspace(ctx context.Context, claims jwt.MapClaims) (feedmill.Workspace, error) {
	named, _ := claims[workspaceClaim].(string)
	if named == "" {
		return feedmill.Workspace{}, refuse("The token has no " + workspaceClaim + " claim. It must contain the ID or the name of a workspace.")
	}
	var (
		workspace feedmill.Workspace
		err       error
	)
	if feedmill.IsID(feedmill.PrefixWorkspace, named) {
		workspace, err = a.store.WorkspaceByID(ctx, feedmill.ID(named))
	} else {
		workspace, err = a.store.WorkspaceByName(ctx, named)
	}
	if errors.Is(err, feedmill.ErrNotFound) || err == nil && workspace.Deleting != nil {
		return feedmill.Workspace{}, refuse("The token's " + workspaceClaim + " claim does not name a workspace of this service.")
	}
	if err != nil {
		return feedmill.Workspace{}, fmt.Errorf("look up workspace of token: %w", err)
	}
	return workspace, nil
}

// tokenScopes returns the scopes of a token that Feedmill knows, from a space-separated text
// (RFC 8693, section 4.2) or an array, which some issuers write.
func tokenScopes(claims jwt.MapClaims) []feedmill.Scope {
	var named []string
	switch claim := claims[scopeClaim].(type) {
	case string:
		named = strings.Fields(claim)
	case []any:
		for _, one := range claim {
			if text, ok := one.(string); ok {
				named = append(named, text)
			}
		}
	}
	var scopes []feedmill.Scope
	for _, scope := range feedmill.Scopes {
		if slices.Contains(named, string(scope)) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}
