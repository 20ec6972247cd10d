package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill"
)

const (
	// maxTokens is the maximum number of tokens that are kept.
	maxTokens = 4096
	// maxToken is the maximum length of a token.
	maxToken = 16 << 10
	// A token is renewed before it expires: by a tenth of its lifetime, at most renewBefore.
	renewBefore = 30 * time.Second
	maxLifetime = 365 * 24 * time.Hour
)

// tokens are the access tokens of webhooks, for as long as they are valid.
type tokens struct {
	mu sync.Mutex
	of map[string]*token
}

// token is the access token of one client.
type token struct {
	text string
	// until is when it is renewed, zero for when the endpoint refuses it.
	until time.Time
	used  time.Time
	// inBody sends the client's credentials in the body of token requests.
	inBody bool
	// request is in flight; nil if none is.
	request *tokenRequest
}

// tokenRequest is a token request that all attempts wait for.
type tokenRequest struct {
	done chan struct{}
	text string
	err  error
	// givenUp reports that the attempt that made it was canceled.
	givenUp bool
}

// errToken is the error of a token request, with a text for the subscriber.
type errToken struct {
	text string
	// responded reports that the token endpoint responded.
	responded bool
}

func (e *errToken) Error() string { return e.text }

// client identifies who a token is for.
type client struct {
	*oauth2
	key       string
	url       *url.URL
	workspace feedmill.ID
	tls       *feedmill.ClientTLS
	userAgent string
}

// newClient prepares token requests of a workspace.
func newClient(workspace feedmill.ID, c *oauth2, s *feedmill.ClientTLS) (*client, error) {
	if c == nil {
		return nil, nil
	}
	sum := sha256.New()
	made := &client{oauth2: c, workspace: workspace}
	if s != nil {
		made.tls = &feedmill.ClientTLS{ID: s.ID + " token", Authorities: s.Authorities, AddAuthorities: true, Certificate: s.Certificate}
		_, _ = io.WriteString(sum, s.ID)
	}
	for _, text := range []string{string(workspace), c.TokenURL, c.ClientID, c.ClientSecret, c.Scope, c.Audience} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	made.key = hex.EncodeToString(sum.Sum(nil))
	var err error
	if made.url, err = url.Parse(c.TokenURL); err != nil {
		return nil, errors.New("the tokenUrl cannot be used")
	}
	return made, nil
}

// token returns a valid access token. One attempt requests it and all others wait for the
// same response.
func (k *Kind) token(ctx context.Context, c *client, deadline time.Time) (string, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for {
		text, request, mine := k.tokens.begin(c.key, time.Now())
		switch {
		case text != "":
			return text, nil
		case mine:
			return k.requestToken(ctx, c, request, deadline)
		}
		select {
		case <-request.done:
			if !request.givenUp {
				return request.text, request.err
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// begin returns the token, or the request that is in flight. mine reports that the caller
// must make it.
func (t *tokens) begin(key string, now time.Time) (text string, request *tokenRequest, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = make(map[string]*token)
	}
	of := t.of[key]
	if of == nil {
		t.makeRoom()
		of = new(token)
		t.of[key] = of
	}
	of.used = now
	if of.text != "" && (of.until.IsZero() || now.Before(of.until)) {
		return of.text, nil, false
	}
	if of.request != nil {
		return "", of.request, false
	}
	of.request = &tokenRequest{done: make(chan struct{})}
	return "", of.request, true
}

// makeRoom removes the token that was not used for the longest time if there are too many.
func (t *tokens) makeRoom() {
	if len(t.of) < maxTokens {
		return
	}
	oldest := ""
	for key, of := range t.of {
		if of.request == nil && (oldest == "" || of.used.Before(t.of[oldest].used)) {
			oldest = key
		}
	}
	delete(t.of, oldest)
}

// drop removes a token that the endpoint refused, unless it was renewed meanwhile.
func (t *tokens) drop(key, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of := t.of[key]; of != nil && of.text == text {
		of.text = ""
	}
}

// requestToken makes the token request that others wait for.
func (k *Kind) requestToken(ctx context.Context, c *client, request *tokenRequest, deadline time.Time) (string, error) {
	k.tokens.mu.Lock()
	inBody := k.tokens.of[c.key].inBody
	k.tokens.mu.Unlock()
	received, err := k.exchangeToken(ctx, c, deadline, inBody)
	if refused, ok := errors.AsType[*errToken](err); ok && refused.responded && !inBody && received.clientRefused {
		// RFC 6749 wants the credentials in the header; some servers read only the body.
		if again, errAgain := k.exchangeToken(ctx, c, deadline, true); errAgain == nil {
			received, err, inBody = again, nil, true
		}
	}
	request.text, request.err, request.givenUp = received.text, err, errors.Is(ctx.Err(), context.Canceled)
	k.tokens.mu.Lock()
	of := k.tokens.of[c.key]
	of.request, of.text, of.until, of.inBody = nil, received.text, time.Time{}, inBody
	if life := received.lives; life > 0 {
		of.until = time.Now().Add(life - min(life/10, renewBefore))
	}
	k.tokens.mu.Unlock()
	close(request.done)
	return request.text, request.err
}

// receivedToken is the response of a token endpoint.
type receivedToken struct {
	text string
	// lives is how long the token is valid, 0 if that is not known.
	lives time.Duration
	// clientRefused reports that the credentials of the client were refused.
	clientRefused bool
}

// exchangeToken makes one token request.
func (k *Kind) exchangeToken(ctx context.Context, c *client, deadline time.Time, inBody bool) (received receivedToken, err error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if c.Scope != "" {
		form.Set("scope", c.Scope)
	}
	if c.Audience != "" {
		form.Set("audience", c.Audience)
	}
	header := [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}, {"User-Agent", c.userAgent}}
	if inBody {
		form.Set("client_id", c.ClientID)
		form.Set("client_secret", c.ClientSecret)
	} else {
		pair := url.QueryEscape(c.ClientID) + ":" + url.QueryEscape(c.ClientSecret)
		header = append(header, [2]string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))})
	}
	request := feedmill.HTTPRequest{Workspace: c.workspace, Method: http.MethodPost, URL: c.url, Header: header, Body: []byte(form.Encode()), TLS: c.tls}
	a, err := k.Transport.Exchange(ctx, deadline, &request, new(feedmill.Timing))
	if err != nil {
		return received, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil && isTimeout(err) {
		return received, err
	}
	return parseToken(a.Status, body)
}

// oauthErrors are the errors of RFC 6749. No other text of a response is shown, because it
// can have secrets.
var oauthErrors = []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}

// parseToken reads the response of a token endpoint.
func parseToken(status int, body []byte) (received receivedToken, err error) {
	var in struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   any    `json:"expires_in"`
		Error       string `json:"error"`
	}
	unreadable := json.Unmarshal(body, &in)
	fail := func(text string) (receivedToken, error) {
		return received, &errToken{text: "the token request failed: " + text, responded: true}
	}
	switch {
	case status < 200 || status > 299 || in.Error != "":
		received.clientRefused = status == http.StatusUnauthorized || in.Error == "invalid_client" || status == http.StatusBadRequest && (in.Error == "" || in.Error == "invalid_request")
		text := fmt.Sprintf("the token endpoint returned %d %s", status, http.StatusText(status))
		if slices.Contains(oauthErrors, in.Error) {
			text += " (" + in.Error + ")"
		}
		return fail(text)
	case unreadable != nil:
		return fail("the response of the token endpoint is not a valid JSON object")
	case in.AccessToken == "":
		return fail("the response of the token endpoint has no access_token")
	case len(in.AccessToken) > maxToken || !isPrintable(in.AccessToken) || !httpguts.ValidHeaderFieldValue(in.AccessToken):
		return fail("the access_token cannot be sent in a header")
	case in.TokenType != "" && !strings.EqualFold(in.TokenType, "bearer"):
		return fail("the token_type is not bearer")
	}
	received.text = in.AccessToken
	switch lives := in.ExpiresIn.(type) {
	case float64:
		received.lives = lifetime(lives)
	case string: // as some servers write it
		if seconds, err := strconv.ParseFloat(lives, 64); err == nil {
			received.lives = lifetime(seconds)
		}
	}
	return received, nil
}

// lifetime is a number of seconds as a duration.
func lifetime(seconds float64) time.Duration {
	if !(seconds > 0) { // nor is it NaN
		return 0
	}
	return time.Duration(min(seconds, maxLifetime.Seconds()) * float64(time.Second))
}
