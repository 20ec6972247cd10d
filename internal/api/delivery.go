package api

import (
	"context"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// DeliveryStore has the deliveries and their attempts.
type DeliveryStore interface {
	Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error)
	Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error)
	LastAttempts(ctx context.Context, deliveries []feedmill.Delivery) (map[feedmill.ID]feedmill.Attempt, error)
	DeliveryAttempts(ctx context.Context, delivery feedmill.ID) ([]feedmill.Attempt, error)
	Due(context.Context, feedmill.DueQuery) ([]feedmill.DueDelivery, error)
	Settle(ctx context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error)
	RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, keep func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error)
	HastenRetries(ctx context.Context, subscription feedmill.ID, now time.Time, limit int) (int, error)
	Backlogs(ctx context.Context, subscriptions []feedmill.ID, most int) (map[feedmill.ID]feedmill.SubscriptionBacklog, error)
	Undelivered(ctx context.Context, workspace feedmill.ID, q feedmill.UndeliveredQuery) ([]feedmill.Undelivered, error)
}

type deliveryView struct {
	ID           feedmill.ID            `json:"id"`
	Subscription feedmill.ID            `json:"subscriptionId"`
	Event        feedmill.ID            `json:"eventId"`
	Type         string                 `json:"type"`
	ResourceID   *string                `json:"resourceId"`
	State        feedmill.DeliveryState `json:"state"`
	Reason       string                 `json:"reason,omitzero"`
	AttemptCount int                    `json:"attemptCount"`
	MaxAttempts  int                    `json:"maxAttempts"`
	NextAttempt  timestamp              `json:"nextAttemptAt,omitzero"`
	CreatedAt    timestamp              `json:"createdAt"`
	EndedAt      timestamp              `json:"endedAt,omitzero"`
	// LastAttempt is there once an attempt has been made.
	LastAttempt *lastAttemptView `json:"lastAttempt,omitzero"`
	// What follows is in the answer about one delivery only.
	Attempts        *[]attemptView       `json:"attempts,omitzero"`
	PlannedAttempts *[]timestamp         `json:"plannedAttempts,omitzero"`
	WaitsFor        *client.DeliveryWait `json:"waitsFor,omitzero"`
	// Payload is the text that is sent, absent where the event is not kept any more.
	Payload *string `json:"payload,omitzero"`
	// Older and Newer are the deliveries of the subscription beside it, where there are any.
	Older feedmill.ID `json:"olderId,omitzero"`
	Newer feedmill.ID `json:"newerId,omitzero"`
}

func (s *Server) viewDelivery(d feedmill.Delivery) deliveryView {
	v := deliveryView{
		ID: d.ID, Subscription: d.Subscription, Event: d.Event, Type: feedmill.PublicName(d.Type), State: s.stateNow(d.ID, d.State), Reason: d.Reason,
		AttemptCount: d.Attempts, MaxAttempts: d.MaxAttempts, CreatedAt: timestamp(d.CreatedAt), EndedAt: timestamp(d.EndedAt),
	}
	if d.ResourceID != "" {
		v.ResourceID = &d.ResourceID
	}
	if d.State.Open() {
		v.NextAttempt = timestamp(d.DueAt)
	}
	return v
}

// stateNow is the state of a delivery with what the store does not know: that
// an attempt is under way.
func (s *Server) stateNow(id feedmill.ID, stored feedmill.DeliveryState) feedmill.DeliveryState {
	if stored.Open() && s.Dispatcher.InFlight(id) {
		return feedmill.DeliveryDelivering
	}
	return stored
}

func deliveryURL(id feedmill.ID) string { return "/events/deliveries/" + string(id) }

// deliveryID is the one that the path names.
func (c *call) deliveryID() (feedmill.ID, error) {
	return feedmill.ParseID(feedmill.PrefixDelivery, c.r.PathValue("id"))
}

func (s *Server) getDelivery(c *call) (answer, error) {
	id, err := c.deliveryID()
	if err != nil {
		return answer{}, err
	}
	d, err := s.Store.Delivery(c.ctx(), c.who.Workspace, id)
	if err != nil {
		return answer{}, err
	}
	attempts, err := s.Store.DeliveryAttempts(c.ctx(), id)
	if err != nil {
		return answer{}, err
	}
	view := s.viewDelivery(d)
	if n := len(attempts); n > 0 {
		view.LastAttempt = viewLastAttempt(attempts[n-1])
	}
	if err := s.detail(c, &view, d, attempts); err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{deliveryURL(id)}, view}), nil
}

// retryDelivery gives a delivery new attempts, the first of them at once.
func (s *Server) retryDelivery(c *call) (answer, error) {
	id, err := c.deliveryID()
	if err != nil {
		return answer{}, err
	}
	if s.Dispatcher.InFlight(id) {
		// One of another workspace is not there, in flight or not.
		if _, err := s.Store.Delivery(c.ctx(), c.who.Workspace, id); err != nil {
			return answer{}, err
		}
		return answer{}, feedmill.NotRetryable("An attempt of this delivery is in flight. Wait for its result.")
	}
	render := func(d feedmill.Delivery) answer {
		return jsonAnswer(http.StatusAccepted, resource{resourceMeta{deliveryURL(id)}, s.viewDelivery(d)})
	}
	keep := func(d feedmill.Delivery) *feedmill.IdempotentResponse {
		return c.keepOrFail(func() answer { return render(d) })
	}
	due, err := s.Store.RetryDelivery(c.ctx(), c.who.Workspace, id, s.RetrySchedule.Attempts(), now(), keep)
	if err != nil {
		return answer{}, err
	}
	a := render(due.Delivery)
	// Whoever retries by hand has reason to think that the endpoint is back.
	s.Dispatcher.Changed(due.Subscription)
	s.Dispatcher.Offer([]feedmill.DueDelivery{due})
	return a, nil
}
