package subscribe

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// issue gives a new subscription a signing secret; if it is empty, a new one.
func (s *Subscriptions) issue(sub feedmill.Subscription, secret string) (made feedmill.IssuedSubscription, err error) {
	made = feedmill.IssuedSubscription{Subscription: sub, SigningSecret: secret}
	if secret == "" {
		made.SigningSecret = feedmill.NewSigningSecret()
	}
	made.Secrets, err = s.sealJSON(feedmill.SigningSecrets{Current: made.SigningSecret}, sub.SecretsRecord())
	return made, err
}

// setDestination gives a subscription a destination, whose new configuration it seals.
func (s *Subscriptions) setDestination(sub *feedmill.Subscription, d feedmill.Destination, config []byte) (err error) {
	sub.Destination = d
	if config != nil {
		sub.Destination.Config, err = s.Vault.Seal(config, sub.ConfigRecord())
	}
	return err
}

// openConfig is the configuration of a subscription's destination.
func (s *Subscriptions) openConfig(ctx context.Context, sub feedmill.Subscription) ([]byte, error) {
	config, err := s.Vault.Unseal(ctx, sub.Destination.Config, sub.ConfigRecord())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", sub.ConfigRecord(), err)
	}
	return config, nil
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
