package mail

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// ConsentStore has the subscriptions of all workspaces.
type ConsentStore interface {
	ClaimConfirmations(ctx context.Context, now, again time.Time, limit int) ([]feedmill.ID, error)
	SettleConfirmation(ctx context.Context, id feedmill.ID, claimed, next time.Time) error
	SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error)
	SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error)
	ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error)
	WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error)
}

// Vault opens what is sealed.
type Vault interface {
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Consents asks recipients to confirm subscriptions, and does what their links say.
type Consents struct {
	Kind  *Kind
	Store ConsentStore
	Vault Vault
	// Changed is told of a subscription that is active or paused now.
	Changed func(feedmill.ID)
	Log     *slog.Logger

	wake chan struct{}
}

// NewConsents completes the consents.
func NewConsents(c Consents) *Consents {
	c.wake = make(chan struct{}, 1)
	return &c
}

const (
	// askEvery is how often the store is searched for recipients to ask.
	askEvery = 5 * time.Second
	// askStep is how many recipients are asked in one step.
	askStep = 50
	// claimTime is how long one replica alone asks a recipient.
	claimTime = 2 * time.Minute
	// askAgain is when a recipient is asked again after a failure of the server.
	askAgain = time.Minute
	// askTime bounds one message.
	askTime = 30 * time.Second
	// At most maxAsked requests to confirm go to an address in a day, from all workspaces, and
	// at most maxAsking from a workspace in an hour: nobody can have strangers mailed.
	maxAsked  = 5
	maxAsking = 60
)

// Wake has recipients asked soon.
func (c *Consents) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run asks recipients until ctx ends.
func (c *Consents) Run(ctx context.Context) {
	if c.Kind.Server == nil || c.Kind.PublicURL == "" {
		return
	}
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		if err := c.ask(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn("requests to confirm could not be read; will retry", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-c.wake:
		}
	}
}

// request is a message that asks one recipient to confirm subscriptions of a workspace.
type request struct {
	workspace feedmill.ID
	to        address
	of        []feedmill.Subscription
}

// ask asks the recipients who are to be asked now.
func (c *Consents) ask(ctx context.Context) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	claimed := now.Add(claimTime)
	ids, err := c.Store.ClaimConfirmations(ctx, now, claimed, askStep)
	if err != nil || len(ids) == 0 {
		return err
	}
	subs, err := c.Store.SubscriptionsForDelivery(ctx, ids)
	if err != nil {
		return err
	}
	var requests []*request
	byRecipient := make(map[string]*request)
	for _, sub := range subs {
		to, err := parseAddress(sub.Destination.URL)
		if err != nil || !sub.DeletedAt.IsZero() || !toConfirm(sub) {
			err := c.Store.SettleConfirmation(ctx, sub.ID, claimed, time.Time{})
			if err != nil {
				return err
			}
			continue
		}
		key := string(sub.Workspace) + " " + strings.ToLower(to.String())
		r := byRecipient[key]
		if r == nil || len(r.of) == maxTokens {
			r = &request{workspace: sub.Workspace, to: to}
			byRecipient[key] = r
			requests = append(requests, r)
		}
		r.of = append(r.of, sub)
	}
	for _, r := range requests {
		next := time.Time{}
		if wait := c.askOne(ctx, r); wait > 0 {
			next = time.Now().UTC().Truncate(time.Millisecond).Add(wait)
		}
		for _, sub := range r.of {
			if err := c.Store.SettleConfirmation(context.WithoutCancel(ctx), sub.ID, claimed, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// askOne sends a request. If it was not sent, it returns how long to wait.
func (c *Consents) askOne(ctx context.Context, r *request) (wait time.Duration) {
	sum := sha256.Sum256([]byte(strings.ToLower(r.to.String())))
	limits := []struct {
		subject string
		most    int
		period  time.Duration
	}{
		{"confirm:" + hex.EncodeToString(sum[:16]), maxAsked, 24 * time.Hour},
		{"confirm:" + string(r.workspace), maxAsking, time.Hour},
	}
	var undo []func()
	for _, l := range limits {
		turn, wait, err := c.Kind.Windows.TakeTurn(ctx, l.subject, l.most, l.period)
		if err != nil || wait > 0 {
			for _, do := range undo {
				do()
			}
			return cmp.Or(wait, askAgain)
		}
		undo = append(undo, func() { c.Kind.Windows.ReturnTurn(context.WithoutCancel(ctx), l.subject, turn) })
	}
	message, err := c.compose(ctx, r)
	if err == nil {
		sending, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		err = c.Kind.Server.send(sending, string(r.workspace), r.to, message)
	}
	if err == nil {
		return 0
	}
	if !mayHaveArrived(err) {
		for _, do := range undo {
			do()
		}
	}
	outcome := result(err, askTime)
	c.Log.Warn("a request to confirm was not sent", "workspace", r.workspace, "subscription", r.of[0].ID, "error", outcome.Error)
	if outcome.Verdict == feedmill.VerdictRejected {
		return 0
	}
	return askAgain
}

// compose writes the request.
func (c *Consents) compose(ctx context.Context, r *request) ([]byte, error) {
	w, err := c.Store.WorkspaceByID(ctx, r.workspace)
	if err != nil {
		return nil, err
	}
	var tokens []string
	var text strings.Builder
	fmt.Fprintf(&text, "The workspace %q on %s wants to send you e-mail about:\n\n", w.Name, c.Kind.PublicURL)
	until := r.of[0].ConfirmBy
	for _, sub := range r.of {
		l, err := c.links(ctx, sub)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, l.confirm(sub.ID, sub.ConfirmBy))
		if sub.ConfirmBy.Before(until) {
			until = sub.ConfirmBy
		}
		for _, name := range sub.Events {
			fmt.Fprintf(&text, "  - %s\n", feedmill.PublicName(name))
		}
	}
	fmt.Fprintf(&text, "\nTo receive these messages, open this page and select Confirm:\n%s\n\n", c.Kind.PublicURL+ConfirmPath+strings.Join(tokens, "~"))
	fmt.Fprintf(&text, "The link is valid until %s. If you did not expect this message, ignore it. Nothing will be sent.\n", until.UTC().Format("2 January 2006, 15:04 UTC"))
	d := draft{
		id: "confirm." + strings.ToLower(string(r.of[0].ID)) + fmt.Sprintf(".%d", until.UnixMilli()), at: time.Now(),
		from: c.Kind.Server.From, to: r.to, subject: "Confirm e-mail from " + w.Name, text: text.String(),
	}
	return d.write(), nil
}

// links opens the key of a subscription.
func (c *Consents) links(ctx context.Context, sub feedmill.Subscription) (links, error) {
	plain, err := c.Vault.Unseal(ctx, sub.Destination.Config, sub.ConfigRecord())
	if err != nil {
		return links{}, fmt.Errorf("opening %s: %w", sub.ConfigRecord(), err)
	}
	var cfg config
	if err := json.Unmarshal(plain, &cfg); err != nil {
		return links{}, fmt.Errorf("reading %s: %w", sub.ConfigRecord(), err)
	}
	return links{cfg.Key, c.Kind.PublicURL}, nil
}

// errLink reports a link that names nothing.
var errLink = feedmill.ErrNotFound

// Confirmation reads a link to confirm, without confirming anything. It is refused if there is
// nothing to confirm.
func (c *Consents) Confirmation(ctx context.Context, link string) (feedmill.MailAsk, error) {
	ask, err := c.read(ctx, link, "confirm")
	if err != nil {
		return ask, err
	}
	if !time.Now().Before(ask.Until) {
		return ask, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "The link has expired. Ask the sender for a new one."}
	}
	if !slices.ContainsFunc(ask.Subscriptions, func(s feedmill.Subscription) bool { return s.State == feedmill.SubscriptionActive || toConfirm(s) }) {
		return ask, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "There is nothing to confirm any more. Ask the sender for a new link."}
	}
	return ask, nil
}

// toConfirm reports whether a subscription waits for its recipient.
func toConfirm(s feedmill.Subscription) bool {
	return s.State == feedmill.SubscriptionPaused && s.PausedReason == feedmill.PausedUnconfirmed
}

// Unsubscription reads a link to unsubscribe, without doing it.
func (c *Consents) Unsubscription(ctx context.Context, link string) (feedmill.MailAsk, error) {
	return c.read(ctx, link, "unsubscribe")
}

// read finds the subscriptions of a link. A link whose subscriptions are all gone, or have
// another address, is not found.
func (c *Consents) read(ctx context.Context, link, purpose string) (ask feedmill.MailAsk, err error) {
	tokens, ok := parseTokens(link)
	if !ok || purpose == "unsubscribe" && len(tokens) > 1 {
		return ask, errLink
	}
	for _, t := range tokens {
		sub, err := c.Store.SubscriptionForDelivery(ctx, t.id)
		if errors.Is(err, feedmill.ErrNotFound) {
			continue
		}
		if err != nil {
			return ask, err
		}
		if sub.Destination.Kind != feedmill.DestinationMail || !sub.DeletedAt.IsZero() {
			continue
		}
		l, err := c.links(ctx, sub)
		if err != nil {
			return ask, err
		}
		if !l.proves(t, purpose) {
			continue
		}
		ask.Subscriptions = append(ask.Subscriptions, sub)
		for _, name := range sub.Events {
			ask.Events = append(ask.Events, feedmill.PublicName(name))
		}
		if !t.until.IsZero() && (ask.Until.IsZero() || t.until.Before(ask.Until)) {
			ask.Until = t.until
		}
	}
	if len(ask.Subscriptions) == 0 {
		return ask, errLink
	}
	first := ask.Subscriptions[0]
	ask.Address = strings.TrimPrefix(first.Destination.URL, "mailto:")
	w, err := c.Store.WorkspaceByID(ctx, first.Workspace)
	if err != nil {
		return ask, err
	}
	ask.Workspace = w.Name
	return ask, nil
}

// Confirm activates the subscriptions of a link that wait for it.
func (c *Consents) Confirm(ctx context.Context, link string) (feedmill.MailAsk, error) {
	ask, err := c.Confirmation(ctx, link)
	if err != nil {
		return ask, err
	}
	for _, sub := range ask.Subscriptions {
		if err := c.change(ctx, sub, "subscription.confirmed", func(fresh *feedmill.Subscription, at time.Time) {
			if toConfirm(*fresh) {
				fresh.Confirm(at)
			}
		}); err != nil {
			return ask, err
		}
	}
	return ask, nil
}

// Unsubscribe pauses the subscription of a link.
func (c *Consents) Unsubscribe(ctx context.Context, link string) (feedmill.MailAsk, error) {
	ask, err := c.Unsubscription(ctx, link)
	if err != nil {
		return ask, err
	}
	return ask, c.change(ctx, ask.Subscriptions[0], "subscription.unsubscribed", func(fresh *feedmill.Subscription, at time.Time) { fresh.Unsubscribe(at) })
}

// change changes a subscription unless it has another address now.
func (c *Consents) change(ctx context.Context, sub feedmill.Subscription, action string, change func(*feedmill.Subscription, time.Time)) error {
	at := time.Now().UTC().Truncate(time.Millisecond)
	ctx = feedmill.WithAudit(ctx, &feedmill.AuditEntry{Workspace: sub.Workspace, At: at, Action: action, Actor: feedmill.Actor{Subject: "recipient"}, Resource: sub.ID})
	_, err := c.Store.ChangeSubscription(ctx, sub.Workspace, sub.ID, func(fresh *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		if fresh.Destination.URL == sub.Destination.URL { // else the key is another, too
			change(fresh, at)
		}
		return nil, nil
	})
	if err == nil {
		c.Changed(sub.ID)
	}
	return err
}
