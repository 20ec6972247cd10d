package subscribe

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// Rotate gives a subscription a new signing secret. During the overlap the old
// one still signs x-service-signature, and both sign webhook-signature. keep
// makes the response that is kept with it.
func (s *Subscriptions) Rotate(ctx context.Context, workspace, id feedmill.ID, overlap time.Duration, keep func(feedmill.IssuedSubscription) (*feedmill.IdempotentResponse, error)) (feedmill.IssuedSubscription, error) {
	sub, err := s.Store.Subscription(ctx, workspace, id)
	if err != nil {
		return feedmill.IssuedSubscription{}, err
	}
	var secrets feedmill.SigningSecrets
	if err := s.unsealJSON(ctx, sub.Secrets, sub.SecretsRecord(), &secrets); err != nil {
		return feedmill.IssuedSubscription{}, err
	}
	at := now()
	secrets = secrets.At(at)
	if secrets.Next != "" && overlap > 0 {
		return feedmill.IssuedSubscription{}, rotating("A rotation is already in progress until " + secrets.SwitchAt.UTC().Format(feedmill.TimestampFormat) +
			`. Wait for its end, or send {"overlap":"0s"} to switch to a new secret immediately.`)
	}
	secret := feedmill.NewSigningSecret()
	if overlap > 0 {
		secrets.Next, secrets.SwitchAt = secret, at.Add(overlap)
	} else {
		secrets = feedmill.SigningSecrets{Current: secret}
	}
	sealed, err := s.sealJSON(secrets, sub.SecretsRecord())
	if err != nil {
		return feedmill.IssuedSubscription{}, err
	}
	var issued feedmill.IssuedSubscription
	_, err = s.Store.ChangeSubscription(ctx, workspace, id, func(fresh *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		if !bytes.Equal(fresh.Secrets, sub.Secrets) {
			return nil, errChangedMeanwhile
		}
		fresh.Secrets, fresh.UpdatedAt = sealed, at
		issued = feedmill.IssuedSubscription{Subscription: *fresh, SigningSecret: secret, OverlapUntil: secrets.SwitchAt}
		return keep(issued)
	})
	if errors.Is(err, errChangedMeanwhile) {
		return feedmill.IssuedSubscription{}, rotating("Another request rotated the secret at the same moment. The response to that request contains the new secret.")
	}
	if err != nil {
		return feedmill.IssuedSubscription{}, err
	}
	s.Changed(id)
	return issued, nil
}

func rotating(detail string) error {
	return &feedmill.Error{Kind: feedmill.ErrConflict, Type: "rotation-in-progress", Transient: true, Detail: detail}
}
