package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// build makes the request of a page, without the credential.
func (r *sequence) build(ctx context.Context, s step) (*http.Request, error) {
	source := &r.spec.Request
	ctx, at := r.stamped(ctx, r.at)
	sent := r.extras(s)
	target, err := r.target(s, at, sent)
	if err != nil {
		return nil, err
	}
	home := s.url == nil || spec.SameOrigin(s.url, source.Origin)
	body, contentType, err := source.Payload(at, sent)
	if err != nil {
		return nil, err
	}
	method := source.Method
	if s.get || !home {
		// What was given for one origin is not for another: it is asked with its
		// address alone.
		body, contentType, method = "", "", http.MethodGet
	}
	request, err := newRequest(ctx, method, target, body, contentType)
	if err != nil {
		return nil, err
	}
	if home {
		if err := source.SetHeaders(request, at); err != nil {
			return nil, err
		}
		for _, e := range sent {
			if e.In == spec.InHeader {
				request.Header.Set(e.Name, e.Value.Text)
			}
		}
		setUnlessEmpty(request.Header, "Range", s.span)
	}
	if s.number == 1 && r.from.Request != "" && r.from.Request == s.fingerprint && !r.spec.Incremental.Conditional() {
		setUnlessEmpty(request.Header, "If-None-Match", r.from.ETag)
		setUnlessEmpty(request.Header, spec.IfModifiedSince, r.from.LastModified)
	}
	r.f.identify(request)
	return request, nil
}

// target is the address of a page. That of a next page says all that its query needs.
func (r *sequence) target(s step, at spec.Moment, sent []spec.PageParam) (target *url.URL, err error) {
	if s.url != nil {
		target, err = r.spec.Request.Completed(s.url, at)
	} else {
		target, err = r.spec.Request.Address(at)
	}
	if err != nil {
		return nil, err
	}
	if s.token != nil && r.spec.Pagination.Exclusive() {
		target.RawQuery = onlyVerb(target.RawQuery)
	}
	for _, e := range sent {
		if e.In == spec.InQuery && s.url == nil {
			target.RawQuery = spec.SetQuery(target.RawQuery, e.Name, e.Value.Text)
		}
	}
	return target, nil
}

func newRequest(ctx context.Context, method string, target *url.URL, body, contentType string) (*http.Request, error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	plain := *target
	plain.RawQuery = encoded(target.RawQuery)
	request, err := http.NewRequestWithContext(ctx, method, plain.String(), reader)
	if err != nil {
		// The error can hold the URL, whose secrets are not masked here.
		return nil, spec.Fail("fetch-failed", nil, "The request cannot be sent, because the URL is not valid after its tokens are replaced.")
	}
	setUnlessEmpty(request.Header, "Content-Type", contentType)
	return request, nil
}

// encoded is a query with its blanks and letters beyond ASCII encoded, as a request has
// them. Sources that name their next page do not always.
func encoded(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			_, _ = fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func setUnlessEmpty(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// identify adds what every request says.
func (f *Fetcher) identify(request *http.Request) {
	h := request.Header
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", f.Options.UserAgent)
	}
	if h.Get("Accept") == "" {
		h.Set("Accept", "application/json, application/x-ndjson, text/csv;q=0.9, */*;q=0.5")
	}
	h.Set("Accept-Encoding", "gzip")
}

// extras are the parameters of a page.
func (r *sequence) extras(s step) (extras []spec.PageParam) {
	if inc := r.spec.Incremental; inc != nil && inc.Param != "" && r.at.Cursor != "" {
		extras = append(extras, spec.PageParam{In: inc.In, Name: inc.Param, Value: r.at.Typed(r.at.Cursor)})
	}
	if inc := r.spec.Incremental; inc != nil && inc.To != "" {
		extras = append(extras, spec.PageParam{In: inc.ToIn, Name: inc.To, Value: r.at.Typed(r.at.To)})
	}
	p := &r.spec.Pagination
	if p.SizeParam != "" && p.Size > 0 {
		extras = append(extras, spec.PageParam{In: p.In, Name: p.SizeParam, Value: spec.CountValue(p.Size)})
	}
	switch p.Kind {
	case spec.PagesOffset, spec.PagesNumber:
		extras = append(extras, spec.PageParam{In: p.In, Name: p.Param, Value: spec.CountValue(s.count)})
	case spec.PagesCursor:
		if s.token != nil {
			extras = append(extras, spec.PageParam{In: p.In, Name: p.Param, Value: spec.TokenValue(s.token)})
		}
	}
	return extras
}
