package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// What deliveries wait for.
const (
	waitsForResume  = "paused"  // somebody has paused the subscription
	waitsForBreaker = "breaker" // the endpoint is left alone for a while
	waitsForOrder   = "order"   // one before it, of the same resource
	waitsForTime    = "time"    // its next attempt is not due
	waitsForTurn    = "turn"
)

// detail adds what is known of one delivery alone.
func (s *Server) detail(c *call, v *deliveryView, d feedmill.Delivery, attempts []feedmill.Attempt) error {
	sub, err := s.Store.Subscription(c.ctx(), c.who.Workspace, d.Subscription)
	gone := errors.Is(err, feedmill.ErrNotFound)
	if err != nil && !gone {
		return err
	}
	e, err := s.Store.Event(c.ctx(), c.who.Workspace, d.Event)
	switch {
	case err == nil:
		v.Payload = new(string(e.Payload))
	case !errors.Is(err, feedmill.ErrNotFound):
		return err
	}
	views := make([]attemptView, len(attempts))
	for i, a := range attempts {
		views[i] = attemptView{a.ID, a.Number, viewExchange(a), nil}
		if !gone {
			views[i].Request = s.sent(sub, d, a, e.Payload)
		}
	}
	v.Attempts = &views
	planned := []timestamp{}
	if d.State.Open() && !gone {
		planned = s.planned(sub, d)
		if v.WaitsFor, err = s.waitsFor(c, sub, d); err != nil {
			return err
		}
	}
	v.PlannedAttempts = &planned
	v.Older, v.Newer, err = s.besides(c, d)
	return err
}

// besides are the deliveries of the same subscription before and after one.
func (s *Server) besides(c *call, d feedmill.Delivery) (older, newer feedmill.ID, err error) {
	found, err := s.Store.Deliveries(c.ctx(), c.who.Workspace, feedmill.DeliveryQuery{Subscription: d.Subscription, Page: feedmill.Page{Limit: 1, Before: d.ID}})
	if err != nil {
		return "", "", err
	}
	if len(found) > 0 {
		older = found[0].ID
	}
	found, err = s.Store.Deliveries(c.ctx(), c.who.Workspace, feedmill.DeliveryQuery{Subscription: d.Subscription, After: d.ID, Page: feedmill.Page{Limit: 1}})
	if len(found) > 0 {
		newer = found[0].ID
	}
	return older, newer, err
}

// sent is the request of an attempt, without what signs it and what is secret.
func (s *Server) sent(sub feedmill.Subscription, d feedmill.Delivery, a feedmill.Attempt, payload []byte) *client.SentRequest {
	to := sub.Destination
	v := &client.SentRequest{Method: to.Method, URL: to.URL, ChangedSince: sub.UpdatedAt.After(a.At)}
	header := func(name, value string) { v.Headers = append(v.Headers, client.AnswerHeader{Name: name, Value: value}) }
	if to.Method == http.MethodGet {
		join := "?"
		if strings.Contains(v.URL, "?") {
			join = "&"
		}
		v.URL += join + "payload=" + strings.ReplaceAll(url.QueryEscape(string(payload)), "+", "%20")
	} else {
		header("content-type", "application/json")
	}
	header("user-agent", "Feedmill/"+s.Version)
	alone := sub.Delivery.Batch.IsZero() // else the other events of the array are not known
	if alone {
		header("x-service-event", feedmill.PublicName(d.Type))
		header("x-service-delivery", string(d.ID))
	}
	header("x-service-attempt", strconv.Itoa(a.Number))
	header("x-service-signature", feedmill.Hidden)
	if alone {
		header("webhook-id", string(d.ID))
	}
	header("webhook-timestamp", strconv.FormatInt(a.At.Unix(), 10))
	header("webhook-signature", feedmill.Hidden)
	if to.Kind == feedmill.DestinationWebhook {
		for _, name := range to.ConfigNames {
			header(name, feedmill.Hidden)
		}
		if _, oauth2 := shownOptions(to); oauth2 != nil {
			header("authorization", feedmill.Hidden)
		}
	}
	return v
}

// planned are the times of the attempts that are to come if each of them fails, as
// far as they do not depend on chance.
func (s *Server) planned(sub feedmill.Subscription, d feedmill.Delivery) []timestamp {
	schedule := s.RetrySchedule
	if len(sub.Delivery.Retries) > 0 {
		schedule = sub.Delivery.Retries
	}
	at := now()
	if d.State == feedmill.DeliveryRetrying && d.DueAt.After(at) {
		at = d.DueAt
	}
	planned := []timestamp{timestamp(at)}
	const exactly = 0.5 // in the middle of how far the waits are spread
	for made := d.Attempts + 1; ; made++ {
		wait, ok := schedule.Next(made, d.MaxAttempts, exactly)
		if !ok {
			return planned
		}
		at = at.Add(wait)
		planned = append(planned, timestamp(at))
	}
}

// waitsFor says what an open delivery waits for, and is nil while it is sent.
func (s *Server) waitsFor(c *call, sub feedmill.Subscription, d feedmill.Delivery) (*client.DeliveryWait, error) {
	switch {
	case s.stateNow(d.ID, d.State) == feedmill.DeliveryDelivering:
		return nil, nil
	case sub.State == feedmill.SubscriptionPaused:
		return &client.DeliveryWait{Reason: waitsForResume}, nil
	}
	if sub.Delivery.Ordered && d.ResourceID != "" {
		const whenever = 100 * 365 * 24 * time.Hour
		heads, err := s.Store.Due(c.ctx(), feedmill.DueQuery{
			Subscription: sub.ID, Now: now().Add(whenever), Heads: true, Resources: []string{d.ResourceID}, Limit: 1,
		})
		if err != nil {
			return nil, err
		}
		if len(heads) > 0 && heads[0].ID != d.ID {
			return &client.DeliveryWait{Reason: waitsForOrder, DeliveryID: string(heads[0].ID)}, nil
		}
	}
	if d.State == feedmill.DeliveryRetrying && d.DueAt.After(now()) {
		return &client.DeliveryWait{Reason: waitsForTime, Until: d.DueAt}, nil
	}
	for _, b := range s.Dispatcher.OpenBreakers() {
		if b.Subscription == sub.ID {
			return &client.DeliveryWait{Reason: waitsForBreaker, Until: b.ProbeAt}, nil
		}
	}
	return &client.DeliveryWait{Reason: waitsForTurn}, nil
}
