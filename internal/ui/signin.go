package ui

import (
	"errors"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// signInForm is the page on which a visitor gives a key, or goes to the issuer where there
// is one.
type signInForm struct {
	Host, Next, Error, Note, Issuer string
	// Expired says that a form was sent after the session had ended.
	Expired bool
}

func (v *visit) signInForm(next string) signInForm {
	return signInForm{Host: v.r.Host, Next: next, Issuer: v.s.issuerName()}
}

func showSignIn(v *visit) error {
	form := v.signInForm(v.r.URL.Query().Get("next"))
	if form.Expired = v.r.URL.Query().Has("expired"); form.Expired {
		form.Note = "Your session has expired, so the form was not sent. Sign in to return to it. Its values are kept, except for secrets."
	}
	return v.render(http.StatusOK, "signin", "Sign in", form)
}

func signIn(v *visit) error {
	form := v.signInForm(v.r.PostFormValue("next"))
	_, err := v.api.SignIn(v.r.Context(), client.SignIn{Key: strings.TrimSpace(v.r.PostFormValue("key"))})
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status < 500 {
		form.Error = "The key is unknown or was revoked. Copy the whole key, without spaces."
		if v.r.PostFormValue("key") == "" {
			form.Error = "Paste an API key. It starts with fm_."
		}
		return v.render(http.StatusUnprocessableEntity, "signin", "Sign in", form)
	}
	if err != nil {
		return err
	}
	return v.redirect(local(form.Next))
}

// signInFirst signs in with the link that the first start has printed.
func signInFirst(v *visit) error {
	_, err := v.api.SignIn(v.r.Context(), client.SignIn{Link: v.r.URL.Query().Get("link")})
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status < 500 {
		form := v.signInForm("")
		form.Note = "The link was already used or has expired. The key that was printed with it still works."
		return v.render(http.StatusUnprocessableEntity, "signin", "Sign in", form)
	}
	if err != nil {
		return err
	}
	return v.redirect("/ui/start")
}

func signOut(v *visit) error {
	if err := v.api.SignOut(v.r.Context()); err != nil {
		return err
	}
	return v.redirect("/ui/sign-in")
}

// local is a path to lead to if it is one of these pages; else their root.
func local(path string) string {
	if !strings.HasPrefix(path, "/ui/") || strings.ContainsAny(path, "\\\r\n") {
		return "/ui/"
	}
	return path
}

// themeCookie has the theme that was chosen, where it is not the system's.
const themeCookie = "feedmill_theme"

// Theme returns the theme that a visitor has chosen: light, dark or auto.
func Theme(r *http.Request) string {
	if cookie, err := r.Cookie(themeCookie); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		return cookie.Value
	}
	return "auto"
}

// changeTheme keeps the theme that was chosen and leads back.
func changeTheme(v *visit) error {
	cookie := http.Cookie{Name: themeCookie, Value: v.r.PostFormValue("theme"), Path: "/", SameSite: http.SameSiteLaxMode, HttpOnly: true, MaxAge: 365 * 24 * 3600}
	if cookie.Value != "light" && cookie.Value != "dark" {
		cookie.Value, cookie.MaxAge = "", -1
	}
	http.SetCookie(v.w, &cookie)
	// Earlier releases stored it for the pages alone, which would take precedence.
	http.SetCookie(v.w, &http.Cookie{Name: themeCookie, Path: "/ui/", MaxAge: -1})
	return v.redirect(local(v.r.PostFormValue("back")))
}
