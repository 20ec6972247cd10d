package app

import (
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/deliver"
	"github.com/feedmill/feedmill/internal/destination/amqp"
	"github.com/feedmill/feedmill/internal/destination/broker"
	"github.com/feedmill/feedmill/internal/destination/kafka"
	"github.com/feedmill/feedmill/internal/destination/mail"
	"github.com/feedmill/feedmill/internal/destination/nats"
	"github.com/feedmill/feedmill/internal/destination/webhook"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/subscribe"
)

// destination is a kind of destination that subscriptions can have.
type destination interface {
	subscribe.Kind
	deliver.Kind
	// Close closes all connections. Nothing may be sent afterwards.
	Close()
}

// destinations are all of them. URLs of unknown schemes go to the first, which refuses them.
func (a *App) destinations(mails *mail.Kind) []destination {
	brokers := broker.Options{Dial: a.egress.DialContext, Forbidden: egress.ErrForbidden, Hosts: a.egress.Policy()}
	return []destination{
		&webhook.Kind{Transport: a.egress.Express(machine.OpenFiles()/8, feedmill.MaxReadAnswer), Forbidden: egress.ErrForbidden, URLs: a.egress.Policy()},
		broker.New(nats.Protocol{}, brokers),
		broker.New(kafka.Protocol{}, brokers),
		broker.New(amqp.Protocol{}, brokers),
		mails,
	}
}

// newMail is the kind of mailboxes, with the operator's server if there is one.
func (a *App) newMail() (*mail.Kind, error) {
	server, err := newMailServer(a.config)
	if err != nil {
		return nil, err
	}
	return mail.New(mail.Options{
		Server: server, PublicURL: a.config.PublicURL, Domains: lower(a.config.MailDomains), Windows: a.store, PerHour: a.config.MailLimit,
	}), nil
}

// newMailServer is the operator's mail server; nil if none is configured.
func newMailServer(c *config.Config) (*mail.Server, error) {
	if c.SMTPURL == "" {
		return nil, nil
	}
	server, err := mail.NewServer(c.SMTPURL, c.SMTPFrom, nil)
	if err != nil {
		return nil, c.Wrong("smtpUrl", err)
	}
	return server, nil
}

func lower(names []string) (all []string) {
	for _, name := range names {
		all = append(all, strings.ToLower(name))
	}
	return all
}

// closeDestinations closes the connections to all destinations.
func closeDestinations(all []destination) {
	for _, d := range all {
		d.Close()
	}
}

// definedKinds are the kinds as subscriptions are defined by them.
func definedKinds(all []destination) (kinds []subscribe.Kind) {
	for _, d := range all {
		kinds = append(kinds, d)
	}
	return kinds
}

// sentKinds are the kinds as deliveries are sent to them.
func sentKinds(all []destination) map[feedmill.DestinationKind]deliver.Kind {
	kinds := make(map[feedmill.DestinationKind]deliver.Kind)
	for _, d := range all {
		kinds[d.Name()] = d
	}
	return kinds
}
