package rest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// maxTokenAnswer is how long the answer with a token may be.
const maxTokenAnswer = 1 << 20

// The members of the answer of a token endpoint (RFC 6749).
var (
	accessTokenPath = mustPath("$.access_token")
	expiresInPath   = mustPath("$.expires_in")

	refreshTokenPath = mustPath("$.refresh_token")
)

func mustPath(text string) *jsonpath.Path {
	path, err := jsonpath.Parse(text)
	if err != nil {
		panic(err)
	}
	return path
}

// askToken makes a request for a token and finds the values of paths in its
// answer.
func (r *run) askToken(ctx context.Context, build func(context.Context) (*http.Request, error), timeout time.Duration, traced *[]feedmill.TracedRequest, look func(*http.Response) bool, paths ...*jsonpath.Path) ([]value, error) {
	var found []value
	e := exchange{
		run: r, timeout: timeout, limit: maxTokenAnswer, traced: traced, arrived: look,
		build: func(ctx context.Context) (*http.Request, error) {
			request, err := build(ctx)
			if err == nil {
				r.f.identify(request)
			}
			return request, err
		},
		receive: func(response *http.Response, body io.Reader) (o outcome) {
			data, err := io.ReadAll(io.LimitReader(body, maxTokenAnswer))
			status := response.StatusCode
			_, wait := retryAfter(status, response.Header)
			switch {
			case status == http.StatusBadRequest, status == http.StatusUnauthorized, status == http.StatusForbidden && !wait:
				o.err = tokenRefused(status, data)
				o.head = inUTF8(data, response.Header)
			case status < 200 || status > 299:
				o = refusedBy(status, response.Header)
				o.head = inUTF8(data, response.Header)
			case err != nil:
				o = r.readFailed(err)
			case look != nil:
				look(response)
			default:
				if found, err = find(response.Request.Context(), bytes.NewReader(data), int64(len(data)), paths...); err != nil {
					o.err, o.retry = fail("token", nil, "The response to the token request is not JSON."), true
				} else if !found[0].isSet() {
					o.err = noToken(status, data, paths[0])
				}
			}
			o.bytes = int64(len(data))
			return o
		},
	}
	return found, e.do(ctx)
}

// The members of the answer of a token endpoint that refuses (RFC 6749).
var (
	oauthErrorPath       = mustPath("$.error")
	oauthDescriptionPath = mustPath("$.error_description")
)

// oauthErrors says what to do about the errors that the standard names.
var oauthErrors = map[string]string{
	"invalid_client":         "Check the client id and the client secret.",
	"invalid_grant":          "The grant is no longer valid. Sign in again and set the new grant.",
	"invalid_scope":          "Check the scope.",
	"unauthorized_client":    "The client is not allowed to request tokens in this way. Allow it in the registration of the client.",
	"unsupported_grant_type": "The source does not issue tokens in this way. Use another kind of auth.",
}

// errGrant is why a token is refused that was given for another. To say it in
// another way is of no use, and may cost the token.
var errGrant = fmt.Errorf("the grant is not valid: %w", ErrAuth)

// tokenRefused says why a token was refused, in the words of the source where they
// are those of the standard.
func tokenRefused(status int, answer []byte) error {
	said, advice := "", "Set a valid credential."
	if found, err := find(context.Background(), bytes.NewReader(answer), int64(len(answer)), oauthErrorPath, oauthDescriptionPath); err == nil {
		if code, ok := found[0].text(); ok && code != "" {
			said = " with " + shorten(code)
			if known := oauthErrors[code]; known != "" {
				advice = known
			}
			if text, ok := found[1].text(); ok && text != "" {
				said += ": " + strings.TrimSuffix(shorten(text), ".") + ","
			}
		}
	}
	cause := ErrAuth
	if strings.HasPrefix(said, " with invalid_grant") {
		cause = errGrant
	}
	return fail("source-auth", cause, "The source returned %s%s to the token request. %s", statusText(status), said, advice)
}

// noToken says why there is no token in an answer that is no error by its status. What
// else is in it is not shown: it may be a token all the same.
func noToken(status int, answer []byte, path *jsonpath.Path) error {
	found, err := find(context.Background(), bytes.NewReader(answer), int64(len(answer)), oauthErrorPath)
	if err == nil && found[0].kind == '"' && found[0].isSet() {
		return tokenRefused(status, answer)
	}
	return fail("token", nil, "The response to the token request has no token at %s.", path)
}

// received is the token that was found.
func (r *run) received(text, lives value) (receivedToken, error) {
	token, ok := text.text()
	if !ok || token == "" || text.kind == 't' || text.kind == 'f' {
		return receivedToken{}, fail("token", nil, "The response to the token request has no token.")
	}
	if !httpguts.ValidHeaderFieldValue(token) {
		return receivedToken{}, fail("token", nil, "The token from the source contains characters that are not allowed in a header.")
	}
	r.mask.add(token)
	t := receivedToken{text: token}
	if digits, ok := lives.text(); ok {
		if seconds, err := strconv.ParseFloat(digits, 64); err == nil && seconds > 0 && seconds < 1e9 {
			t.lives = time.Duration(seconds * float64(time.Second))
		}
	}
	return t, nil
}
