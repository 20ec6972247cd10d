package subscribe

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// issue gives a new subscription a signing secret.
func (s *Subscriptions) issue(sub feedmill.Subscription) (made feedmill.IssuedSubscription, err error) {
	made = feedmill.IssuedSubscription{Subscription: sub, SigningSecret: feedmill.NewSigningSecret()}
	made.Secrets, err = s.sealJSON(feedmill.SigningSecrets{Current: made.SigningSecret}, sub.SecretsRecord())
	return made, err
}

// sealHeaders puts extra headers into a subscription.
func (s *Subscriptions) sealHeaders(sub *feedmill.Subscription, headers map[string]string) (err error) {
	sub.Headers, sub.HeaderNames = nil, slices.Sorted(maps.Keys(headers))
	if len(headers) > 0 {
		sub.Headers, err = s.sealJSON(headers, sub.HeadersRecord())
	}
	return err
}

// openHeaders are the extra headers of a subscription.
func (s *Subscriptions) openHeaders(ctx context.Context, sub feedmill.Subscription) (headers map[string]string, err error) {
	if len(sub.Headers) > 0 {
		err = s.unsealJSON(ctx, sub.Headers, sub.HeadersRecord(), &headers)
	}
	return headers, err
}

func (s *Subscriptions) sealJSON(v any, record string) ([]byte, error) {
	plain, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("sealing %s: %w", record, err)
	}
	return s.Vault.Seal(plain, record)
}

func (s *Subscriptions) unsealJSON(ctx context.Context, sealed []byte, record string, into any) error {
	plain, err := s.Vault.Unseal(ctx, sealed, record)
	if err != nil {
		return fmt.Errorf("opening %s: %w", record, err)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("reading %s: %w", record, err)
	}
	return nil
}
