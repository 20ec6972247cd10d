package app

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/vault"
)

// sealedURLs is a store in which the URLs of subscriptions are sealed: many are
// secrets, as whoever knows one can post to it. Those that were stored before
// they were sealed are read as they are, and sealed with the next change.
type sealedURLs struct {
	store
	vault *vault.Vault
}

// urlSeal begins a URL that is sealed, which no URL that may be called does.
const urlSeal = "sealed:"

func (s sealedURLs) seal(sub feedmill.Subscription) (feedmill.Subscription, error) {
	if sub.URL == "" { // a listener has none
		return sub, nil
	}
	sealed, err := s.vault.Seal([]byte(sub.URL), sub.URLRecord())
	sub.URL = urlSeal + base64.StdEncoding.EncodeToString(sealed)
	return sub, err
}

func (s sealedURLs) open(ctx context.Context, sub feedmill.Subscription) (feedmill.Subscription, error) {
	text, sealed := strings.CutPrefix(sub.URL, urlSeal)
	if !sealed {
		return sub, nil
	}
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return feedmill.Subscription{}, fmt.Errorf("the URL of %s: %w", sub.ID, err)
	}
	plain, err := s.vault.Unseal(ctx, bytes, sub.URLRecord())
	sub.URL = string(plain)
	return sub, err
}

func (s sealedURLs) CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) (err error) {
	sealed := make([]feedmill.Subscription, len(subs))
	for i, sub := range subs {
		if sealed[i], err = s.seal(sub); err != nil {
			return err
		}
	}
	return s.store.CreateSubscriptions(ctx, sealed, most, response)
}

func (s sealedURLs) Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	sub, err := s.store.Subscription(ctx, workspace, id)
	if err != nil {
		return sub, err
	}
	return s.open(ctx, sub)
}

func (s sealedURLs) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	sub, err := s.store.SubscriptionForDelivery(ctx, id)
	if err != nil {
		return sub, err
	}
	return s.open(ctx, sub)
}

func (s sealedURLs) Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error) {
	subs, err := s.store.Subscriptions(ctx, workspace, p)
	for i := range subs {
		if err == nil {
			subs[i], err = s.open(ctx, subs[i])
		}
	}
	return subs, err
}

// ChangeSubscription shows the change the URL itself. The vault is asked in the
// transaction; only a key that another process has just made has it ask the
// store, and it does so beside the transaction.
func (s sealedURLs) ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error) {
	var plain feedmill.Subscription
	_, err := s.store.ChangeSubscription(ctx, workspace, id, func(sub *feedmill.Subscription) (response *feedmill.IdempotentResponse, err error) {
		if plain, err = s.open(ctx, *sub); err != nil {
			return nil, err
		}
		if response, err = change(&plain); err != nil {
			return nil, err
		}
		*sub, err = s.seal(plain)
		return response, err
	})
	if err != nil {
		return feedmill.Subscription{}, err
	}
	return plain, nil
}
