package fetch

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// refreshTokenPointer is where the definition has the token that others are given
// for.
const refreshTokenPointer = "/auth/refreshToken"

type refreshSigner struct {
	tokenSigner
	*spec.RefreshToken
}

func (a refreshSigner) receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver {
	return func(ctx context.Context, slot *tokenSlot) (receivedToken, error) {
		return a.renew(ctx, r, slot, traced)
	}
}

// renew asks for a token with the one that was given before. A source may give
// another for the next time, and then takes the old one no more: so that is kept
// before anything else is done.
func (a refreshSigner) renew(ctx context.Context, r *run, slot *tokenSlot, traced *[]feedmill.TracedRequest) (receivedToken, error) {
	if r.job.Renew != nil {
		return a.renewShared(ctx, r, slot, traced)
	}
	key := r.spec.CredentialHash()
	old := r.f.rotated.newest(key, a.Value)
	r.mask.Add(old)
	t, err := r.askClientToken(ctx, &a.OAuthClient, slot, traced, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old}})
	if err != nil || t.rotated == "" || t.rotated == old {
		return t, err
	}
	r.mask.Add(t.rotated)
	r.f.rotated.keep(key, old, t.rotated)
	return t, r.keepToken(ctx, t.rotated)
}

// leastLeft is for how long an access token has to be good that another has received.
const leastLeft = time.Minute

// renewShared is renew with a token that others have, too. What one of them has
// received in the meantime is taken, unless it is what was refused.
func (a refreshSigner) renewShared(ctx context.Context, r *run, slot *tokenSlot, traced *[]feedmill.TracedRequest) (t receivedToken, err error) {
	err = r.job.Renew(ctx, func(ctx context.Context, kept feedmill.Renewal) (feedmill.Renewal, error) {
		r.mask.Add(kept.RefreshToken)
		left := time.Until(kept.Until)
		if kept.AccessToken != "" && kept.AccessToken != slot.refused && (kept.Until.IsZero() || left > leastLeft) {
			t = receivedToken{text: kept.AccessToken, borrowed: true}
			if !kept.Until.IsZero() {
				t.lives = left
			}
			return kept, nil
		}
		t, err = r.askClientToken(ctx, &a.OAuthClient, slot, traced, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {kept.RefreshToken}})
		if err != nil {
			return kept, err
		}
		after := feedmill.Renewal{RefreshToken: kept.RefreshToken, AccessToken: t.text}
		if t.rotated != "" {
			r.mask.Add(t.rotated)
			after.RefreshToken = t.rotated
		}
		if t.lives > 0 {
			after.Until = time.Now().Add(t.lives).UTC()
		}
		return after, nil
	})
	return t, err
}

// keepToken keeps a token in place of the one of the definition.
func (r *run) keepToken(ctx context.Context, token string) error {
	if r.job.KeepSecrets == nil {
		return nil
	}
	secrets, err := spec.ReadSecrets(r.job.Secrets)
	if err != nil {
		return err
	}
	if secrets.Member(refreshTokenPointer) == nil {
		return errors.New("the source has no refresh token that could be replaced")
	}
	secrets.Set(refreshTokenPointer, strictjson.String(token))
	// It is kept even if nobody waits for the data any more.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	return r.job.KeepSecrets(ctx, secrets.Append(nil))
}

const keepTimeout = 30 * time.Second

// rotations are tokens that took the place of others. A preview keeps nothing, so
// a feed that is made of the same definition after it would have one that the
// source takes no more.
type rotations struct {
	mu sync.Mutex
	of map[rotation]string
}

type rotation struct{ credential, token string }

// newest is what took the place of a token, or that itself.
func (r *rotations) newest(credential, token string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range len(r.of) {
		newest, ok := r.of[rotation{credential, token}]
		if !ok {
			break
		}
		token = newest
	}
	return token
}

// keep notes what took the place of a token.
func (r *rotations) keep(credential, sent, newest string) {
	const many = 4096
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || len(r.of) > many {
		r.of = make(map[rotation]string)
	}
	r.of[rotation{credential, sent}] = newest
}
