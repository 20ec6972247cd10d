package database

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// renewalLease is for how long one who exchanges a refresh token keeps the others
	// waiting after a sign of life, which there is every renewalSign. So long do they
	// wait for a process that was killed.
	renewalLease, renewalSign = 20 * time.Second, 5 * time.Second
	// renewalWait is how long they wait before they look again.
	renewalWait = 100 * time.Millisecond
	// renewalEnd bounds what is written in the end.
	renewalEnd = 30 * time.Second
)

// renew has the refresh token of a connection exchanged. Providers that give another
// one each time take a second use of the old one for theft, and end the whole grant:
// so nobody else, in any process, does the same meanwhile, the token is read anew once
// that is so, and the new one is kept before the access token is used.
func (c *Connections) renew(ctx context.Context, of feedmill.Connection, exchange func(context.Context, feedmill.Renewal) (feedmill.Renewal, error)) error {
	holder := rand.Text()
	last, err := c.awaitRenewal(ctx, of, holder)
	if err != nil {
		return err
	}
	alone, cancel := context.WithCancelCause(ctx)
	signs := make(chan struct{})
	go func() {
		defer close(signs)
		c.signRenewal(alone, of, holder, cancel)
	}()
	received, err := c.exchange(alone, of, last, exchange)
	if err != nil && alone.Err() != nil {
		err = errors.Join(err, context.Cause(alone))
	}
	cancel(nil)
	<-signs
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), renewalEnd)
	defer stop()
	// Who cannot say that it is done lets the others wait for the end of the lease.
	if failed := c.Store.EndRenewal(ending, of.Workspace, of.ID, holder, received); failed != nil && c.Log != nil {
		c.Log.Warn("recording the end of a token renewal failed", "service", of.ServiceName, "error", failed)
	}
	return err
}

// awaitRenewal waits until nobody else exchanges the token of a connection, and
// returns what was received the last time.
func (c *Connections) awaitRenewal(ctx context.Context, of feedmill.Connection, holder string) (last []byte, err error) {
	for {
		at := time.Now()
		taken, last, err := c.Store.TakeRenewal(ctx, of.Workspace, of.ID, holder, at, at.Add(renewalLease))
		if taken || err != nil {
			return last, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(renewalWait):
		}
	}
}

// signRenewal gives signs of life until ctx ends. Who cannot is no longer alone, and
// has to stop.
func (c *Connections) signRenewal(ctx context.Context, of feedmill.Connection, holder string, stop context.CancelCauseFunc) {
	tick := time.NewTicker(renewalSign)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-tick.C:
			taken, _, err := c.Store.TakeRenewal(ctx, of.Workspace, of.ID, holder, at, at.Add(renewalLease))
			if err == nil && !taken {
				stop(errors.New("another process exchanges the refresh token of the connection"))
			}
		}
	}
}

// kept is what is kept of what was received: with the token that is good after it, so
// that it is of no use once another grant has taken its place.
type kept struct {
	RefreshToken string    `json:"refreshToken"`
	AccessToken  string    `json:"accessToken"`
	Until        time.Time `json:"until"`
}

// exchange has the token exchanged, keeps the new one, and returns what was received,
// sealed.
func (c *Connections) exchange(ctx context.Context, of feedmill.Connection, last []byte, exchange func(context.Context, feedmill.Renewal) (feedmill.Renewal, error)) ([]byte, error) {
	of, err := c.Store.Connection(ctx, of.Workspace, of.ID)
	if err != nil {
		return nil, err
	}
	config, err := c.config(ctx, of)
	if err != nil {
		return nil, err
	}
	before := feedmill.Renewal{RefreshToken: config[refreshToken]}
	if known, ok := c.lastReceived(ctx, of, last); ok && known.RefreshToken == before.RefreshToken {
		before.AccessToken, before.Until = known.AccessToken, known.Until
	}
	after, err := exchange(ctx, before)
	if err != nil || after == before {
		return nil, err
	}
	if after.RefreshToken != before.RefreshToken {
		// It is kept even if nobody waits for the data any more.
		keeping, stop := context.WithTimeout(context.WithoutCancel(ctx), renewalEnd)
		defer stop()
		if err := c.keepSetting(keeping, of, refreshToken, before.RefreshToken, after.RefreshToken); err != nil {
			return nil, err
		}
	}
	plain, err := json.Marshal(kept(after))
	if err != nil {
		return nil, err
	}
	return c.Vault.Seal(plain, of.ReceivedRecord())
}

// lastReceived is what was received the last time. What cannot be read any more, such
// as after a change of the key, is of no importance: it is received again.
func (c *Connections) lastReceived(ctx context.Context, of feedmill.Connection, sealed []byte) (k kept, ok bool) {
	if len(sealed) == 0 {
		return k, false
	}
	plain, err := c.Vault.Unseal(ctx, sealed, of.ReceivedRecord())
	return k, err == nil && json.Unmarshal(plain, &k) == nil
}
