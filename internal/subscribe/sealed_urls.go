package subscribe

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
)

// SubscriptionStore is where subscriptions are kept.
type SubscriptionStore interface {
	CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error
	Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error)
	SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error)
	Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error)
	ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error)
}

// SealedURLs is a store in which the URLs of subscriptions are sealed: many are
// secrets, as whoever knows one can post to it. What is shown of their configurations is
// sealed too. Those that were stored before
// they were sealed are read as they are, until a [Sealer] or a change comes to them.
type SealedURLs struct {
	Store SubscriptionStore
	Vault Vault
}

// urlSeal begins a URL that is sealed, which no URL that may be called does.
const urlSeal = "sealed:"

func (s SealedURLs) seal(sub feedmill.Subscription) (feedmill.Subscription, error) {
	to := &sub.Destination
	if to.URL == "" { // a listener has none
		return sub, nil
	}
	sealed, err := s.Vault.Seal([]byte(to.URL), sub.URLRecord())
	to.URL = urlSeal + base64.StdEncoding.EncodeToString(sealed)
	if err == nil && len(to.Shown) > 0 {
		to.Shown, err = s.Vault.Seal(to.Shown, sub.ShownRecord())
	}
	return sub, err
}

func (s SealedURLs) open(ctx context.Context, sub feedmill.Subscription) (feedmill.Subscription, error) {
	text, sealed := strings.CutPrefix(sub.Destination.URL, urlSeal)
	if !sealed {
		return sub, nil
	}
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return feedmill.Subscription{}, fmt.Errorf("reading the URL of %s: %w", sub.ID, err)
	}
	plain, err := s.Vault.Unseal(ctx, bytes, sub.URLRecord())
	sub.Destination.URL = string(plain)
	if err == nil && len(sub.Destination.Shown) > 0 {
		sub.Destination.Shown, err = s.Vault.Unseal(ctx, sub.Destination.Shown, sub.ShownRecord())
	}
	return sub, err
}

// CreateSubscriptions seals and makes subscriptions.
func (s SealedURLs) CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) (err error) {
	sealed := make([]feedmill.Subscription, len(subs))
	for i, sub := range subs {
		if sealed[i], err = s.seal(sub); err != nil {
			return err
		}
	}
	return s.Store.CreateSubscriptions(ctx, sealed, most, response)
}

// Subscription is one of a workspace.
func (s SealedURLs) Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	sub, err := s.Store.Subscription(ctx, workspace, id)
	if err != nil {
		return sub, err
	}
	return s.open(ctx, sub)
}

// SubscriptionForDelivery is one of any workspace.
func (s SealedURLs) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	sub, err := s.Store.SubscriptionForDelivery(ctx, id)
	if err != nil {
		return sub, err
	}
	return s.open(ctx, sub)
}

// SubscriptionsForDelivery are some of any workspace. One whose URL cannot be opened
// is left out: whoever asks for it alone learns why.
func (s SealedURLs) SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) (opened []feedmill.Subscription, err error) {
	subs, err := s.Store.SubscriptionsForDelivery(ctx, ids)
	for _, sub := range subs {
		if plain, err := s.open(ctx, sub); err == nil {
			opened = append(opened, plain)
		}
	}
	return opened, err
}

// Subscriptions lists those of a workspace.
func (s SealedURLs) Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error) {
	subs, err := s.Store.Subscriptions(ctx, workspace, p)
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
func (s SealedURLs) ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error) {
	var plain feedmill.Subscription
	_, err := s.Store.ChangeSubscription(ctx, workspace, id, func(sub *feedmill.Subscription) (response *feedmill.IdempotentResponse, err error) {
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
