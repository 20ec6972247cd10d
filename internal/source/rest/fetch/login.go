package fetch

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

type loginSigner struct {
	plainSigner
	*spec.Login
}

func (a loginSigner) sign(request *http.Request, token string) {
	request.Header.Set(a.Header, prefixed(a.Prefix, token))
}

func (a loginSigner) receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver {
	return func(ctx context.Context, _ *tokenSlot) (receivedToken, error) { return a.login(ctx, r, traced) }
}

// login makes the request and finds the token in its answer.
func (a loginSigner) login(ctx context.Context, r *run, traced *[]feedmill.TracedRequest) (receivedToken, error) {
	q := &a.Request
	build := func(ctx context.Context) (*http.Request, error) {
		target, err := q.Address(r.at)
		if err != nil {
			return nil, err
		}
		body, contentType, err := q.Payload(r.at, nil)
		if err != nil {
			return nil, err
		}
		request, err := newRequest(ctx, q.Method, target, body, contentType)
		if err != nil {
			return nil, err
		}
		return request, q.SetHeaders(request, r.at)
	}
	if a.TokenPath != nil {
		found, err := r.askToken(ctx, build, q.Timeout, traced, nil, a.TokenPath)
		if err != nil {
			return receivedToken{}, err
		}
		return r.received(found[0], find.Value{})
	}
	var token string
	_, err := r.askToken(ctx, build, q.Timeout, traced, func(response *http.Response) bool {
		token = a.tokenIn(response)
		return token != ""
	})
	if err != nil {
		return receivedToken{}, err
	}
	quoted := strictjson.String(token)
	return r.received(find.Value{Kind: '"', Raw: jsontext.Value(quoted.Raw)}, find.Value{})
}

// tokenIn is the token in the header of a response, empty where there is none. A cookie that
// is deleted is none.
func (a loginSigner) tokenIn(response *http.Response) (token string) {
	if a.TokenCookie == "" {
		return response.Header.Get(a.TokenHeader)
	}
	for _, cookie := range response.Cookies() {
		if cookie.Name == a.TokenCookie && cookie.MaxAge >= 0 && (cookie.Expires.IsZero() || cookie.Expires.After(time.Now())) {
			token = cookie.Value
		}
	}
	return token
}
