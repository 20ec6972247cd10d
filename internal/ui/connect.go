package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// People signs people in at the providers of services that only they can connect.
// The link is the credential until the sign-in begins; then it is what the browser
// holds as a visit.
type People interface {
	Offered(ctx context.Context, token string) (feedmill.SignInAsk, error)
	Begin(ctx context.Context, token string) (visit, to string, err error)
	Return(ctx context.Context, visit string, a feedmill.SignInAnswer) (feedmill.SignIn, error)
	Granted(ctx context.Context, visit, view string) (feedmill.SignInOffering, error)
	Configure(ctx context.Context, o feedmill.SignInOffering, settings map[string]string) error
	Preview(ctx context.Context, o feedmill.SignInOffering, choice feedmill.SignInChoice) (feedmill.FeedPreview, error)
	Make(ctx context.Context, o feedmill.SignInOffering, choice feedmill.SignInChoice) (feed feedmill.Feed, to string, err error)
	Cancel(ctx context.Context, o feedmill.SignInOffering) error
}

// connectRoutes are the pages on which somebody connects a service.
func (s *Server) connectRoutes() {
	if s.People == nil {
		return
	}
	for pattern, handle := range map[string]func(*visit) error{
		"GET /ui/connect/{token}":            showConsent,
		"POST /ui/connect/{token}":           beginSignIn,
		"GET /ui/connect/callback/{service}": endSignIn,
		"GET /ui/connect/choose":             showChoice,
		"POST /ui/connect/choose":            choose,
	} {
		s.mux.HandleFunc(pattern, s.open(func(v *visit) error {
			err := handle(v)
			if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
				return v.connectOver(http.StatusConflict, refusal.Detail)
			}
			if errors.Is(err, feedmill.ErrNotFound) {
				return v.connectOver(http.StatusNotFound, "The link is unknown. Check that it is complete, or request a new one.")
			}
			return err
		}))
	}
}

// connectOver is the page of a link or a sign-in that is over.
func (v *visit) connectOver(status int, why string) error {
	return v.render(status, "connect_over", "The sign-in has ended", why)
}

// visitCookie holds the visit. Where the browser lets it, no other host and no page of
// another path can have set it.
func (v *visit) visitCookie() string {
	if v.overTLS() {
		return "__Host-feedmill_connect"
	}
	return "feedmill_connect"
}

func (v *visit) overTLS() bool {
	return v.r.TLS != nil || v.r.Header.Get("X-Forwarded-Proto") == "https"
}

func (v *visit) setVisit(value string, seconds int) {
	http.SetCookie(v.w, &http.Cookie{
		Name: v.visitCookie(), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.overTLS(),
	})
}

// connecting is the visit that the browser holds.
func (v *visit) connecting() string {
	if cookie, err := v.r.Cookie(v.visitCookie()); err == nil {
		return cookie.Value
	}
	return ""
}

// formsTo lets the form of a page lead to another origin in the end.
func (v *visit) formsTo(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	h := v.w.Header()
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "form-action 'self'", "form-action 'self' "+u.Scheme+"://"+u.Host, 1))
}

type consentPage struct {
	feedmill.SignInAsk
	// Token is what the link ends with, and Host the provider's.
	Token, Host string
}

// showConsent says what will be connected, and for whom. Looking does not use the link
// up.
func showConsent(v *visit) error {
	ask, err := v.s.People.Offered(v.r.Context(), v.r.PathValue("token"))
	if err != nil {
		return err
	}
	v.formsTo(ask.Authorize)
	return v.render(http.StatusOK, "connect", "Connect "+ask.Title, consentPage{ask, v.r.PathValue("token"), hostOf(ask.Authorize)})
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// beginSignIn uses the link up and leads to the provider. The browser gets a visit that
// nobody knew before.
func beginSignIn(v *visit) error {
	visit, to, err := v.s.People.Begin(v.r.Context(), v.r.PathValue("token"))
	if err != nil {
		return err
	}
	v.setVisit(visit, int(feedmill.SignInVisit.Seconds()))
	return v.redirect(to)
}

// endSignIn takes the provider's answer.
func endSignIn(v *visit) error {
	q := v.r.URL.Query()
	in, err := v.s.People.Return(v.r.Context(), v.connecting(), feedmill.SignInAnswer{
		Service: v.r.PathValue("service"), State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss"), Error: q.Get("error"),
	})
	switch {
	case err != nil:
		return err
	case in.State == feedmill.SignInGranted:
		return v.redirect("/ui/connect/choose")
	case in.RedirectURI != "":
		return v.redirect(in.RedirectURI)
	}
	return v.render(http.StatusOK, "connect_done", "Connected again", donePage{})
}

// choicePage is what somebody can choose, has chosen, and would share by that.
type choicePage struct {
	feedmill.SignInOffering
	Choice  feedmill.SignInChoice
	Filters []feedmill.SignInFilter
	Ops     []feedmill.FilterOp
	// Faults are the errors by field of the form.
	Faults  map[string]string
	Preview *feedmill.FeedPreview
	Rows    [][]string
}

// refuse shows the errors of a choice at the fields of the form.
func (p *choicePage) refuse(refusal *feedmill.Error) {
	places := map[string]string{"query/fields": "fields", "name": "name", "schedule": "every"}
	rows := make([]string, len(p.Choice.Filters))
	fields := slices.Clone(p.Choice.Fields)
	for i, f := range p.Choice.Filters {
		rows[i] = f.Field
		places[fmt.Sprintf("filters/%d", i)] = fmt.Sprintf("filter.%d", i)
		if !slices.Contains(fields, f.Field) {
			fields = append(fields, f.Field) // the query has these after the chosen ones
		}
	}
	for i, field := range fields {
		placeFilters(places, field, fmt.Sprintf("query/fields/%d", i), rows)
	}
	for _, s := range p.Settings {
		places["config/"+s.Name] = "setting." + s.Name
	}
	problem := &client.Problem{Status: http.StatusUnprocessableEntity, Detail: sentence(refusal.Detail)}
	for _, f := range refusal.Faults {
		problem.Errors = append(problem.Errors, client.Fault{Pointer: f.Pointer, Parameter: f.Parameter, Header: f.Header, Detail: f.Detail})
	}
	p.Faults, _ = faultsAt(problem, places)
}

// Chosen reports whether a field is shared.
func (p choicePage) Chosen(name string) bool { return slices.Contains(p.Choice.Fields, name) }

// Now returns the value of a setting: the one that was sent, otherwise the stored one.
func (p choicePage) Now(setting string) string {
	return cmp.Or(p.Choice.Settings[setting], p.Config[setting])
}

type donePage struct {
	Feed  *feedmill.Feed
	Title string
}

// showChoice shows the first view, with all of its fields.
func showChoice(v *visit) error {
	o, err := v.s.People.Granted(v.r.Context(), v.connecting(), "")
	if err != nil {
		return err
	}
	p := choicePage{SignInOffering: o, Choice: feedmill.SignInChoice{View: o.View, Fields: names(o.Fields), Every: "1h"}}
	return v.showChoice(http.StatusOK, p)
}

func names(fields []feedmill.ServiceField) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.Name
	}
	return all
}

// choose previews a choice, makes its feed or gives everything back.
func choose(v *visit) error {
	ctx := v.r.Context()
	o, err := v.s.People.Granted(ctx, v.connecting(), "")
	if err != nil {
		return err
	}
	if err := v.readSignedInForm(string(o.Workspace)); err != nil {
		return err
	}
	form := v.r.PostForm
	if view := form.Get("view"); view != o.View {
		if o, err = v.s.People.Granted(ctx, v.connecting(), view); err != nil {
			return err
		}
	}
	v.formsTo(o.RedirectURI)
	if form.Get("do") == "cancel" {
		if err := v.s.People.Cancel(ctx, o); err != nil {
			return err
		}
		v.setVisit("", -1)
		return v.connectOver(http.StatusOK, "The service was not connected. The access that you granted was revoked.")
	}
	choice := readChoice(form, o)
	err = v.s.People.Configure(ctx, o, choice.Settings)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && !errors.Is(err, feedmill.ErrConflict) {
		p := choicePage{SignInOffering: o, Choice: choice}
		p.refuse(refusal)
		return v.showChoice(http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	if o, err = v.s.People.Granted(ctx, v.connecting(), o.View); err != nil {
		return err
	}
	p := choicePage{SignInOffering: o, Choice: choice}
	if form.Get("do") != "make" {
		return v.showChoice(http.StatusOK, p)
	}
	feed, to, err := v.s.People.Make(ctx, o, choice)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && !errors.Is(err, feedmill.ErrConflict) {
		p.refuse(refusal)
		return v.showChoice(http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	v.setVisit("", -1)
	if to != "" {
		return v.redirect(to)
	}
	return v.render(http.StatusOK, "connect_done", "Connected", donePage{&feed, o.Title})
}

// readChoice reads the form. The fields of another view are none of this one.
func readChoice(form url.Values, o feedmill.SignInOffering) feedmill.SignInChoice {
	c := feedmill.SignInChoice{View: o.View, Fields: form["field"], Name: form.Get("name"), Every: form.Get("every"), OnlyNew: form.Get("onlyNew") != "", Settings: map[string]string{}}
	for _, s := range o.Settings {
		c.Settings[s.Name] = form.Get("setting." + s.Name)
	}
	if form.Get("shown") != o.View {
		c.Fields = names(o.Fields)
		return c
	}
	for i, field := range form["filterField"] {
		if field != "" && i < len(form["filterOp"]) && i < len(form["filterValue"]) {
			c.Filters = append(c.Filters, feedmill.SignInFilter{Field: field, Op: form["filterOp"][i], Value: form["filterValue"][i]})
		}
	}
	return c
}

// filterRows is how many conditions the page has room for.
const filterRows = 3

// showChoice shows a choice with its first rows, where everything that they need is
// known.
func (v *visit) showChoice(status int, p choicePage) error {
	v.formsTo(p.RedirectURI)
	p.Filters = append(slices.Clone(p.Choice.Filters), make([]feedmill.SignInFilter, max(0, filterRows-len(p.Choice.Filters)))...)
	for _, f := range p.Fields {
		for _, op := range f.Operators {
			if !slices.Contains(p.Ops, op) {
				p.Ops = append(p.Ops, op)
			}
		}
	}
	slices.Sort(p.Ops)
	if !p.Lacks() && len(p.Faults) == 0 && len(p.Choice.Fields) > 0 {
		preview, err := v.s.People.Preview(v.r.Context(), p.SignInOffering, p.Choice)
		if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
			p.refuse(refusal)
			status = http.StatusUnprocessableEntity
		} else if err != nil {
			return err
		} else {
			p.Preview, p.Rows = &preview, firstRows(preview)
		}
	}
	return v.render(status, "connect_choose", "Choose what to share", p)
}
