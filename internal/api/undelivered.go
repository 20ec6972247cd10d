package api

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// undeliveredStates are those in which a delivery ended without success.
var undeliveredStates = []feedmill.DeliveryState{feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded}

// groupings are the values of groupBy.
var groupings = []string{"endpoint", "error", "endpoint,error"}

// undeliveredStep is how many deliveries are grouped or searched between two queries.
const undeliveredStep = 5000

// listUndelivered lists, over all subscriptions, what ended without success, or groups of it.
func (s *Server) listUndelivered(c *call) (answer, error) {
	q := feedmill.UndeliveredQuery{Since: c.timeParameter("since"), States: words(c, "state", undeliveredStates)}
	if text, given := c.query["subscriptionId"]; given {
		if q.Subscription = feedmill.ID(text); !feedmill.IsID(feedmill.PrefixSubscription, text) {
			c.fault(feedmill.Fault{Parameter: "subscriptionId", Detail: "subscriptionId must be the id of a subscription, such as sub_01arz3ndektsv4rrffq69g5fav."})
		}
	}
	until, reason := c.timeParameter("until"), c.query["error"]
	by, grouped := c.query["groupBy"]
	if _, paged := c.query["cursor"]; grouped && paged {
		c.fault(feedmill.Fault{Parameter: "cursor", Detail: "cursor cannot be used with groupBy. Set limit to list more groups."})
	}
	if grouped && !slices.Contains(groupings, by) {
		c.fault(feedmill.Fault{Parameter: "groupBy", Detail: "groupBy must be endpoint, error or endpoint,error."})
	}
	if grouped {
		return s.groupUndelivered(c, q, until, reason, by)
	}
	var last map[feedmill.ID]feedmill.Attempt
	fetch := func(p feedmill.Page) (found []feedmill.Delivery, err error) {
		q.Page = endingAt(p, until)
		if found, err = s.undelivered(c, q, reason); err == nil {
			last, err = s.Store.LastAttempts(c.ctx(), found)
		}
		return found, err
	}
	view := func(d feedmill.Delivery) deliveryView { return s.viewListed(d, last) }
	return listAnswer(c, feedmill.PrefixDelivery, fetch, func(d feedmill.Delivery) feedmill.ID { return d.ID }, view)
}

// undelivered are the deliveries of a page, with an error where one is given.
func (s *Server) undelivered(c *call, q feedmill.UndeliveredQuery, reason string) (found []feedmill.Delivery, err error) {
	if reason == "" {
		all := feedmill.DeliveryQuery{Page: q.Page, Subscription: q.Subscription, States: q.States, Since: q.Since}
		if len(all.States) == 0 {
			all.States = undeliveredStates
		}
		return s.Store.Deliveries(c.ctx(), c.who.Workspace, all)
	}
	limit := q.Limit
	q.Limit = undeliveredStep
	err = s.eachUndelivered(c, q, func(u feedmill.Undelivered) (more bool, err error) {
		if u.Error != reason {
			return true, nil
		}
		d, err := s.Store.Delivery(c.ctx(), c.who.Workspace, u.ID)
		switch {
		case errors.Is(err, feedmill.ErrNotFound), err == nil && d.State.Open(): // it was pruned or retried meanwhile
			return true, nil
		case err != nil:
			return false, err
		}
		found = append(found, d)
		return len(found) < limit, nil
	})
	return found, err
}

// eachUndelivered visits undelivered deliveries, newest first, in steps of the limit of the query,
// until visit reports that it needs no more.
func (s *Server) eachUndelivered(c *call, q feedmill.UndeliveredQuery, visit func(feedmill.Undelivered) (more bool, err error)) error {
	for {
		some, err := s.Store.Undelivered(c.ctx(), c.who.Workspace, q)
		if err != nil {
			return err
		}
		for _, u := range some {
			if more, err := visit(u); err != nil || !more {
				return err
			}
		}
		if len(some) < q.Limit {
			return nil
		}
		q.Before = some[len(some)-1].ID
	}
}

// groupKey is what the deliveries of a group have in common.
type groupKey struct {
	subscription feedmill.ID
	state        feedmill.DeliveryState
	reason       string
}

// groupUndelivered counts undelivered deliveries by endpoint and error.
func (s *Server) groupUndelivered(c *call, q feedmill.UndeliveredQuery, until time.Time, reason, by string) (answer, error) {
	limit := c.pageLimit()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	if err := c.takeList(); err != nil {
		return answer{}, err
	}
	endpoint, named := strings.Contains(by, "endpoint"), strings.Contains(by, "error")
	groups, counts := make(map[groupKey]*client.UndeliveredGroup), make(map[feedmill.DeliveryState]int64)
	seen, oldest := 0, feedmill.ID("")
	q.Page = endingAt(feedmill.Page{Limit: undeliveredStep}, until)
	err := s.eachUndelivered(c, q, func(u feedmill.Undelivered) (more bool, err error) {
		if seen++; seen > feedmill.MaxGroupedDeliveries {
			return false, nil
		}
		if oldest = u.ID; reason != "" && u.Error != reason {
			return true, nil
		}
		key := groupKey{state: u.State}
		if endpoint {
			key.subscription = u.Subscription
		}
		if named {
			key.reason = u.Error
		}
		g := groups[key]
		if g == nil {
			g = &client.UndeliveredGroup{State: u.State, SubscriptionID: string(key.subscription), Error: key.reason, NewestDeliveryID: string(u.ID), FirstAt: u.EndedAt, LastAt: u.EndedAt}
			groups[key] = g
		}
		g.Count++
		if u.EndedAt.Before(g.FirstAt) {
			g.FirstAt = u.EndedAt
		}
		if u.EndedAt.After(g.LastAt) {
			g.LastAt = u.EndedAt
		}
		counts[u.State]++
		return true, nil
	})
	if err != nil {
		return answer{}, err
	}
	a, err := s.groupsAnswer(c, groups, limit)
	if err != nil {
		return answer{}, err
	}
	a.set("X-Counts", counted(undeliveredStates, counts))
	if seen > feedmill.MaxGroupedDeliveries {
		a.set("X-Counted-Since", oldest.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return a, nil
}

// groupsAnswer is the response with the largest groups, each with its endpoint.
func (s *Server) groupsAnswer(c *call, groups map[groupKey]*client.UndeliveredGroup, limit int) (answer, error) {
	all := make([]*client.UndeliveredGroup, 0, len(groups))
	for _, g := range groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *client.UndeliveredGroup) int {
		return cmp.Or(b.Count-a.Count, b.LastAt.Compare(a.LastAt), strings.Compare(a.NewestDeliveryID, b.NewestDeliveryID))
	})
	endpoints, err := s.endpointsOf(c, all[:min(len(all), limit)])
	if err != nil {
		return answer{}, err
	}
	var list jsonList
	for _, g := range all[:min(len(all), limit)] {
		g.Subscription = endpoints[g.SubscriptionID]
		if !list.add(g) {
			break
		}
	}
	a := list.answer()
	a.set("X-Total-Count", strconv.Itoa(len(all)))
	return a, nil
}

// endpointsOf are the subscriptions of groups with their health. A deleted one is absent.
func (s *Server) endpointsOf(c *call, groups []*client.UndeliveredGroup) (map[string]*client.Subscription, error) {
	var found []feedmill.Subscription
	asked := make(map[string]bool)
	for _, g := range groups {
		if g.SubscriptionID == "" || asked[g.SubscriptionID] {
			continue
		}
		asked[g.SubscriptionID] = true
		sub, err := s.Store.Subscription(c.ctx(), c.who.Workspace, feedmill.ID(g.SubscriptionID))
		switch {
		case errors.Is(err, feedmill.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			found = append(found, sub)
		}
	}
	healths, err := s.healths(c, found, feedmill.MaxListedBacklog)
	if err != nil {
		return nil, err
	}
	endpoints := make(map[string]*client.Subscription, len(found))
	for _, sub := range found {
		v, err := s.readSubscription(c, sub, healths[sub.ID])
		if err != nil {
			return nil, err
		}
		endpoints[string(sub.ID)] = &v
	}
	return endpoints, nil
}
