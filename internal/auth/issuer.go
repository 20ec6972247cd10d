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
	// fetchTimeout is the timeout for fetching the issuer's configuration and keys.
	fetchTimeout = 5 * time.Second
	// fetchEvery is the minimum interval between fetches, so that forged tokens do not
	// cause load on the issuer.
	fetchEvery = time.Second
	// fetchBackoff is the minimum wait after a failed fetch.
	fetchBackoff = 5 * time.Second
	// keysMaxAge is the age at which keys are fetched again, so that a withdrawn key is not
	// trusted forever.
	keysMaxAge = 10 * time.Minute
	// maxDocument is the maximum size of an issuer's response.
	maxDocument = 1 << 20
)

// algorithms lists the accepted signature algorithms. All are asymmetric, so the issuer's
// public keys cannot be used to forge tokens.
var algorithms = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
	"ES256", "ES384", "ES512", "EdDSA",
}

// issuer verifies the signatures of an OIDC issuer. It fetches configuration and keys for
// the first token, for a token that no known key verifies (the issuer may have rotated
// them), and when the keys are older than keysMaxAge.
type issuer struct {
	url    string
	client *http.Client
	logger *slog.Logger
	parser *jwt.Parser
	keys   atomic.Pointer[keySet]

	// fetching is a mutex for fetching keys, and guards the fields below. It is a channel
	// so that waiting can be canceled.
	fetching  chan struct{}
	fetchedAt time.Time // when the last fetch started
	failed    bool      // whether it failed
}

// keySet is the result of one fetch. It is immutable.
type keySet struct {
	keys []publicKey
	endpoints
	at time.Time // when the fetch started
}

// endpoints are the endpoints for signing in, from the issuer's configuration. An issuer
// that only issues tokens has none.
type endpoints struct {
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"`
}

// basic reports whether the client's secret is sent in a header. It is, unless the issuer
// only accepts it in the form.
func (e endpoints) basic() bool {
	return slices.Contains(e.Methods, "client_secret_basic") || !slices.Contains(e.Methods, "client_secret_post")
}

// endpoints returns the endpoints for signing in. They are fetched with the keys.
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
		// The caller checks the claims, with a clear error for each.
		parser:   jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation()),
		fetching: make(chan struct{}, 1),
	}
	is.keys.Store(&keySet{})
	return is
}

// errNoKey reports that no known key verifies the token's signature.
var errNoKey = errors.New("no key of the issuer matches the token")

// errCritical reports that the token requires an extension of JWS.
var errCritical = errors.New("the token has critical header parameters")

// verify returns the claims of a token that the issuer signed. check runs first, so a token
// that it refuses costs neither a signature nor a call to the issuer. A signature is only
// rejected with keys that were fetched after the token arrived.
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
		return nil, refuse("The token's signature does not match the keys of the issuer.")
	case errors.Is(err, jwt.ErrTokenMalformed):
		return nil, refuse("The token is not a valid JWT.")
	default:
		return nil, refuse("The token's signature algorithm must be one of " + strings.Join(algorithms, ", ") + ", without critical header parameters.")
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
			if key.canVerify(token.Method.Alg(), kid) {
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

// renew fetches old keys again. It returns immediately if another caller is fetching. The
// old keys stay if the issuer is unavailable.
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

// refresh fetches the keys again, unless they have changed since seen. Callers within
// fetchEvery of a fetch wait and share the next one. So no token is refused for a key that
// the issuer has, and forged tokens cost the issuer at most one fetch a second. While the
// issuer is unavailable, callers do not wait.
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

// pause returns how long to wait before the next fetch.
func (is *issuer) pause() time.Duration {
	every := fetchEvery
	if is.failed {
		every = fetchBackoff
	}
	return every - time.Since(is.fetchedAt)
}

func unreachable(retryAfter time.Duration) error {
	return &feedmill.Error{
		Kind:       feedmill.ErrUnavailable,
		Detail:     "The token cannot be verified because its issuer is unavailable or returns an invalid response. Retry later.",
		RetryAfter: retryAfter,
	}
}

// fetch fetches the keys for all callers. It continues if the first caller's context ends.
func (is *issuer) fetch(ctx context.Context) {
	is.fetchedAt = time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	keys, at, err := is.readKeys(ctx)
	is.failed = err != nil
	if err != nil {
		is.logger.WarnContext(ctx, "reading the OIDC issuer's configuration failed", "issuer", is.url, "error", err)
		return
	}
	is.keys.Store(&keySet{keys: keys, endpoints: at, at: is.fetchedAt})
}

// readKeys fetches the issuer's keys by OpenID Connect Discovery 1.0.
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
		return nil, endpoints{}, fmt.Errorf("configuration: the issuer is %q", configuration.Issuer)
	}
	if err := is.checkEndpoint(configuration.JWKSURI); err != nil {
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

// checkEndpoint requires https for the endpoints of an issuer that uses https.
func (is *issuer) checkEndpoint(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	plain := u.Scheme == "http" && strings.HasPrefix(is.url, "http:")
	if u.Host == "" || u.Scheme != "https" && !plain {
		return errors.New("the URL is not an https URL")
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
		return nil, fmt.Errorf("the issuer returned %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxDocument {
		return nil, fmt.Errorf("the response has more than %d bytes", maxDocument)
	}
	return body, nil
}
