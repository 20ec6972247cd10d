package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/golang-jwt/jwt/v5"
)

const (
	// fetchTimeout bounds one reading of the issuer's configuration and keys.
	fetchTimeout = 5 * time.Second
	// fetchEvery is the least time between two readings, so that tokens with
	// made-up keys do not become load on the issuer.
	fetchEvery = time.Second
	// fetchBackoff is the least time after a reading that failed.
	fetchBackoff = 5 * time.Second
	// keysMaxAge is when keys are read again without cause, so that one that
	// the issuer has withdrawn is not trusted for ever.
	keysMaxAge = 10 * time.Minute
	// maxDocument bounds what is read of an issuer's answer.
	maxDocument = 1 << 20
)

// algorithms are the signatures that are accepted. All of them need a private
// key, so that the issuer's public keys are no use to a forger.
var algorithms = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
	"ES256", "ES384", "ES512", "EdDSA",
}

// issuer verifies the signatures of an OIDC issuer. Its configuration and keys
// are read when the first token comes, when a token's signature fits none of
// the keys (the issuer may have rotated them), and when they have grown old.
type issuer struct {
	url    string
	client *http.Client
	logger *slog.Logger
	parser *jwt.Parser
	keys   atomic.Pointer[keySet]

	// fetching holds a token while the keys are read; it guards the fields
	// below. It is a channel so that waiting for it can be given up.
	fetching chan struct{}
	tried    time.Time // when the last reading began
	failed   bool      // whether it failed
}

// keySet is what one reading of the issuer found. It is never changed.
type keySet struct {
	keys []publicKey
	endpoints
	at time.Time // when the reading began
}

// endpoints are where people sign in, as the issuer's configuration names it. An issuer
// of nothing but tokens has none.
type endpoints struct {
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"`
}

// basic reports whether the client's secret goes into a header, as it does unless the
// issuer takes it in the form alone.
func (e endpoints) basic() bool {
	return slices.Contains(e.Methods, "client_secret_basic") || !slices.Contains(e.Methods, "client_secret_post")
}

// endpoints reads where people sign in, as often as the keys are read.
func (is *issuer) endpoints(ctx context.Context) (endpoints, error) {
	set := is.keys.Load()
	if set.at.IsZero() {
		if err := is.refresh(ctx, set); err != nil {
			return endpoints{}, err
		}
	} else if time.Since(set.at) >= keysMaxAge {
		is.renew(ctx)
	}
	return is.keys.Load().endpoints, nil
}

func newIssuer(issuerURL string, client *http.Client, logger *slog.Logger) *issuer {
	is := &issuer{
		url:    issuerURL,
		client: client,
		logger: logger,
		// Checking the claims is the caller's part, which has a clear word
		// for each of them.
		parser:   jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation()),
		fetching: make(chan struct{}, 1),
	}
	is.keys.Store(&keySet{})
	return is
}

// errNoKey says that none of the known keys made the token's signature.
var errNoKey = errors.New("no key of the issuer fits the token")

// errCritical says that the token asks for an extension of JWS.
var errCritical = errors.New("the token has critical header parameters")

// verify returns the claims of a token that the issuer signed. The check sees
// them first: a token that it refuses costs neither a signature nor a call to
// the issuer. A signature is only called wrong by keys that were read after the
// token came.
func (is *issuer) verify(ctx context.Context, raw string, check func(jwt.MapClaims) error) (jwt.MapClaims, error) {
	began := time.Now()
	if set := is.keys.Load(); !set.at.IsZero() && began.Sub(set.at) >= keysMaxAge {
		is.renew(ctx)
	}
	set := is.keys.Load()
	claims, err := is.parse(raw, set, check)
	for errors.Is(err, errNoKey) && !set.at.After(began) {
		if err := is.refresh(ctx, set); err != nil {
			return nil, err
		}
		set = is.keys.Load()
		claims, err = is.parse(raw, set, check)
	}
	if err == nil {
		return claims, nil
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		return nil, refusal
	}
	switch {
	case errors.Is(err, errNoKey):
		return nil, refuse("The token's signature does not verify with the keys of the issuer.")
	case errors.Is(err, jwt.ErrTokenMalformed):
		return nil, refuse("The token is not a well-formed JWT.")
	default:
		return nil, refuse("The token is signed in a way that is not accepted. Accepted are " + strings.Join(algorithms, ", ") + ", without critical header parameters.")
	}
}

// parse verifies the token's signature with the keys of the set.
func (is *issuer) parse(raw string, set *keySet, check func(jwt.MapClaims) error) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	checked := false
	_, err := is.parser.ParseWithClaims(raw, claims, func(token *jwt.Token) (any, error) {
		if _, ok := token.Header["crit"]; ok {
			return nil, errCritical
		}
		if err := check(claims); err != nil {
			return nil, err
		}
		checked = true
		kid, _ := token.Header["kid"].(string)
		var fitting jwt.VerificationKeySet
		for _, key := range set.keys {
			if key.fits(token.Method.Alg(), kid) {
				fitting.Keys = append(fitting.Keys, key.public)
			}
		}
		return fitting, nil
	})
	if err != nil && checked {
		return nil, errNoKey
	}
	return claims, err
}

// renew reads keys that have grown old again. It does not wait for another
// caller that is at it, and the old keys stay when the issuer is away.
func (is *issuer) renew(ctx context.Context) {
	select {
	case is.fetching <- struct{}{}:
		defer func() { <-is.fetching }()
	default:
		return
	}
	if is.pause() <= 0 {
		is.fetch(ctx)
	}
}

// refresh reads the keys again unless they are no longer those seen. Callers
// that come soon after a reading wait and share the next one: so none is
// refused for a key that the issuer already had, and made-up tokens cost the
// issuer one reading a second. While the issuer is away nobody waits.
func (is *issuer) refresh(ctx context.Context, seen *keySet) error {
	select {
	case is.fetching <- struct{}{}:
		defer func() { <-is.fetching }()
	case <-ctx.Done():
		return fmt.Errorf("wait for keys of the issuer: %w", ctx.Err())
	}
	if is.keys.Load() != seen {
		return nil
	}
	if pause := is.pause(); pause > 0 {
		if is.failed {
			return unreachable(pause)
		}
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for keys of the issuer: %w", ctx.Err())
		}
	}
	is.fetch(ctx)
	if is.failed {
		return unreachable(fetchBackoff)
	}
	return nil
}

// pause is how long to wait before the next reading.
func (is *issuer) pause() time.Duration {
	every := fetchEvery
	if is.failed {
		every = fetchBackoff
	}
	return every - time.Since(is.tried)
}

func unreachable(retryAfter time.Duration) error {
	return &feedmill.Error{
		Kind:       feedmill.ErrUnavailable,
		Detail:     "The token cannot be checked, because its issuer does not answer as it should. Try again.",
		RetryAfter: retryAfter,
	}
}

// fetch reads the keys for everybody: it does not stop when the caller that
// came first goes away.
func (is *issuer) fetch(ctx context.Context) {
	is.tried = time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	keys, at, err := is.readKeys(ctx)
	is.failed = err != nil
	if err != nil {
		is.logger.WarnContext(ctx, "OIDC issuer cannot be read", "issuer", is.url, "error", err)
		return
	}
	is.keys.Store(&keySet{keys: keys, endpoints: at, at: is.tried})
}

// readKeys follows OpenID Connect Discovery 1.0 from the issuer to its keys.
func (is *issuer) readKeys(ctx context.Context) ([]publicKey, endpoints, error) {
	var configuration struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
		endpoints
	}
	body, err := is.get(ctx, strings.TrimSuffix(is.url, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, endpoints{}, fmt.Errorf("configuration: %w", err)
	}
	if err := json.Unmarshal(body, &configuration); err != nil {
		return nil, endpoints{}, fmt.Errorf("configuration: %w", err)
	}
	if configuration.Issuer != is.url {
		return nil, endpoints{}, fmt.Errorf("configuration: it is of the issuer %q", configuration.Issuer)
	}
	if err := is.mayLeadTo(configuration.JWKSURI); err != nil {
		return nil, endpoints{}, fmt.Errorf("configuration: jwks_uri: %w", err)
	}
	if body, err = is.get(ctx, configuration.JWKSURI); err != nil {
		return nil, endpoints{}, fmt.Errorf("keys: %w", err)
	}
	keys, err := parseKeys(body)
	if err != nil {
		return nil, endpoints{}, fmt.Errorf("keys: %w", err)
	}
	return keys, configuration.endpoints, nil
}

// mayLeadTo refuses to leave https for the keys and the sign-in of an issuer that has it.
func (is *issuer) mayLeadTo(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	plain := u.Scheme == "http" && strings.HasPrefix(is.url, "http:")
	if u.Host == "" || u.Scheme != "https" && !plain {
		return errors.New("it is not an https URL")
	}
	return nil
}

func (is *issuer) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := is.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer has status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxDocument {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxDocument)
	}
	return body, nil
}
