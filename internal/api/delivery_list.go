package api

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// maxCounted is how far the deliveries in a state are counted: the log of a busy
// subscription has millions.
const maxCounted = 1000

// lastAttemptView is the last attempt of a delivery in short.
type lastAttemptView struct {
	At       timestamp           `json:"at"`
	Status   *int                `json:"status"`
	Error    *string             `json:"error"`
	Duration client.Milliseconds `json:"durationMs"`
}

func viewLastAttempt(a feedmill.Attempt) *lastAttemptView {
	return &lastAttemptView{timestamp(a.At), orNull(a.Status), orNull(valid(a.Error)), inMilliseconds(a.Timing.Total)}
}

// listDeliveries lists deliveries of a subscription.
func (s *Server) listDeliveries(c *call) (answer, error) {
	q := feedmill.DeliveryQuery{Type: c.typeParameter(), Since: c.timeParameter("since"), States: words(c, "state", feedmill.DeliveryStates)}
	until := c.timeParameter("until")
	counts, counting := c.query["counts"]
	if counting && counts != "state" {
		c.fault(feedmill.Fault{Parameter: "counts", Detail: "counts must be state."})
	}
	a, err := s.deliveryList(c, q, until, s.subscription)
	if err != nil || !counting {
		return a, err
	}
	sub, err := s.subscription(c)
	if err != nil {
		return answer{}, err
	}
	q.Subscription = sub.ID
	found, err := s.countDeliveries(c, q, until)
	if err != nil {
		return answer{}, err
	}
	a.set("X-Counts", counted(feedmill.DeliveryStates, found))
	return a, nil
}

// countDeliveries counts deliveries by state, up to maxCounted of each.
func (s *Server) countDeliveries(c *call, q feedmill.DeliveryQuery, until time.Time) (map[feedmill.DeliveryState]int64, error) {
	counts := make(map[feedmill.DeliveryState]int64)
	for _, state := range feedmill.DeliveryStates {
		if state == feedmill.DeliveryDelivering {
			continue // it is stored as pending or retrying
		}
		q.States, q.Page = []feedmill.DeliveryState{state}, endingAt(feedmill.Page{Limit: maxCounted}, until)
		some, err := s.Store.Deliveries(c.ctx(), c.who.Workspace, q)
		if err != nil {
			return nil, err
		}
		for _, d := range some {
			counts[s.stateNow(d.ID, d.State)]++
		}
	}
	return counts, nil
}

// endingAt is a page with nothing that was made at a time or later; a zero time is no
// bound.
func endingAt(p feedmill.Page, until time.Time) feedmill.Page {
	if until.IsZero() {
		return p
	}
	if first := feedmill.FirstID(feedmill.PrefixDelivery, until); p.Before == "" || first < p.Before {
		p.Before = first
	}
	return p
}

// deliveryList lists deliveries of a subscription, each with its last attempt.
func (s *Server) deliveryList(c *call, q feedmill.DeliveryQuery, until time.Time, of func(*call) (feedmill.Subscription, error)) (answer, error) {
	var last map[feedmill.ID]feedmill.Attempt
	fetch := func(p feedmill.Page) (found []feedmill.Delivery, err error) {
		sub, err := of(c)
		if err != nil {
			return nil, err
		}
		q.Subscription = sub.ID
		if found, err = s.deliveriesNow(c, q, endingAt(p, until)); err != nil {
			return nil, err
		}
		last, err = s.Store.LastAttempts(c.ctx(), found)
		return found, err
	}
	view := func(d feedmill.Delivery) deliveryView { return s.viewListed(d, last) }
	return listAnswer(c, feedmill.PrefixDelivery, fetch, func(d feedmill.Delivery) feedmill.ID { return d.ID }, view)
}

// viewListed is a delivery in a list, with its last attempt.
func (s *Server) viewListed(d feedmill.Delivery, last map[feedmill.ID]feedmill.Attempt) deliveryView {
	v := s.viewDelivery(d)
	if a, ok := last[d.ID]; ok {
		v.LastAttempt = viewLastAttempt(a)
	}
	return v
}

// deliveriesNow are deliveries in the states that they have at this moment: those
// that are under way are what the dispatcher has, and not what the store would have to be
// searched for.
func (s *Server) deliveriesNow(c *call, q feedmill.DeliveryQuery, p feedmill.Page) (found []feedmill.Delivery, err error) {
	stored := slices.DeleteFunc(slices.Clone(q.States), func(state feedmill.DeliveryState) bool { return state == feedmill.DeliveryDelivering })
	if len(stored) < len(q.States) {
		if found, err = s.delivering(c, q, p); err != nil || len(stored) == 0 {
			return found, err
		}
	}
	q.States, q.Page = stored, p
	// It goes on where records that the store found are in another state now.
	for n := 0; n < p.Limit; {
		some, err := s.Store.Deliveries(c.ctx(), c.who.Workspace, q)
		if err != nil {
			return nil, err
		}
		for _, d := range some {
			if len(stored) == 0 || slices.Contains(stored, s.stateNow(d.ID, d.State)) {
				found = append(found, d)
				n++
			}
		}
		if len(some) < q.Limit {
			break
		}
		q.Before = some[len(some)-1].ID
	}
	slices.SortFunc(found, func(a, b feedmill.Delivery) int { return strings.Compare(string(b.ID), string(a.ID)) })
	return found[:min(len(found), p.Limit)], nil
}

// delivering are deliveries of a subscription of which an attempt is under way.
func (s *Server) delivering(c *call, q feedmill.DeliveryQuery, p feedmill.Page) (found []feedmill.Delivery, err error) {
	ids := s.Dispatcher.UnderWay(q.Subscription)
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
