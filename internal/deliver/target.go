package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// Target is a subscription as the sender needs it, its secrets open.
type Target struct {
	Subscription feedmill.ID
	Workspace    feedmill.ID
	Settings     feedmill.DeliverySettings
	Shape        feedmill.Shape
	Secrets      feedmill.SigningSecrets

	endpoint feedmill.Endpoint
	// extraHeaders is how many headers the endpoint adds.
	extraHeaders int

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

// batches reports whether events are sent as arrays.
func (t *Target) batches() bool { return t != nil && !t.Settings.Batch.IsZero() }

func (t *Target) endedReason() string {
	if t.deleted {
		return feedmill.DiscardedDeleted
	}
	return feedmill.DiscardedDisabled
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
	return d.openTarget(ctx, s)
}

// openTarget opens the secrets of a subscription and its destination.
func (d *Dispatcher) openTarget(ctx context.Context, s feedmill.Subscription) (*Target, error) {
	t := &Target{
		Subscription: s.ID, Workspace: s.Workspace, Settings: s.Delivery, Shape: s.SentShape(),
		state: s.State, deleted: !s.DeletedAt.IsZero(), listening: s.Listening(), successAt: s.LastSuccessAt, warned: !s.WarnedAt.IsZero(),
		failingSince: s.FailingSince, failures: s.Failures,
	}
	t.Settings.Concurrency = cmp.Or(t.Settings.Concurrency, feedmill.DefaultConcurrency)
	t.Settings.Timeout = cmp.Or(t.Settings.Timeout, feedmill.DefaultTimeout)
	plain, err := d.Vault.Unseal(ctx, s.Secrets, s.SecretsRecord())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", s.SecretsRecord(), err)
	}
	if err := json.Unmarshal(plain, &t.Secrets); err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.SecretsRecord(), err)
	}
	if s.Listening() {
		return t, nil
	}
	if err := d.openEndpoint(ctx, t, s); err != nil {
		return nil, err
	}
	return t, nil
}

// openEndpoint opens the destination of a subscription.
func (d *Dispatcher) openEndpoint(ctx context.Context, t *Target, s feedmill.Subscription) (err error) {
	kind, ok := d.Kinds[s.Destination.Kind]
	if !ok {
		return fmt.Errorf("the destination of %s is of an unknown kind: %q", s.ID, s.Destination.Kind)
	}
	var config []byte
	if len(s.Destination.Config) > 0 {
		if config, err = d.Vault.Unseal(ctx, s.Destination.Config, s.ConfigRecord()); err != nil {
			return fmt.Errorf("opening %s: %w", s.ConfigRecord(), err)
		}
	}
	if t.endpoint, err = kind.Open(s, config); err != nil {
		return fmt.Errorf("reading %s: %w", s.ConfigRecord(), err)
	}
	t.extraHeaders = len(s.Destination.ConfigNames)
	return nil
}
