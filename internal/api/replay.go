package api

import (
	"net/http"

	"github.com/feedmill/feedmill"
)

type replayView struct {
	ID           feedmill.ID              `json:"id"`
	Subscription feedmill.ID              `json:"subscriptionId"`
	Since        timestamp                `json:"since"`
	Until        timestamp                `json:"until"`
	States       []feedmill.DeliveryState `json:"states"`
	CreatedAt    timestamp                `json:"createdAt"`
}

// replaySubscription begins to deliver again what a subscription was sent, or
// should have been, in a time. The new deliveries are made after the answer.
func (s *Server) replaySubscription(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	at := now()
	r := feedmill.Replay{
		ID: feedmill.NewID(feedmill.PrefixReplay), Workspace: c.who.Workspace, Until: at, CreatedAt: at,
		States: []feedmill.DeliveryState{feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded},
	}
	sinceOK, untilOK := false, true
	if v, ok := body.Need("since"); ok {
		r.Since, sinceOK = readTime(v)
	}
	if v, ok := body.Get("until"); ok {
		r.Until, untilOK = readTime(v)
	}
	if sinceOK && untilOK && !r.Since.Before(r.Until) {
		body.Fault("since", "This must be before until, which is now by default.")
	}
	if v, ok := body.Get("state"); ok {
		state, _ := v.Choice(string(feedmill.DeliveryDelivered), string(feedmill.DeliveryExhausted), string(feedmill.DeliveryDiscarded))
		r.States = []feedmill.DeliveryState{feedmill.DeliveryState(state)}
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	sub, err := s.subscription(c)
	if err != nil {
		return answer{}, err
	}
	if err := refuseDisabled(sub); err != nil {
		return answer{}, err
	}
	r.Subscription = sub.ID
	a := jsonAnswer(http.StatusAccepted, resource{
		resourceMeta{subscriptionURL(sub.ID) + "/deliveries"},
		replayView{r.ID, r.Subscription, timestamp(r.Since), timestamp(r.Until), r.States, timestamp(r.CreatedAt)},
	})
	if err := s.Store.CreateReplay(c.ctx(), r, c.keep(a)); err != nil {
		return answer{}, err
	}
	s.Dispatcher.Wake()
	return a, nil
}
