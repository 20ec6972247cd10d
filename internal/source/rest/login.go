package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
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
)

func mustPath(text string) *jsonpath.Path {
	path, err := jsonpath.Parse(text)
	if err != nil {
		panic(err)
	}
	return path
}

// login makes the request of a login and finds the token in its answer.
func (r *run) login(ctx context.Context, traced *[]feedmill.TracedRequest) (receivedToken, error) {
	q := &r.spec.auth.login
	build := func(ctx context.Context) (*http.Request, error) {
		target, err := q.address(r.at)
		if err != nil {
			return nil, err
		}
		body, contentType, err := q.payload(r.at, nil)
		if err != nil {
			return nil, err
		}
		request, err := newRequest(ctx, q.method, target, body, contentType)
		if err != nil {
			return nil, err
		}
		q.setHeaders(request, r.at, true)
		return request, nil
	}
	found, err := r.askToken(ctx, build, q.timeout, traced, r.spec.auth.tokenPath)
	if err != nil {
		return receivedToken{}, err
	}
	return r.received(found[0], value{})
}

// clientToken asks for a token with the secrets of a client. They are sent in
// the header, as the standard wants it, and where that is refused in the body.
func (r *run) clientToken(ctx context.Context, slot *tokenSlot, traced *[]feedmill.TracedRequest) (receivedToken, error) {
	a := &r.spec.auth
	ask := func() ([]value, error) {
		build := func(ctx context.Context) (*http.Request, error) {
			form := url.Values{"grant_type": {"client_credentials"}}
			if a.scope != "" {
				form.Set("scope", a.scope)
			}
			if slot.inBody {
				form.Set("client_id", a.username)
				form.Set("client_secret", a.password)
			}
			request, err := newRequest(ctx, http.MethodPost, a.tokenURL, form.Encode(), "application/x-www-form-urlencoded")
			if err == nil && !slot.inBody {
				request.SetBasicAuth(url.QueryEscape(a.username), url.QueryEscape(a.password))
			}
			return request, err
		}
		return r.askToken(ctx, build, r.spec.request.timeout, traced, accessTokenPath, expiresInPath)
	}
	found, err := ask()
	if errors.Is(err, ErrAuth) {
		slot.inBody = !slot.inBody
		if found, err = ask(); err != nil {
			slot.inBody = !slot.inBody
		}
	}
	if err != nil {
		return receivedToken{}, err
	}
	return r.received(found[0], found[1])
}

// askToken makes a request for a token and finds the values of paths in its
// answer.
func (r *run) askToken(ctx context.Context, build func(context.Context) (*http.Request, error), timeout time.Duration, traced *[]feedmill.TracedRequest, paths ...*jsonpath.Path) ([]value, error) {
	var found []value
	e := exchange{
		run: r, timeout: timeout, limit: maxTokenAnswer, traced: traced,
		build: func(ctx context.Context) (*http.Request, error) {
			request, err := build(ctx)
			if err == nil {
				r.f.identify(request)
			}
			return request, err
		},
		receive: func(response *http.Response, body io.Reader) (o outcome) {
			data, err := io.ReadAll(io.LimitReader(body, maxTokenAnswer))
			switch status := response.StatusCode; {
			case status == http.StatusBadRequest, status == http.StatusUnauthorized, status == http.StatusForbidden:
				o.err = fail("source-auth", ErrAuth, "The source answered %s when it was asked for a token. Give it a credential that it accepts.", statusText(status))
			case status < 200 || status > 299:
				o = refusedBy(status, response.Header)
			case err != nil:
				o = r.readFailed(err)
			default:
				if found, err = find(bytes.NewReader(data), int64(len(data)), paths...); err != nil {
					o.err = fail("token", nil, "The answer of the source to the login is no JSON.")
				}
			}
			o.bytes = int64(len(data))
			return o
		},
	}
	return found, e.do(ctx)
}

// received is the token that was found.
func (r *run) received(text, lives value) (receivedToken, error) {
	token, ok := text.text()
	if !ok || token == "" || text.kind == 't' || text.kind == 'f' {
		return receivedToken{}, fail("token", nil, "There is no token in the answer of the source to the login.")
	}
	if !httpguts.ValidHeaderFieldValue(token) {
		return receivedToken{}, fail("token", nil, "The token that the source gives holds characters that a header cannot.")
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
