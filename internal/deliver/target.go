package deliver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// Target is a subscription as the sender needs it, its secrets open.
type Target struct {
	Subscription feedmill.ID
	Workspace    feedmill.ID
	URL          string
	Method       string
	Settings     feedmill.DeliverySettings
	Secrets      feedmill.SigningSecrets
	Headers      map[string]string

	endpoint *url.URL

	state     feedmill.SubscriptionState
	deleted   bool
	listening bool
	successAt time.Time
	// failingSince is when the present run of failures began, zero where there
	// is none, and failures counts it as far as that matters.
	failingSince time.Time
	failures     int
	warned       bool
}

// Of a target that is not known, nothing of the following is true.

// held reports whether deliveries wait for somebody to resume the subscription,
// or for its listener to fetch them.
func (t *Target) held() bool {
	return t != nil && !t.deleted && (t.listening || t.state == feedmill.SubscriptionPaused)
}

// ended reports whether nothing will be delivered any more.
func (t *Target) ended() bool {
	return t != nil && (t.deleted || t.state == feedmill.SubscriptionDisabled)
}

// ordered reports whether only the store knows what may be sent next.
func (t *Target) ordered() bool { return t != nil && t.Settings.Ordered }

func (t *Target) endedReason() string {
	if t.deleted {
		return "the subscription is deleted"
	}
	return "the subscription is disabled"
}

// succeeded is the subscription after a delivery succeeded.
func (t *Target) succeeded(at time.Time) *Target {
	after := *t
	after.successAt, after.warned, after.failingSince, after.failures = at, false, time.Time{}, 0
	return &after
}

// failed is the subscription after an attempt failed.
func (t *Target) failed(at time.Time) *Target {
	after := *t
	after.failures = min(t.failures+1, feedmill.FailuresToDisable)
	if !t.failing() {
		after.failingSince = at
	}
	return &after
}

// failing reports whether the last attempt failed.
func (t *Target) failing() bool { return !t.failingSince.IsZero() }

func (d *Dispatcher) readTarget(ctx context.Context, id feedmill.ID) (*Target, error) {
	s, err := d.Store.SubscriptionForDelivery(ctx, id)
	if errors.Is(err, feedmill.ErrNotFound) {
		return &Target{Subscription: id, deleted: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return openTarget(ctx, d.Vault, s)
}

// openTarget opens the secrets of a subscription.
func openTarget(ctx context.Context, v Vault, s feedmill.Subscription) (*Target, error) {
	t := &Target{
		Subscription: s.ID, Workspace: s.Workspace, URL: s.URL, Method: s.Method, Settings: s.Delivery,
		state: s.State, deleted: !s.DeletedAt.IsZero(), listening: s.Listening(), successAt: s.LastSuccessAt, warned: !s.WarnedAt.IsZero(),
		failingSince: s.FailingSince, failures: s.Failures,
	}
	orDefault(&t.Settings.Concurrency, feedmill.DefaultConcurrency)
	if t.Settings.Timeout == 0 {
		t.Settings.Timeout = feedmill.DefaultTimeout
	}
	if err := unsealJSON(ctx, v, s.Secrets, s.SecretsRecord(), &t.Secrets); err != nil {
		return nil, err
	}
	if len(s.Headers) > 0 {
		if err := unsealJSON(ctx, v, s.Headers, s.HeadersRecord(), &t.Headers); err != nil {
			return nil, err
		}
	}
	// A URL that cannot be used is told of where it is used.
	t.endpoint, _ = url.Parse(t.URL)
	return t, nil
}

func unsealJSON(ctx context.Context, v Vault, sealed []byte, record string, into any) error {
	plain, err := v.Unseal(ctx, sealed, record)
	if err != nil {
		return fmt.Errorf("opening %s: %w", record, err)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("reading %s: %w", record, err)
	}
	return nil
}
