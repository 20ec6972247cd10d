package fetch

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
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// maxTokenAnswer is how long the answer with a token may be.
const maxTokenAnswer = 1 << 20

// The members of the answer of a token endpoint (RFC 6749).
var (
	accessTokenPath = find.MustPath("$.access_token")
	expiresInPath   = find.MustPath("$.expires_in")

	refreshTokenPath = find.MustPath("$.refresh_token")
)

// askToken makes a request for a token and finds the values of paths in its
// answer.
func (r *run) askToken(ctx context.Context, build func(context.Context) (*http.Request, error), timeout time.Duration, traced *[]feedmill.TracedRequest, look func(*http.Response) bool, paths ...*jsonpath.Path) ([]find.Value, error) {
	var found []find.Value
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
				if found, err = find.Values(response.Request.Context(), bytes.NewReader(data), int64(len(data)), paths...); err != nil {
					o.err, o.retry = spec.Fail("token", nil, "The response to the token request is not JSON."), true
				} else if !found[0].IsSet() {
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
	oauthErrorPath       = find.MustPath("$.error")
	oauthDescriptionPath = find.MustPath("$.error_description")
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
var errGrant = fmt.Errorf("the grant is not valid: %w", spec.ErrAuth)

// tokenRefused says why a token was refused, in the words of the source where they
// are those of the standard.
func tokenRefused(status int, answer []byte) error {
	said, advice := "", "Set a valid credential."
	if found, err := find.Values(context.Background(), bytes.NewReader(answer), int64(len(answer)), oauthErrorPath, oauthDescriptionPath); err == nil {
		if code, ok := found[0].Text(); ok && code != "" {
			said = " with " + spec.Shorten(code)
			if known := oauthErrors[code]; known != "" {
				advice = known
			}
			if text, ok := found[1].Text(); ok && text != "" {
				said += ": " + strings.TrimSuffix(spec.Shorten(text), ".") + ","
			}
		}
	}
	cause := spec.ErrAuth
	if strings.HasPrefix(said, " with invalid_grant") {
		cause = errGrant
	}
	return spec.Fail("source-auth", cause, "The source returned %s%s to the token request. %s", statusText(status), said, advice)
}

// noToken says why there is no token in an answer that is no error by its status. What
// else is in it is not shown: it may be a token all the same.
func noToken(status int, answer []byte, path *jsonpath.Path) error {
	found, err := find.Values(context.Background(), bytes.NewReader(answer), int64(len(answer)), oauthErrorPath)
	if err == nil && found[0].Kind == '"' && found[0].IsSet() {
		return tokenRefused(status, answer)
	}
	return spec.Fail("token", nil, "The response to the token request has no token at %s.", path)
}

// received is the token that was found.
func (r *run) received(text, lives find.Value) (receivedToken, error) {
	token, ok := text.Text()
	if !ok || token == "" || text.Kind == 't' || text.Kind == 'f' {
		return receivedToken{}, spec.Fail("token", nil, "The response to the token request has no token.")
	}
	if !httpguts.ValidHeaderFieldValue(token) {
		return receivedToken{}, spec.Fail("token", nil, "The token from the source contains characters that are not allowed in a header.")
	}
	r.mask.Add(token)
	t := receivedToken{text: token}
	if digits, ok := lives.Text(); ok {
		if seconds, err := strconv.ParseFloat(digits, 64); err == nil && seconds > 0 && seconds < 1e9 {
			t.lives = time.Duration(seconds * float64(time.Second))
		}
	}
	return t, nil
}
