package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// retryWriters is how many deliveries of a request are retried concurrently, so that they share
// commits of the store.
const retryWriters = 8

// retryUndelivered gives new attempts to a selection of undelivered deliveries: to those that are
// listed, or to the newest ones of a group.
func (s *Server) retryUndelivered(c *call) (answer, error) {
	ids, group, err := s.readRetry(c)
	if err != nil {
		return answer{}, err
	}
	v := client.RetriedDeliveries{Refused: []client.RefusedRetry{}}
	if group != nil {
		sub, err := s.Store.Subscription(c.ctx(), c.who.Workspace, group.Subscription)
		if err != nil {
			return answer{}, err
		}
		if err := refuseDisabled(sub); err != nil {
			return answer{}, err
		}
		if ids, v.Next, err = s.idsOfGroup(c, *group); err != nil {
			return answer{}, err
		}
	}
	details, err := s.retryEach(c.ctx(), c.who.Workspace, ids)
	if err != nil {
		return answer{}, err
	}
	for i, detail := range details {
		if detail == "" {
			v.Retried++
		} else {
			v.Refused = append(v.Refused, client.RefusedRetry{DeliveryID: string(ids[i]), Detail: detail})
		}
	}
	return jsonAnswer(http.StatusAccepted, v), nil
}

// retryGroup is a group of undelivered deliveries.
type retryGroup struct {
	feedmill.UndeliveredQuery
	reason string
}

// readRetry reads which deliveries to retry: ids or a group.
func (s *Server) readRetry(c *call) (ids []feedmill.ID, group *retryGroup, err error) {
	body, err := c.readObject()
	if err != nil {
		return nil, nil, err
	}
	if len(body.Value.Members) == 0 {
		body.Fault("deliveryIds", "Send deliveryIds, or subscriptionId to retry a group.")
		return nil, nil, c.refusal()
	}
	if _, listed := body.Get("deliveryIds"); listed {
		for f, text := range body.Texts("deliveryIds", feedmill.MaxRetriedDeliveries) {
			if !feedmill.IsID(feedmill.PrefixDelivery, text) {
				f.Fault("The element must be the id of a delivery, such as dlv_01arz3ndektsv4rrffq69g5fav.")
			}
			ids = append(ids, feedmill.ID(text))
		}
		for _, name := range []string{"subscriptionId", "state", "error", "before"} {
			if f, ok := body.Get(name); ok {
				f.Fault(name + " selects a group and cannot be used with deliveryIds.")
			}
		}
		return ids, nil, c.finish(body)
	}
	group = &retryGroup{}
	group.Limit = undeliveredStep
	if f, ok := body.Need("subscriptionId"); ok {
		text, isText := f.Text()
		if group.Subscription = feedmill.ID(text); isText && !feedmill.IsID(feedmill.PrefixSubscription, text) {
			f.Fault("subscriptionId must be the id of a subscription. Send deliveryIds to retry single deliveries.")
		}
	}
	if f, ok := body.Get("state"); ok {
		word, _ := f.Choice(string(feedmill.DeliveryExhausted), string(feedmill.DeliveryDiscarded))
		group.States = []feedmill.DeliveryState{feedmill.DeliveryState(word)}
	}
	if f, ok := body.Get("error"); ok {
		group.reason, _ = f.Text()
	}
	if f, ok := body.Get("before"); ok {
		text, isText := f.Text()
		if group.Before = feedmill.ID(text); isText && !feedmill.IsID(feedmill.PrefixDelivery, text) {
			f.Fault("before must be the id of a delivery, such as next of the previous response.")
		}
	}
	return nil, group, c.finish(body)
}

// idsOfGroup are the newest deliveries of a group. next is the last of them if there are more.
func (s *Server) idsOfGroup(c *call, group retryGroup) (ids []feedmill.ID, next string, err error) {
	err = s.eachUndelivered(c, group.UndeliveredQuery, func(u feedmill.Undelivered) (more bool, err error) {
		if group.reason != "" && u.Error != group.reason {
			return true, nil
		}
		if len(ids) == feedmill.MaxRetriedDeliveries {
			next = string(ids[len(ids)-1])
			return false, nil
		}
		ids = append(ids, u.ID)
		return true, nil
	})
	return ids, next, err
}

// retryEach retries deliveries and returns for each why it was refused, empty if it was not.
func (s *Server) retryEach(ctx context.Context, workspace feedmill.ID, ids []feedmill.ID) (details []string, err error) {
	details = make([]string, len(ids))
	var (
		writers sync.WaitGroup
		mu      sync.Mutex
		next    int
		failed  error
	)
	for range min(retryWriters, len(ids)) {
		writers.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= len(ids) || failed != nil
				mu.Unlock()
				if stop {
					return
				}
				detail, err := s.retryOne(ctx, workspace, ids[i])
				mu.Lock()
				details[i], failed = detail, errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	return details, failed
}

// retryOne retries an undelivered delivery. detail is why it was refused.
func (s *Server) retryOne(ctx context.Context, workspace, id feedmill.ID) (detail string, err error) {
	d, err := s.Store.Delivery(ctx, workspace, id)
	switch {
	case errors.Is(err, feedmill.ErrNotFound):
		return "The delivery does not exist.", nil
	case err != nil:
		return "", err
	case d.State != feedmill.DeliveryExhausted && d.State != feedmill.DeliveryDiscarded:
		return fmt.Sprintf("The delivery is %s. Only exhausted and discarded deliveries can be selected.", s.stateNow(id, d.State)), nil
	}
	due, err := s.Store.RetryDelivery(ctx, workspace, id, s.RetrySchedule.Attempts(), now(), nil)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && errors.Is(err, feedmill.ErrConflict) {
		return refusal.Detail, nil
	}
	if err != nil {
		return "", err
	}
	// A user who retries has reason to think that the endpoint is back.
	s.Dispatcher.Changed(due.Subscription)
	s.Dispatcher.Offer([]feedmill.DueDelivery{due})
	return "", nil
}
