package ui

import (
	"context"
	"errors"
	"net/http"

	"github.com/feedmill/feedmill"
)

// Recipients does what the links in messages say. Reading a link changes nothing: programs
// that scan messages open every link.
type Recipients interface {
	Confirmation(ctx context.Context, link string) (feedmill.MailAsk, error)
	Confirm(ctx context.Context, link string) (feedmill.MailAsk, error)
	Unsubscription(ctx context.Context, link string) (feedmill.MailAsk, error)
	Unsubscribe(ctx context.Context, link string) (feedmill.MailAsk, error)
}

// mailPage is the page of a link in a message.
type mailPage struct {
	feedmill.MailAsk
	Unsubscribes, Done bool
}

// mailRoutes are the pages of links in messages. Mail programs unsubscribe with a POST of
// their own (RFC 8058).
func (s *Server) mailRoutes() {
	if s.Recipients == nil {
		return
	}
	for pattern, of := range map[string]struct {
		title  string
		handle func(context.Context, string) (feedmill.MailAsk, error)
		page   mailPage
	}{
		"GET /ui/mail/confirm/{link}":      {"Confirm e-mail", s.Recipients.Confirmation, mailPage{}},
		"POST /ui/mail/confirm/{link}":     {"E-mail confirmed", s.Recipients.Confirm, mailPage{Done: true}},
		"GET /ui/mail/unsubscribe/{link}":  {"Stop e-mail", s.Recipients.Unsubscription, mailPage{Unsubscribes: true}},
		"POST /ui/mail/unsubscribe/{link}": {"E-mail stopped", s.Recipients.Unsubscribe, mailPage{Unsubscribes: true, Done: true}},
	} {
		s.mux.HandleFunc(pattern, s.open(func(v *visit) error {
			ask, err := of.handle(v.r.Context(), v.r.PathValue("link"))
			if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
				return v.render(http.StatusConflict, "mail_over", "The link is not valid", refusal.Detail)
			}
			if errors.Is(err, feedmill.ErrNotFound) {
				return v.render(http.StatusNotFound, "mail_over", "The link is not valid", "The link is incomplete, or what it was for was deleted. Check that you opened the complete link.")
			}
			if err != nil {
				return err
			}
			page := of.page
			page.MailAsk = ask
			return v.render(http.StatusOK, "mail", of.title, page)
		}))
	}
}
