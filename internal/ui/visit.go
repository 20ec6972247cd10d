package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// visit is one request for a page.
type visit struct {
	s    *Server
	w    http.ResponseWriter
	r    *http.Request
	api  *client.Client
	over *transport
	// me is who has signed in; nil on pages for everybody.
	me    *client.Me
	nonce string
	// release gives back the slots of a large form.
	release func()
}

// open serves a page to every visitor. It reads no body: a page whose form visitors send
// before they sign in reads it with [visit.readStrangersForm].
func (s *Server) open(handle func(*visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		over := &transport{api: s.API, outer: r, w: w}
		v := &visit{s: s, w: w, r: r, api: over.client(), over: over, nonce: rand.Text(), release: func() {}}
		defer func() { v.release() }()
		v.readWithin(strangerTime)
		v.secure()
		if err := handle(v); err != nil {
			v.fail(err)
		}
	}
}

// strangersForm serves a form that visitors send before they sign in.
func (s *Server) strangersForm(handle func(*visit) error) http.HandlerFunc {
	return s.open(func(v *visit) error {
		if err := v.readStrangersForm(); err != nil {
			return err
		}
		return handle(v)
	})
}

// signedIn serves a page to visitors who have signed in, and reads the form of a POST.
func (s *Server) signedIn(handle func(*visit) error) http.HandlerFunc {
	return s.known(func(v *visit) error {
		if v.r.Method == http.MethodPost {
			if err := v.readSignedInForm(v.me.Workspace.ID); err != nil {
				return err
			}
		}
		return handle(v)
	})
}

// known serves a page to visitors who have signed in, and leaves the body to it.
func (s *Server) known(handle func(*visit) error) http.HandlerFunc {
	return s.open(func(v *visit) error {
		me, err := v.api.Me(v.r.Context())
		if err != nil {
			return err
		}
		v.me = &me
		return handle(v)
	})
}

// secure sets what keeps a page from doing anything but what it is made for.
func (v *visit) secure() {
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'nonce-" + v.nonce + "'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), microphone=(), geolocation=(), payment=()",
		"Cache-Control":                "no-store",
	} {
		v.w.Header().Set(name, value)
	}
}

// passCookies gives the browser the cookies that the API has set.
func (v *visit) passCookies() {
	v.over.mu.Lock()
	defer v.over.mu.Unlock()
	for _, cookie := range v.over.cookies {
		v.w.Header().Add("Set-Cookie", cookie)
	}
	v.over.cookies = nil
}

// redirect leads to another page, as after a form.
func (v *visit) redirect(to string) error {
	v.passCookies()
	v.writeWithin()
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// frame is what every page gets besides its own data.
type frame struct {
	Title, Section, Nonce, Theme, Path, Assets, Version string

	// Once is what a form sends that must act once.
	Once string
	Me   *client.Me
	Did  string
	Data any
	// Posted is the address of a page that a form has led to, empty for one that was asked for.
	Posted string
	// Trouble is how many records of a section somebody should look at.
	Trouble map[string]int64
}

// CanWrite reports whether the visitor may change records.
func (f frame) CanWrite() bool { return mayWrite(f.Me) }

// CanPublish reports whether the visitor may publish events.
func (f frame) CanPublish() bool {
	return f.Me != nil && slices.Contains(f.Me.Scopes, feedmill.ScopePublish)
}

func (v *visit) canWrite() bool { return mayWrite(v.me) }

func mayWrite(me *client.Me) bool {
	return me != nil && slices.Contains(me.Scopes, feedmill.ScopeWrite)
}

// inTrouble counts the feeds that fail or want somebody to sign in, and the subscriptions that
// fail or were disabled for it. A page does without where that cannot be known, and one of a
// fault does not ask.
func (v *visit) inTrouble(status int) map[string]int64 {
	counts := make(map[string]int64)
	if v.me == nil || status >= http.StatusBadRequest {
		return counts
	}
	states := []feedmill.FeedState{feedmill.FeedFailed, feedmill.FeedAuthRequired}
	found, err := v.api.SearchDataFeeds(v.r.Context(), client.DataFeedSearch{States: states, Limit: 1})
	if err == nil {
		counts["feeds"] = found.Total
	}
	subscriptions, err := v.api.SubscriptionTroubles(v.r.Context())
	if err == nil {
		counts["subscriptions"] = subscriptions[feedmill.TroubleFailing] + subscriptions[feedmill.TroubleDisabled]
	}
	return counts
}

// render writes a page.
func (v *visit) render(status int, name, title string, data any) error {
	p := loadPages()[name]
	return v.write(status, p, "page", frame{
		Title: title, Section: p.section, Nonce: v.nonce, Theme: Theme(v.r), Path: v.r.URL.RequestURI(), Assets: loadAssets().path,
		Version: v.s.Version, Me: v.me, Did: did[v.r.URL.Query().Get("did")], Once: rand.Text(), Data: data, Posted: v.posted(data), Trouble: v.inTrouble(status),
	})
}

// posted is the address that shows a page again that a form has led to, empty where there is
// none.
func (v *visit) posted(data any) string {
	if v.r.Method != http.MethodPost {
		return ""
	}
	if has, ok := data.(interface{ Address() string }); ok {
		return has.Address()
	}
	path := strings.TrimSuffix(v.r.URL.Path, "/test")
	page := &http.Request{Method: http.MethodGet, Host: v.r.Host, URL: &url.URL{Path: path}}
	if _, pattern := v.s.mux.Handler(page); !strings.HasPrefix(pattern, "GET ") {
		return ""
	}
	return path
}

// part writes what a script puts into a page that is shown already: a page without its
// frame.
func (v *visit) part(name string, data any) error {
	return v.write(http.StatusOK, loadPages()[name], "main", frame{Me: v.me, Data: data})
}

func (v *visit) write(status int, p *page, name string, f any) error {
	var b bytes.Buffer
	if err := p.ExecuteTemplate(&b, name, f); err != nil {
		return err
	}
	v.passCookies()
	v.writeWithin()
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Encoding")
	if !acceptsGzip(v.r) {
		v.w.WriteHeader(status)
		v.w.Write(b.Bytes())
		return nil
	}
	h.Set("Content-Encoding", "gzip")
	v.w.WriteHeader(status)
	zip := gzip.NewWriter(v.w)
	zip.Write(b.Bytes())
	zip.Close()
	return nil
}

// writeWithin bounds how long the visitor may take to fetch the page.
func (v *visit) writeWithin() {
	limit := pageTime
	if v.me == nil {
		limit = strangerTime
	}
	http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(limit)) // a recorder in a test has none
}

func acceptsGzip(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

// failure is a page that could not be made: what happened, what is safe, what to
// do next.
type failure struct {
	Status                int
	What, Safe, Next, Why string
	RequestID             string
	Faults                []client.Fault
}

// fail answers with what went wrong, or with the sign-in.
func (v *visit) fail(err error) {
	p, ok := errors.AsType[*client.Problem](err)
	if ok && p.Status == http.StatusUnauthorized {
		_ = v.redirect("/ui/sign-in" + v.comesBack())
		return
	}
	f := failure{Status: http.StatusInternalServerError, What: "Something went wrong on our side", Safe: "Saved data is safe.", Next: "Try again. If it fails again, report the request ID to the operator.", RequestID: v.over.requestID}
	if ok {
		f.Status, f.What, f.Why, f.Next, f.Faults = p.Status, p.Title, p.Detail, "", p.Errors
		switch {
		case p.Status == http.StatusNotFound:
			f.Safe = ""
		case p.Status == http.StatusForbidden && strings.Contains(p.Detail, "scope"):
			f.Next = "Sign in with a key that has it, or ask an admin of the workspace for one."
		}
	} else {
		v.s.Log.Error("page", "path", v.r.URL.Path, "error", err)
	}
	if err := v.render(f.Status, "problem", f.What, f); err != nil {
		v.s.Log.Error("rendering an error page failed", "error", err)
		http.Error(v.w, "Something went wrong on our side.", http.StatusInternalServerError)
	}
}

// comesBack is the query of the sign-in that leads back to the page, or to the form that was
// sent.
func (v *visit) comesBack() string {
	if v.r.Method == http.MethodGet {
		if v.r.URL.Path == "/ui/" {
			return ""
		}
		return "?next=" + url.QueryEscape(v.r.URL.RequestURI())
	}
	form, err := url.Parse(v.r.Referer())
	if err != nil || form.Host != v.r.Host {
		return "?expired=form"
	}
	return "?expired=form&next=" + url.QueryEscape(local(form.RequestURI()))
}

// did are the sentences that say what a form has done.
var did = map[string]string{
	"refreshing": "Refresh started", "paused": "Paused", "resumed": "Resumed", "deleted": "Deleted", "saved": "Saved", "cancelled": "Canceled",
	"deleting": "Deleting", "activated": "Activated", "published": "Published", "restored": "Restored as a new version", "revoked": "Revoked", "retrying": "Due now", "made": "Feed created", "alerted": "Alert created", "uploaded": "New version uploaded", "replaying": "Replay started",
}
