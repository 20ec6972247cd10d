package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

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
	// Attempts are in the answer about one delivery only.
	Attempts *[]attemptView `json:"attempts,omitzero"`
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

func (s *Server) listDeliveries(c *call) (answer, error) {
	q := feedmill.DeliveryQuery{Type: c.query["type"], Since: c.timeParameter("since")}
	state, filtered := c.query["state"]
	if filtered && !slices.Contains(feedmill.DeliveryStates, feedmill.DeliveryState(state)) {
		var words []string
		for _, s := range feedmill.DeliveryStates {
			words = append(words, string(s))
		}
		c.fault(feedmill.Fault{Parameter: "state", Detail: "This must be one of " + strings.Join(words, ", ") + "."})
	}
	if filtered {
		q.States = []feedmill.DeliveryState{feedmill.DeliveryState(state)}
	}
	if state == string(feedmill.DeliveryDelivering) {
		return s.listDelivering(c, q)
	}
	return s.deliveryList(c, q, s.subscription)
}

// listDelivering lists the deliveries of a subscription that have an attempt under
// way: what the dispatcher has, and not what the store would have to be searched for.
func (s *Server) listDelivering(c *call, q feedmill.DeliveryQuery) (answer, error) {
	fetch := func(p feedmill.Page) (found []feedmill.Delivery, err error) {
		sub, err := s.subscription(c)
		if err != nil {
			return nil, err
		}
		ids := s.Dispatcher.UnderWay(sub.ID)
		slices.SortFunc(ids, func(a, b feedmill.ID) int { return strings.Compare(string(b), string(a)) })
		since := feedmill.FirstID(feedmill.PrefixDelivery, q.Since)
		for _, id := range ids {
			if len(found) == p.Limit || id < since {
				break
			}
			if p.Before != "" && id >= p.Before {
				continue
			}
			d, err := s.Store.Delivery(c.ctx(), c.who.Workspace, id)
			switch {
			case errors.Is(err, feedmill.ErrNotFound):
			case err != nil:
				return nil, err
			case s.stateNow(id, d.State) == feedmill.DeliveryDelivering && (q.Type == "" || d.Type == q.Type):
				found = append(found, d)
			}
		}
		return found, nil
	}
	return listAnswer(c, feedmill.PrefixDelivery, fetch, func(d feedmill.Delivery) feedmill.ID { return d.ID }, s.viewDelivery)
}

// listUndelivered lists, over all subscriptions, what ended without success.
func (s *Server) listUndelivered(c *call) (answer, error) {
	all := func(*call) (sub feedmill.Subscription, err error) { return sub, nil }
	return s.deliveryList(c, feedmill.DeliveryQuery{States: []feedmill.DeliveryState{feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded}}, all)
}

// deliveryList lists deliveries of a subscription, or of all where that has no id.
func (s *Server) deliveryList(c *call, q feedmill.DeliveryQuery, of func(*call) (feedmill.Subscription, error)) (answer, error) {
	wanted := q.States
	// fetch goes on where records that the store found are in another state
	// at this moment.
	fetch := func(p feedmill.Page) (found []feedmill.Delivery, err error) {
		sub, err := of(c)
		if err != nil {
			return nil, err
		}
		q.Subscription = sub.ID
		for q.Page = p; len(found) < p.Limit; {
			some, err := s.Store.Deliveries(c.ctx(), c.who.Workspace, q)
			if err != nil {
				return nil, err
			}
			for _, d := range some {
				if len(wanted) == 0 || slices.Contains(wanted, s.stateNow(d.ID, d.State)) {
					found = append(found, d)
				}
			}
			if len(some) < q.Limit {
				break
			}
			q.Before = some[len(some)-1].ID
		}
		return found[:min(len(found), p.Limit)], nil
	}
	return listAnswer(c, feedmill.PrefixDelivery, fetch, func(d feedmill.Delivery) feedmill.ID { return d.ID }, s.viewDelivery)
}

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
	views := make([]attemptView, len(attempts))
	for i, a := range attempts {
		views[i] = attemptView{a.ID, a.Number, viewExchange(a)}
	}
	view := s.viewDelivery(d)
	view.Attempts = &views
	return jsonAnswer(http.StatusOK, resource{resourceMeta{deliveryURL(id)}, view}), nil
}

// retryDelivery gives a delivery new attempts, the first of them at once.
func (s *Server) retryDelivery(c *call) (answer, error) {
	id, err := c.deliveryID()
	if err != nil {
		return answer{}, err
	}
	conflict := &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "not-retryable",
		Detail: "Only a delivery that has ended or waits for a retry can be retried, and only while its subscription is there and not disabled.",
	}
	if s.Dispatcher.InFlight(id) {
		// One of another workspace is not there, in flight or not.
		if _, err := s.Store.Delivery(c.ctx(), c.who.Workspace, id); err != nil {
			return answer{}, err
		}
		return answer{}, conflict
	}
	render := func(d feedmill.Delivery) answer {
		return jsonAnswer(http.StatusAccepted, resource{resourceMeta{deliveryURL(id)}, s.viewDelivery(d)})
	}
	keep := func(d feedmill.Delivery) *feedmill.IdempotentResponse {
		return c.keepOrFail(func() answer { return render(d) })
	}
	due, err := s.Store.RetryDelivery(c.ctx(), c.who.Workspace, id, s.RetrySchedule.Attempts(), now(), keep)
	if errors.Is(err, feedmill.ErrConflict) {
		return answer{}, conflict
	}
	if err != nil {
		return answer{}, err
	}
	a := render(due.Delivery)
	// Whoever retries by hand has reason to think that the endpoint is back.
	s.Dispatcher.Changed(due.Subscription)
	s.Dispatcher.Offer([]feedmill.DueDelivery{due})
	return a, nil
}
