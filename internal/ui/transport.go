package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// sessionCookies are the names of the API's cookie, without TLS and over it.
var sessionCookies = []string{"feedmill_session", "__Host-feedmill_session"}

// transport carries the requests of one visit to the API, inside the process,
// with the visitor's session.
type transport struct {
	api   http.Handler
	outer *http.Request
	w     http.ResponseWriter
	// portal is the token of the session of the portal; empty on other pages.
	portal string
	// uploads says that the body of the request is what the visitor still sends, so
	// that the API's deadlines for it apply to the visitor's connection.
	uploads bool

	mu sync.Mutex
	// cookies are those that the API has set, for the visitor's browser.
	cookies []string
	// requestID is that of the newest answer.
	requestID string
	// once names the form that is sent, so that one that is sent twice acts once.
	once string
	// one is the page of a list that is wanted, where it is one; see [pageOf].
	one *listPage
}

// listPage is one page of a list: from is the cursor that it begins at, and next
// that of the page after it.
type listPage struct{ from, next string }

var nextCursor = regexp.MustCompile(`[?&]cursor=([^&>]+)[^>]*>; *rel="next"`)

// ask is a request for the page rather than for the list.
func (p *listPage) ask(r *http.Request) {
	if p == nil || p.from == "" {
		return
	}
	u := *r.URL
	q := u.Query()
	q.Set("cursor", p.from)
	u.RawQuery = q.Encode()
	r.URL = &u
}

// keep takes the way to the next page out of an answer, so that the list ends here.
func (p *listPage) keep(header http.Header) {
	if p == nil {
		return
	}
	if m := nextCursor.FindStringSubmatch(header.Get("Link")); m != nil {
		p.next, _ = url.QueryUnescape(m[1])
	}
	header.Del("Link")
}

// pageOf reads the page of a list that the visitor asks for, and returns the address of
// the one after it.
func pageOf[T any](v *visit, size int, list func() iter.Seq2[T, error]) (found []T, older string, err error) {
	v.api.PageSize = size
	v.over.one = &listPage{from: v.r.URL.Query().Get("cursor")}
	defer func() { v.over.one = nil }()
	for item, err := range list() {
		if err != nil {
			return nil, "", err
		}
		found = append(found, item)
	}
	if next := v.over.one.next; next != "" {
		older = with(v.r.URL, "cursor", next)
	}
	return found, older, nil
}

// client makes the client of a visit. A request is not tried again: the person
// who waits can.
func (t *transport) client() *client.Client {
	c := client.New("http://feedmill.invalid", "")
	c.HTTP = &http.Client{Transport: t, CheckRedirect: c.HTTP.CheckRedirect}
	c.Tries = 1
	c.UserAgent = "feedmill-ui"
	return c
}

// RoundTrip has the API answer a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if t.portal != "" {
		ctx = feedmill.WithPortalSession(ctx, t.portal)
	}
	r = r.Clone(ctx)
	r.Header.Del("Cookie")
	for _, name := range sessionCookies {
		if t.portal != "" {
			break // the session of a key has no part in the portal
		}
		if cookie, err := t.outer.Cookie(name); err == nil {
			r.AddCookie(&http.Cookie{Name: name, Value: cookie.Value})
		}
	}
	t.one.ask(r)
	t.act(r)
	r.Host = t.outer.Host // what answers name, such as links, is where the visitor is
	r.RequestURI, r.RemoteAddr, r.TLS = r.URL.RequestURI(), t.outer.RemoteAddr, t.outer.TLS
	if proto := t.outer.Header.Get("X-Forwarded-Proto"); proto != "" {
		r.Header.Set("X-Forwarded-Proto", proto)
	}
	api := client.InProcess{Handler: t.api}
	if t.uploads {
		api.Sender = http.NewResponseController(t.w)
	}
	a, err := api.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.one.keep(a.Header)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cookies = append(t.cookies, a.Header.Values("Set-Cookie")...)
	t.requestID = a.Header.Get("X-Request-Id")
	return a, nil
}

// act names what a form has the API make, by the form and what it asks for: the same form
// again makes nothing more, and one that was changed since is another.
func (t *transport) act(r *http.Request) {
	if t.once == "" || r.Method != http.MethodPost {
		return
	}
	hash := sha256.New()
	io.WriteString(hash, t.once+"\n"+r.URL.RequestURI()+"\n")
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			io.Copy(hash, body)
		}
	}
	r.Header.Set("Idempotency-Key", "form-"+hex.EncodeToString(hash.Sum(nil)))
}
