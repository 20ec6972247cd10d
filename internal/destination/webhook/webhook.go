// Package webhook sends deliveries to HTTP endpoints: POST with the payload as the
// body, or GET with the payload in the query.
package webhook

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// Transport makes one HTTP exchange, including the response's body, by the deadline. It
// follows no redirect and records how the time was spent. A response that is not valid
// HTTP is a [feedmill.UnreadableAnswer], whose text names nothing internal.
type Transport interface {
	Exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest, timing *feedmill.Timing) (feedmill.HTTPAnswer, error)
}

// URLPolicy decides which URLs may be called.
type URLPolicy interface {
	// CheckURL checks what is known without resolving the host. The error
	// repeats no part of the URL but its scheme and its host.
	CheckURL(*url.URL) error
}

// Kind is the kind of destination that webhooks are.
type Kind struct {
	// Transport is the way out; it enforces the address policy.
	Transport Transport
	// Forbidden matches the transport's errors for addresses that the policy forbids.
	Forbidden error
	// URLs decides where subscriptions may point to.
	URLs URLPolicy

	tokens tokens
}

// Name is the name of the kind.
func (*Kind) Name() feedmill.DestinationKind { return feedmill.DestinationWebhook }

// Schemes are those of URLs that select the kind.
func (*Kind) Schemes() []string { return []string{"https", "http"} }

// Close does nothing: the transport closes its connections.
func (*Kind) Close() {}

// endpoint is the destination of one subscription.
type endpoint struct {
	*Kind
	workspace feedmill.ID
	method    string
	// url is nil if it cannot be used, which is reported when it is.
	url    *url.URL
	header [][2]string
	tls    *feedmill.ClientTLS
	client *client // nil without OAuth 2.0
}

// Open prepares sending to a subscription. The configuration holds its [settings].
func (k *Kind) Open(sub feedmill.Subscription, config []byte) (feedmill.Endpoint, error) {
	e := &endpoint{Kind: k, workspace: sub.Workspace, method: sub.Destination.Method}
	e.url, _ = url.Parse(sub.Destination.URL)
	s, err := parseSettings(config)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		e.header = append(e.header, [2]string{name, s.Headers[name]})
	}
	if e.tls, err = s.TLS.open(); err != nil {
		return nil, err
	}
	if e.client, err = newClient(sub.Workspace, s.OAuth2, e.tls); err != nil {
		return nil, err
	}
	return e, nil
}
