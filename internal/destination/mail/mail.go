// Package mail sends deliveries as messages to mailboxes, through the operator's SMTP server.
// Nothing is sent to a recipient who has not agreed to it: a link asks for consent, and
// every message has a link that ends it. links.go makes and reads these links.
package mail

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// Windows count messages for all replicas.
type Windows interface {
	// TakeTurn counts one message of a subject, of which at most so many are counted in any
	// period. It returns when the message was counted, or how long to wait for that.
	TakeTurn(ctx context.Context, subject string, most int, period time.Duration) (at time.Time, wait time.Duration, err error)
	// ReturnTurn stops counting a message that was not sent.
	ReturnTurn(ctx context.Context, subject string, at time.Time) error
}

// Options are the parts that the kind uses.
type Options struct {
	// Server is the operator's server. Nil means that none is configured.
	Server *Server
	// PublicURL is what links begin with; empty if the operator has not set it.
	PublicURL string
	// Domains are those whose mailboxes need not confirm, in lower case.
	Domains []string
	Windows Windows
	// PerHour is the maximum number of messages in an hour from a workspace to an address.
	PerHour int
}

// Kind is the kind of destination that mailboxes are.
type Kind struct{ Options }

// New returns the kind.
func New(o Options) *Kind {
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	return &Kind{o}
}

// Name is the name of the kind.
func (*Kind) Name() feedmill.DestinationKind { return feedmill.DestinationMail }

// Schemes are those of URLs that select the kind.
func (*Kind) Schemes() []string { return []string{"mailto"} }

// Close closes the connections to the server. Nothing may be sent afterwards.
func (k *Kind) Close() {
	if k.Server != nil {
		k.Server.Close()
	}
}

// Consented reports whether the operator has agreed for the recipient.
func (k *Kind) Consented(d feedmill.Destination) bool {
	address, err := parseAddress(d.URL)
	return err == nil && slices.Contains(k.Domains, address.domain)
}

// config is the sealed configuration of a subscription.
type config struct {
	// Key authenticates the links in its messages.
	Key []byte `json:"key"`
}

func newConfig() ([]byte, error) {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return json.Marshal(config{key})
}

// endpoint is the destination of one subscription.
type endpoint struct {
	*Kind
	subscription, workspace feedmill.ID
	to                      address
	links                   links
	// problem is why nothing can be sent.
	problem feedmill.Result
}

// Open prepares sending to a subscription.
func (k *Kind) Open(sub feedmill.Subscription, sealed []byte) (feedmill.Endpoint, error) {
	e := &endpoint{Kind: k, subscription: sub.ID, workspace: sub.Workspace}
	var c config
	if err := json.Unmarshal(sealed, &c); err != nil {
		return nil, err
	}
	e.links = links{c.Key, k.PublicURL}
	to, err := parseAddress(sub.Destination.URL)
	e.to = to
	switch {
	case err != nil:
		e.problem = feedmill.Result{Verdict: feedmill.VerdictRejected, Error: "the subscription's URL is not valid", NotSent: true}
	case sub.NeedsConsent():
		e.problem = feedmill.Result{Verdict: feedmill.VerdictRejected, Error: "the recipient has not confirmed the subscription", NotSent: true}
	case k.Server == nil || k.PublicURL == "":
		e.problem = feedmill.Result{Verdict: feedmill.VerdictRetry, Error: ClassUnconfigured + ": " + notConfigured(k.Options), NotSent: true}
	}
	return e, nil
}
