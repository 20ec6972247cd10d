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

// peopleScope is what the issuer is asked for. Scopes of Feedmill are not: issuers refuse
// those that they do not know, and what somebody may do is for the issuer to say.
const peopleScope = "openid profile"

// SignsPeopleIn reports whether people can sign in at the issuer.
func (a *Authenticator) SignsPeopleIn() bool { return a.issuer != nil && a.client.ID != "" }

// IssuerName is what people know the issuer by; empty where nobody can sign in there.
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

// attempt is one sign-in of one browser, which holds its secret. All that the issuer is
// told and held to is made of that, so that no replica has to remember anything; what the
// issuer and the address bar see of it leads neither back to it nor from one to the other.
type attempt struct{ secret string }

func (t attempt) part(name string) string {
	mac := hmac.New(sha256.New, []byte(t.secret))
	io.WriteString(mac, name)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (t attempt) state() string    { return t.part("state") }
func (t attempt) nonce() string    { return t.part("nonce") }
func (t attempt) verifier() string { return t.part("verifier") }

// same compares what must not be found out letter by letter.
func same(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// BeginAtIssuer begins a sign-in of a person by authorization code. It returns the secret
// that the browser holds until it comes back to the callback, and where it goes.
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
		"response_type": "code", "client_id": a.client.ID, "redirect_uri": callback, "scope": peopleScope,
		"state": try.state(), "nonce": try.nonce(),
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return secret, u.String(), nil
}

// signInEndpoints are where people sign in, where the issuer names it.
func (a *Authenticator) signInEndpoints(ctx context.Context) (endpoints, error) {
	if !a.SignsPeopleIn() {
		return endpoints{}, refuse("Nobody can sign in at an issuer here. Sign in with an API key.")
	}
	at, err := a.issuer.endpoints(ctx)
	if errors.Is(err, feedmill.ErrUnavailable) {
		err = issuerAway()
	}
	if err != nil {
		return at, err
	}
	for name, address := range map[string]string{"authorization_endpoint": at.Authorize, "token_endpoint": at.Token} {
		if err := a.issuer.mayLeadTo(address); err != nil {
			a.logger.WarnContext(ctx, "nobody can sign in at the OIDC issuer", "issuer", a.issuer.url, name, address, "error", err)
			return at, issuerAway()
		}
	}
	return at, nil
}

func issuerAway() error {
	return &feedmill.Error{Kind: feedmill.ErrUnavailable, Detail: "The sign-in is not possible now, because the issuer does not answer as it should. Try again, or sign in with an API key.", RetryAfter: fetchBackoff}
}

// ReturnFromIssuer takes the issuer's answer and has the code redeemed. It returns the
// secret text of a link that signs the person in, once.
func (a *Authenticator) ReturnFromIssuer(ctx context.Context, secret, callback string, said feedmill.SignInAnswer) (text string, err error) {
	try := attempt{secret}
	switch {
	case secret == "":
		return "", refuse("This sign-in was not begun in this browser, or longer than 10 minutes ago, or it is over. Sign in again.")
	case !same(try.state(), said.State):
		return "", refuse("The issuer's answer does not belong to the sign-in of this browser. Sign in again.")
	case a.issuer == nil || said.Issuer != "" && said.Issuer != a.issuer.url:
		return "", refuse("The answer is from another issuer. Sign in again.")
	case said.Error == "access_denied":
		return "", refuse("The issuer did not let you in, or you said no there.")
	case said.Error != "":
		return "", refuse(fmt.Sprintf("The issuer answered with the error %q. Sign in again.", plain(said.Error, 60)))
	case said.Code == "":
		return "", refuse("The issuer sent no code. Sign in again.")
	}
	at, err := a.signInEndpoints(ctx)
	if err != nil {
		return "", err
	}
	token, err := a.redeem(ctx, at, url.Values{
		"grant_type": {"authorization_code"}, "code": {said.Code}, "redirect_uri": {callback}, "code_verifier": {try.verifier()},
	})
	if err != nil {
		return "", err
	}
	who, err := a.identity(ctx, token, try.nonce())
	if err != nil {
		return "", err
	}
	return a.links.add(link{who: who, expires: time.Now().Add(personLinkAge)}), nil
}

// redeem exchanges a code for an ID token. Its errors have nothing of the code and the
// client's secret.
func (a *Authenticator) redeem(ctx context.Context, at endpoints, form url.Values) (idToken string, err error) {
	if !at.basic() {
		form.Set("client_id", a.client.ID)
		form.Set("client_secret", a.client.Secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Token, strings.NewReader(form.Encode()))
	if err != nil {
		return "", issuerAway()
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
		a.logger.WarnContext(ctx, "the OIDC issuer cannot be asked for a token", "issuer", a.issuer.url, "error", err)
		return "", issuerAway()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if err == nil {
		err = json.Unmarshal(body, &got)
	}
	switch {
	case got.Error == "invalid_grant":
		return "", refuse("The issuer refused the code: it was used before, or is too old. Sign in again.")
	case got.Error != "" || err != nil || resp.StatusCode != http.StatusOK:
		a.logger.WarnContext(ctx, "the OIDC issuer gives no token", "issuer", a.issuer.url, "status", resp.StatusCode, "error", plain(got.Error, 60))
		return "", issuerAway()
	case got.IDToken == "":
		return "", refuse("The issuer sent no ID token, and so did not say who you are.")
	}
	return got.IDToken, nil
}

// identity is who an ID token stands for: by the same claims as any token of the issuer,
// but made for the client, and for this sign-in alone.
func (a *Authenticator) identity(ctx context.Context, raw, nonce string) (feedmill.Principal, error) {
	read := time.Now()
	claims, err := a.issuer.verify(ctx, raw, func(claims jwt.MapClaims) error {
		if err := a.checkClaims(claims, a.client.ID, read); err != nil {
			return err
		}
		if azp, given := claims["azp"]; given && azp != a.client.ID {
			return refuse("The ID token was made for another client: its azp claim is not that of this service.")
		}
		if given, _ := claims["nonce"].(string); !same(nonce, given) {
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
		return feedmill.Principal{}, refuse("The issuer says who you are, but not that you may do anything here: the " + scopeClaim + " claim has no scope of Feedmill. Ask the operator.")
	}
	who.Name, who.SignedIn = plain(who.Name, 200), true
	return who, nil
}

// plain is the beginning of a text of the issuer's, in one line.
func plain(text string, most int) string {
	runes := slices.DeleteFunc([]rune(strings.ToValidUTF8(text, "")), func(r rune) bool { return !unicode.IsPrint(r) })
	return string(runes[:min(len(runes), most)])
}
