package api

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// rotateSecret gives a subscription a new signing secret. During the overlap
// the old one still signs.
func (s *Server) rotateSecret(c *call) (answer, error) {
	body, err := c.readOptionalObject()
	if err != nil {
		return answer{}, err
	}
	overlap := feedmill.DefaultRotationOverlap
	if v, ok := body.Get("overlap"); ok {
		overlap, _ = strictjson.Parse(v, feedmill.DurationBetween(0, feedmill.MaxRotationOverlap))
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	sub, err := s.subscription(c)
	if err != nil {
		return answer{}, err
	}
	var secrets feedmill.SigningSecrets
	if err := s.unsealJSON(c.ctx(), sub.Secrets, secretsRecord(sub.ID), &secrets); err != nil {
		return answer{}, err
	}
	at := now()
	secrets = secrets.At(at)
	if secrets.Next != "" && overlap > 0 {
		return answer{}, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "rotation-in-progress",
			Detail: "A rotation is under way until " + secrets.SwitchAt.UTC().Format(feedmill.TimestampFormat) + `; wait for its end, or send {"overlap":"0s"} to switch to a new secret at once.`,
		}
	}
	secret := feedmill.NewSigningSecret()
	if overlap > 0 {
		secrets.Next, secrets.SwitchAt = secret, at.Add(overlap)
	} else {
		secrets = feedmill.SigningSecrets{Current: secret}
	}
	sealed, err := s.sealJSON(secrets, secretsRecord(sub.ID))
	if err != nil {
		return answer{}, err
	}
	var a answer
	_, err = s.Store.ChangeSubscription(c.ctx(), c.who.Workspace, sub.ID, func(fresh *feedmill.Subscription) (idempotent *feedmill.IdempotentResponse, err error) {
		if !bytes.Equal(fresh.Secrets, sub.Secrets) {
			return nil, errChangedMeanwhile
		}
		fresh.Secrets, fresh.UpdatedAt = sealed, at
		view := viewSubscription(*fresh)
		view.SigningSecret, view.OverlapUntil = secret, timestamp(secrets.SwitchAt)
		a, idempotent, err = c.keepInside(func() answer { return subscriptionAnswer(http.StatusOK, view) })
		return idempotent, err
	})
	if errors.Is(err, errChangedMeanwhile) {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrConflict, Type: "rotation-in-progress", Detail: "Another rotation happened at the same time; its answer has the secret."}
	}
	if err != nil {
		return answer{}, err
	}
	s.Dispatcher.Changed(sub.ID)
	return a, nil
}
