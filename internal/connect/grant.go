package connect

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/feedmill/feedmill"
)

// challenge is what the provider is shown of a verifier (RFC 7636).
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Return takes the provider's answer, has the code redeemed, and makes the connection
// of what was granted. Whatever is wrong ends the sign-in: a code is never tried twice.
func (c *Connect) Return(ctx context.Context, visit string, a feedmill.SignInAnswer) (feedmill.SignIn, error) {
	in, h, err := c.visited(ctx, visit, feedmill.SignInBegun)
	if err != nil {
		return in, err
	}
	// The answer belongs to this browser and to this provider, or nothing happens.
	if !same(h.State, a.State) || in.Service != a.Service {
		return in, conflict("sign-in-refused", "The provider's response does not belong to this sign-in. Request a new link.")
	}
	// From here on the code is used up, whoever else may send it.
	in, err = c.Store.ChangeSignIn(ctx, in.Link, func(in *feedmill.SignIn) error {
		if err := checkVisited(*in, feedmill.SignInBegun); err != nil {
			return err
		}
		in.State = feedmill.SignInDone
		return c.seal(in, held{})
	})
	if err != nil {
		return in, err
	}
	token, err := c.redeem(ctx, in.Service, h, a)
	if err != nil {
		return in, err
	}
	if in.Connection != "" {
		err := c.services.Regrant(ctx, in.Workspace, in.Connection, token)
		if err == nil {
			err = c.feeds.Reconnected(ctx, in.Workspace, in.Connection)
		}
		if err != nil { // nobody holds it
			err = errors.Join(err, c.Revoke(context.WithoutCancel(ctx), in.Service, token))
		}
		return in, err
	}
	made, err := c.services.Grant(ctx, in.Workspace, in.Service, token)
	if err != nil {
		return in, errors.Join(err, c.Revoke(ctx, in.Service, token))
	}
	granted, err := c.Store.ChangeSignIn(ctx, in.Link, func(in *feedmill.SignIn) error {
		in.State, in.Connection = feedmill.SignInGranted, made.ID
		return nil
	})
	if err != nil { // nobody could choose anything of it
		return in, errors.Join(err, c.services.Delete(context.WithoutCancel(ctx), in.Workspace, made.ID))
	}
	return granted, nil
}

// redeem exchanges a code for what was granted.
func (c *Connect) redeem(ctx context.Context, service string, h held, a feedmill.SignInAnswer) (refreshToken string, err error) {
	provider, client, err := c.provider(service)
	if err != nil {
		return "", err
	}
	refused := func(format string, args ...any) error {
		return conflict("sign-in-refused", fmt.Sprintf(format, args...)+" The service was not connected. Request a new link to try again.")
	}
	switch {
	case a.Error == "access_denied":
		return "", refused("The provider did not grant access.")
	case a.Error != "":
		return "", refused("The provider returned the error %q.", printable(a.Error))
	case a.Code == "":
		return "", refused("The provider's response has no authorization code.")
	case provider.Issuer != "" && a.Issuer != "" && a.Issuer != provider.Issuer:
		return "", refused("The response is from another provider.")
	}
	got, err := c.tokens(ctx, provider.TokenURL, url.Values{
		"grant_type": {"authorization_code"}, "code": {a.Code}, "redirect_uri": {c.callback(service)}, "code_verifier": {h.Verifier},
		"client_id": {client.ID}, "client_secret": {client.Secret},
	})
	switch {
	case err != nil:
		return "", refused("The token request to the provider failed: %s.", err)
	case got.Error != "":
		return "", refused("The provider rejected the authorization code with the error %q.", printable(got.Error))
	case got.IDToken != "" && !same(h.Nonce, nonceOf(got.IDToken)):
		return "", refused("The provider's response belongs to another sign-in.")
	case got.RefreshToken == "":
		return "", refused("The provider did not grant lasting access: its response has no refresh token.")
	}
	return got.RefreshToken, nil
}

// received is what a token endpoint answers.
type received struct {
	RefreshToken string `json:"refresh_token"`
	IDToken      string `json:"id_token"`
	Error        string `json:"error"`
}

// maxTokens is how many bytes of it are read.
const maxTokens = 1 << 20

// tokens asks a token endpoint. An error of it has no secret.
func (c *Connect) tokens(ctx context.Context, address string, form url.Values) (t received, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return t, errors.New("the token URL is not valid")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return t, errors.New("the provider cannot be reached")
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTokens))
	if err != nil {
		return t, errors.New("the response was incomplete")
	}
	if err := json.Unmarshal(body, &t); err != nil || resp.StatusCode != http.StatusOK && t.Error == "" {
		return t, fmt.Errorf("the provider returned %d", resp.StatusCode)
	}
	return t, nil
}

// nonceOf is the nonce of an ID token. It came straight from the provider over TLS,
// so that its signature says nothing more.
func nonceOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Nonce string `json:"nonce"`
	}
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.Nonce
}

// printable is the beginning of a word of the provider's, without what could be
// taken for something else.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text[:min(len(text), 100)])
}
