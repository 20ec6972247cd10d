package ui

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// Issuer signs people in who have no key, at the OIDC issuer of the operator.
type Issuer interface {
	// IssuerName is what people know it by; empty where nobody can sign in there.
	IssuerName() string
	// BeginAtIssuer returns what the browser holds until it comes back to the callback, and
	// where it goes.
	BeginAtIssuer(ctx context.Context, callback string) (secret, to string, err error)
	// ReturnFromIssuer takes the issuer's answer and returns a link that signs in, once.
	ReturnFromIssuer(ctx context.Context, secret, callback string, response feedmill.SignInAnswer) (link string, err error)
}

// issuerCallback is where the issuer sends browsers back to.
const issuerCallback = "/ui/sign-in/callback"

// issuerVisit is how long somebody may take at the issuer.
const issuerVisit = 10 * time.Minute

// maxNext is the longest address of a page that the cookie has room for: browsers drop
// cookies of more than 4,096 bytes without a word.
const maxNext = 2048

// issuerRoutes are the way to the issuer and back. The way there is a link and no form,
// because the policy of the pages lets a form lead to no other origin.
func (s *Server) issuerRoutes() {
	if s.issuerName() == "" {
		return
	}
	s.mux.HandleFunc("GET /ui/sign-in/issuer", s.open(signInAtIssuer))
	s.mux.HandleFunc("GET "+issuerCallback, s.open(returnFromIssuer))
}

func (s *Server) issuerName() string {
	if s.Issuer == nil {
		return ""
	}
	return s.Issuer.IssuerName()
}

// callback is its address, as the operator has set it or as the visitor has reached it.
func (v *visit) callback() string {
	switch {
	case v.s.PublicURL != "":
		return strings.TrimSuffix(v.s.PublicURL, "/") + issuerCallback
	case v.overTLS():
		return "https://" + v.r.Host + issuerCallback
	}
	return "http://" + v.r.Host + issuerCallback
}

// issuerCookie holds the secret of a sign-in under way and the page that was wanted. Where
// the browser lets it, no other host can have set it.
func (v *visit) issuerCookie() string {
	if v.overTLS() {
		return "__Host-feedmill_sign_in"
	}
	return "feedmill_sign_in"
}

func (v *visit) setIssuerCookie(value string, seconds int) {
	http.SetCookie(v.w, &http.Cookie{
		Name: v.issuerCookie(), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.overTLS(),
	})
}

// signInAtIssuer leads to the issuer, with a secret that nobody knew before.
func signInAtIssuer(v *visit) error {
	next := local(v.r.URL.Query().Get("next"))
	if len(next) > maxNext {
		next = local("")
	}
	secret, to, err := v.s.Issuer.BeginAtIssuer(v.r.Context(), v.callback())
	if err != nil {
		return v.notSignedIn(next, err)
	}
	v.setIssuerCookie(secret+"."+base64.RawURLEncoding.EncodeToString([]byte(next)), int(issuerVisit.Seconds()))
	return v.redirect(to)
}

// returnFromIssuer takes the issuer's answer. Whatever it is, this sign-in is over, so that
// no answer is taken twice.
func returnFromIssuer(v *visit) error {
	var secret, next string
	if cookie, err := v.r.Cookie(v.issuerCookie()); err == nil {
		held, page, _ := strings.Cut(cookie.Value, ".")
		wanted, _ := base64.RawURLEncoding.DecodeString(page)
		secret, next = held, string(wanted)
	}
	next = local(next)
	v.setIssuerCookie("", -1)
	q := v.r.URL.Query()
	link, err := v.s.Issuer.ReturnFromIssuer(v.r.Context(), secret, v.callback(), feedmill.SignInAnswer{
		State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss"), Error: q.Get("error"),
	})
	if err != nil {
		return v.notSignedIn(next, err)
	}
	if _, err := v.api.SignIn(v.r.Context(), client.SignIn{Link: link}); err != nil {
		return err
	}
	return v.redirect(next)
}

// notSignedIn is the sign-in page that says why it has to be tried again.
func (v *visit) notSignedIn(next string, err error) error {
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok {
		return err
	}
	status := http.StatusUnprocessableEntity
	if errors.Is(err, feedmill.ErrUnavailable) {
		status = http.StatusServiceUnavailable
	}
	form := v.signInForm(next)
	form.Note = refusal.Detail
	return v.render(status, "signin", "Sign in", form)
}

// AtIssuer is the address of the way to the issuer.
func (f signInForm) AtIssuer() string { return "/ui/sign-in/issuer?next=" + url.QueryEscape(f.Next) }
