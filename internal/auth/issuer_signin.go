package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/feedmill/feedmill"
	"github.com/golang-jwt/jwt/v5"
)

// signInScope is the scope that the issuer is asked for. It has no scopes of Feedmill:
// issuers refuse unknown scopes, and the issuer decides what a user can do.
const signInScope = "openid profile"

// SignsPeopleIn reports whether users can sign in at the issuer.
func (a *Authenticator) SignsPeopleIn() bool { return a.issuer != nil && a.client.ID != "" }

// IssuerName returns the issuer's host, or "" if users cannot sign in there.
func (a *Authenticator) IssuerName() string {
	if !a.SignsPeopleIn() {
		return ""
	}
	u, err := url.Parse(a.issuer.url)
	if err != nil || u.Host == "" {
		return a.issuer.url
	}
	return u.Host
}

// attempt is one sign-in of one browser, which has its secret in a cookie. State, nonce and
// verifier are HMACs of the secret, so no replica stores anything, and none of them reveals
// the secret or another one.
type attempt struct{ secret string }

func (t attempt) derive(name string) string {
	mac := hmac.New(sha256.New, []byte(t.secret))
	io.WriteString(mac, name)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (t attempt) state() string    { return t.derive("state") }
func (t attempt) nonce() string    { return t.derive("nonce") }
func (t attempt) verifier() string { return t.derive("verifier") }

// equalSecrets compares two texts in constant time. It returns false for empty ones.
func equalSecrets(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// BeginAtIssuer starts a sign-in by authorization code. It returns the secret that the
// browser keeps until the callback, and the URL to redirect to.
func (a *Authenticator) BeginAtIssuer(ctx context.Context, callback string) (secret, to string, err error) {
	at, err := a.signInEndpoints(ctx)
	if err != nil {
		return "", "", err
	}
	u, err := url.Parse(at.Authorize)
	if err != nil {
		return "", "", err
	}
	secret = feedmill.NewSessionToken()
	try := attempt{secret}
	challenge := sha256.Sum256([]byte(try.verifier()))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": a.client.ID, "redirect_uri": callback, "scope": signInScope,
		"state": try.state(), "nonce": try.nonce(),
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return secret, u.String(), nil
}

// signInEndpoints returns the issuer's endpoints for signing in.
func (a *Authenticator) signInEndpoints(ctx context.Context) (endpoints, error) {
	if !a.SignsPeopleIn() {
		return endpoints{}, refuse("Sign-in with an issuer is not configured. Sign in with an API key.")
	}
	at, err := a.issuer.endpoints(ctx)
	if errors.Is(err, feedmill.ErrUnavailable) {
		err = issuerUnavailable()
	}
	if err != nil {
		return at, err
	}
	for name, address := range map[string]string{"authorization_endpoint": at.Authorize, "token_endpoint": at.Token} {
		if err := a.issuer.checkEndpoint(address); err != nil {
			a.logger.WarnContext(ctx, "sign-in with the OIDC issuer is not possible", "issuer", a.issuer.url, name, address, "error", err)
			return at, issuerUnavailable()
		}
	}
	return at, nil
}

func issuerUnavailable() error {
	return &feedmill.Error{Kind: feedmill.ErrUnavailable, Detail: "The sign-in failed because the issuer is unavailable or returns an invalid response. Retry, or sign in with an API key.", RetryAfter: fetchBackoff}
}

// ReturnFromIssuer checks the issuer's response and redeems its code. It returns the secret
// of a link that signs the user in, once.
func (a *Authenticator) ReturnFromIssuer(ctx context.Context, secret, callback string, response feedmill.SignInAnswer) (text string, err error) {
	try := attempt{secret}
	switch {
	case secret == "":
		return "", refuse("The sign-in was started in another browser or more than 10 minutes ago, or is already complete. Sign in again.")
	case !equalSecrets(try.state(), response.State):
		return "", refuse("The issuer's response does not belong to this browser's sign-in. Sign in again.")
	case a.issuer == nil || response.Issuer != "" && response.Issuer != a.issuer.url:
		return "", refuse("The response is from another issuer. Sign in again.")
	case response.Error == "access_denied":
		return "", refuse("The issuer denied access, or you declined it there. Sign in again.")
	case response.Error != "":
		return "", refuse(fmt.Sprintf("The issuer returned the error %q. Sign in again.", printable(response.Error, 60)))
	case response.Code == "":
		return "", refuse("The issuer's response has no authorization code. Sign in again.")
	}
	at, err := a.signInEndpoints(ctx)
	if err != nil {
		return "", err
	}
	token, err := a.redeem(ctx, at, url.Values{
		"grant_type": {"authorization_code"}, "code": {response.Code}, "redirect_uri": {callback}, "code_verifier": {try.verifier()},
	})
	if err != nil {
		return "", err
	}
	who, err := a.identity(ctx, token, try.nonce())
	if err != nil {
		return "", err
	}
	return a.links.add(link{who: who, expires: time.Now().Add(issuerLinkAge)}), nil
}

// redeem exchanges a code for an ID token. Its errors contain neither the code nor the
// client's secret.
func (a *Authenticator) redeem(ctx context.Context, at endpoints, form url.Values) (idToken string, err error) {
	if !at.basic() {
		form.Set("client_id", a.client.ID)
		form.Set("client_secret", a.client.Secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Token, strings.NewReader(form.Encode()))
	if err != nil {
		return "", issuerUnavailable()
	}
	if at.basic() { // in the form of RFC 6749, section 2.3.1
		r.SetBasicAuth(url.QueryEscape(a.client.ID), url.QueryEscape(a.client.Secret))
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	var got struct {
		IDToken string `json:"id_token"`
		Error   string `json:"error"`
	}
	resp, err := a.issuer.client.Do(r)
	if err != nil {
		a.logger.WarnContext(ctx, "the token request to the OIDC issuer failed", "issuer", a.issuer.url, "error", err)
		return "", issuerUnavailable()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if err == nil {
		err = json.Unmarshal(body, &got)
	}
	switch {
	case got.Error == "invalid_grant":
		return "", refuse("The issuer rejected the authorization code: it was already used, or has expired. Sign in again.")
	case got.Error != "" || err != nil || resp.StatusCode != http.StatusOK:
		a.logger.WarnContext(ctx, "the OIDC issuer did not return a token", "issuer", a.issuer.url, "status", resp.StatusCode, "error", printable(got.Error, 60))
		return "", issuerUnavailable()
	case got.IDToken == "":
		return "", refuse("The issuer's response has no ID token, so it does not identify you.")
	}
	return got.IDToken, nil
}

// identity returns the principal of an ID token. It checks the claims of any token of the
// issuer, and that the token is for this client and this sign-in.
func (a *Authenticator) identity(ctx context.Context, raw, nonce string) (feedmill.Principal, error) {
	read := time.Now()
	claims, err := a.issuer.verify(ctx, raw, func(claims jwt.MapClaims) error {
		if err := a.checkClaims(claims, a.client.ID, read); err != nil {
			return err
		}
		if azp, given := claims["azp"]; given && azp != a.client.ID {
			return refuse("The ID token was issued for another client: its azp claim does not name this service.")
		}
		if given, _ := claims["nonce"].(string); !equalSecrets(nonce, given) {
			return refuse("The ID token belongs to another sign-in. Sign in again.")
		}
		return nil
	})
	if err != nil {
		return feedmill.Principal{}, err
	}
	who, err := a.principal(ctx, claims)
	if err != nil {
		return feedmill.Principal{}, err
	}
	if len(who.Scopes) == 0 {
		return feedmill.Principal{}, refuse("Your account has no access to this service: the " + scopeClaim + " claim contains no scope of Feedmill. Ask the operator.")
	}
	who.Name, who.SignedIn = printable(who.Name, 200), true
	return who, nil
}

// printable returns the first printable characters of a text from the issuer.
func printable(text string, most int) string {
	runes := slices.DeleteFunc([]rune(strings.ToValidUTF8(text, "")), func(r rune) bool { return !unicode.IsPrint(r) })
	return string(runes[:min(len(runes), most)])
}
