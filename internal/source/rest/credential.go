package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// credential is what a request is signed with.
type credential struct {
	auth *auth
	// token is what was received for the secrets of the spec, where the kind
	// works like that; then it can be received again.
	token     string
	renewable bool
	// borrowed says that another has received it, who may have been told since that it
	// is not good any more.
	borrowed bool
}

// sign puts the credential into a request.
func (c credential) sign(request *http.Request) {
	switch a := c.auth; a.kind {
	case authBasic:
		request.SetBasicAuth(a.username, a.password)
	case authBearer:
		request.Header.Set("Authorization", "Bearer "+a.value)
	case authAPIKey:
		switch a.in {
		case inHeader:
			request.Header.Set(a.name, a.value)
		case inQuery:
			request.URL.RawQuery = setQuery(request.URL.RawQuery, a.name, a.value)
		case inCookie:
			request.AddCookie(&http.Cookie{Name: a.name, Value: a.value})
		}
	case authOAuth, authRenew, authJWT:
		request.Header.Set("Authorization", "Bearer "+c.token)
	case authAWS:
		a.signV4(request, time.Now())
	case authOAuth1:
		a.signOAuth1(request, time.Now(), newNonce())
	case authHMAC:
		a.signHMAC(request)
	case authLogin:
		request.Header.Set(a.header, prefixed(a.prefix, c.token))
	}
}

// signsAddress reports whether the credential is a signature of the request, which a redirect
// needs anew.
func (a *auth) signsAddress() bool {
	return a.in == inQuery || slices.Contains([]string{authAWS, authOAuth1, authHMAC, authDigest}, a.kind)
}

// prefixed puts a prefix before a token, with a space between where the prefix
// is a word.
func prefixed(prefix, token string) string {
	if prefix == "" {
		return token
	}
	if last := prefix[len(prefix)-1]; isDigit(last) || 'a' <= last|0x20 && last|0x20 <= 'z' {
		prefix += " "
	}
	return prefix + token
}

// credential is what the next request is signed with. A token is received
// first where there is none that is good.
func (r *run) credential(ctx context.Context, traced *[]feedmill.TracedRequest) (credential, error) {
	c := credential{auth: &r.spec.auth}
	var receive func(context.Context, *tokenSlot) (receivedToken, error)
	switch r.spec.auth.kind {
	default:
		return c, nil
	case authOAuth:
		receive = func(ctx context.Context, slot *tokenSlot) (receivedToken, error) {
			return r.clientToken(ctx, slot, traced, url.Values{"grant_type": {"client_credentials"}})
		}
	case authRenew:
		receive = func(ctx context.Context, slot *tokenSlot) (receivedToken, error) { return r.renew(ctx, slot, traced) }
	case authJWT:
		receive = func(ctx context.Context, _ *tokenSlot) (receivedToken, error) { return r.assert(ctx, traced) }
	case authLogin:
		receive = func(ctx context.Context, _ *tokenSlot) (receivedToken, error) { return r.login(ctx, traced) }
	}
	text, borrowed, err := r.f.tokens.get(ctx, r.tokenKey(), receive)
	if err != nil {
		return c, err
	}
	r.mask.add(text)
	c.token, c.renewable, c.borrowed = text, true, borrowed
	return c, nil
}

func (r *run) tokenKey() string { return string(r.job.Source) + " " + r.spec.credentialHash() }

// credentialHash tells credentials apart and says nothing about them.
func (s *Spec) credentialHash() string {
	hash := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			_, _ = fmt.Fprintf(hash, "%d:%s", len(part), part)
		}
	}
	a := &s.auth
	value := a.value
	if a.kind == authRenew {
		value = "" // It changes, and the credential stays the same.
	}
	add(a.kind, a.username, a.password, value, a.in, a.name, a.scope, a.header, a.prefix, a.region, a.service, a.issuer, a.subject, a.token, a.tokenSecret, a.audience, a.placement, a.hmac.algorithm, a.hmac.over.text)
	if s.tls != nil {
		add(s.tls.hash)
	}
	if a.tokenURL != nil {
		add(a.tokenURL.String())
	}
	if a.login.origin != nil {
		body, _, _ := a.login.payload(moment{}, nil)
		add(a.login.url.text, body)
	}
	for _, p := range slices.Concat(s.request.query, s.request.headers, a.login.query, a.login.headers, a.parameters) {
		if p.secret {
			add(strings.ToLower(p.name))
			for _, v := range p.values {
				add(v.text)
			}
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
