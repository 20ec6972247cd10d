package client

import (
	"context"
	"net/http"

	"github.com/feedmill/feedmill"
)

// SubscriptionChange says what of a subscription becomes different; its zero
// value says nothing.
type SubscriptionChange struct {
	Name          Field[string]              `json:"name,omitzero"`
	URL           string                     `json:"url,omitzero"`
	Events        []string                   `json:"events,omitzero"`
	HTTPOperation Field[string]              `json:"httpOperation,omitzero"`
	Filters       Field[Filters]             `json:"filters,omitzero"`
	Filter        Field[string]              `json:"filter,omitzero"`
	Transform     Field[string]              `json:"transform,omitzero"`
	Preset        Field[string]              `json:"preset,omitzero"`
	State         feedmill.SubscriptionState `json:"state,omitzero"`
	Delivery      Field[DeliveryChange]      `json:"delivery,omitzero"`
}

// DeliveryChange says which delivery settings become different.
type DeliveryChange struct {
	Timeout     Field[Duration]  `json:"timeout,omitzero"`
	RateLimit   Field[RateLimit] `json:"rateLimit,omitzero"`
	Concurrency Field[int]       `json:"concurrency,omitzero"`
	Ordered     Field[bool]      `json:"ordered,omitzero"`
	// RetrySchedule has 1 to 20 waits.
	RetrySchedule Field[[]Duration]   `json:"retrySchedule,omitzero"`
	DisableAfter  Field[DisableAfter] `json:"disableAfter,omitzero"`
	// Headers sets the headers that it names and leaves the others; one
	// that is reset is removed.
	Headers map[string]Field[string] `json:"headers,omitzero"`
	// Credentials replaces the credentials for a broker.
	Credentials Field[map[string]string] `json:"credentials,omitzero"`
	// TLS and OAuth2 replace the stored ones as a whole.
	TLS    Field[WebhookTLS]    `json:"tls,omitzero"`
	OAuth2 Field[WebhookOAuth2] `json:"oauth2,omitzero"`
	Batch  Field[Batch]         `json:"batch,omitzero"`
}

// ChangeSubscription changes a subscription and returns it as it is then.
func (c *Client) ChangeSubscription(ctx context.Context, id string, change SubscriptionChange) (Subscription, error) {
	return ask[Subscription](ctx, c, http.MethodPatch, subscriptionPath(id), change)
}
