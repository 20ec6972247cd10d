package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// ReplayStore has the replays.
type ReplayStore interface {
	CreateReplay(context.Context, feedmill.Replay, *feedmill.IdempotentResponse) error
	CountReplay(ctx context.Context, r feedmill.Replay, limit int) (feedmill.Replay, error)
	Replay(ctx context.Context, workspace, subscription, id feedmill.ID) (feedmill.Replay, error)
	CancelReplay(ctx context.Context, workspace, subscription, id feedmill.ID, at time.Time) error
}

func viewReplay(r feedmill.Replay) client.Replay {
	v := client.Replay{
		ID: string(r.ID), SubscriptionID: string(r.Subscription), Since: r.Since, Until: r.Until, Selection: r.Selection, States: r.Selection.States(),
		Rate: r.Rate, DryRun: r.DryRun, State: r.State, Made: r.Made, Reason: r.Reason, CreatedAt: r.CreatedAt, EndedAt: r.EndedAt,
	}
	if r.State != feedmill.ReplayCounting {
		v.Total = &r.Total
	}
	return v
}

func replayURL(r feedmill.Replay) string {
	return subscriptionURL(r.Subscription) + "/replays/" + string(r.ID)
}

func replayAnswer(status int, r feedmill.Replay) answer {
	return jsonAnswer(status, resource{resourceMeta{replayURL(r)}, viewReplay(r)})
}

// replaySubscription begins to deliver again what a subscription was sent, or
// should have been, in a time. The new deliveries are made after the answer.
func (s *Server) replaySubscription(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	at := now()
	r := feedmill.Replay{Workspace: c.who.Workspace, Until: at, CreatedAt: at, Selection: feedmill.ReplayUndelivered}
	sinceOK, untilOK := false, true
	if v, ok := body.Need("since"); ok {
		r.Since, sinceOK = readTime(v)
	}
	if v, ok := body.Get("until"); ok {
		r.Until, untilOK = readTime(v)
	}
	if sinceOK && untilOK && !r.Since.Before(r.Until) {
		body.Fault("since", "since must be before until, which defaults to now.")
	}
	if v, ok := body.Get("state"); ok {
		words := make([]string, len(feedmill.ReplaySelections))
		for i, selection := range feedmill.ReplaySelections {
			words[i] = string(selection)
		}
		word, _ := v.Choice(words...)
		r.Selection = feedmill.ReplaySelection(word)
	}
	if v, ok := body.Get("rate"); ok {
		r.Rate, _ = v.Integer(1, feedmill.MaxReplayRate)
	}
	if v, ok := body.Get("dryRun"); ok {
		r.DryRun, _ = v.Boolean()
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
	if r, err = s.countAtOnce(c, feedmill.NewReplay(r)); err != nil {
		return answer{}, err
	}
	a := replayAnswer(http.StatusAccepted, r)
	a.set("Location", replayURL(r))
	if err := s.Store.CreateReplay(c.ctx(), r, c.keep(a)); err != nil {
		return answer{}, err
	}
	s.Dispatcher.Wake()
	return a, nil
}

// What a replay selects is counted before the answer where that takes no longer
// than countTime, in parts of countStep; else after it.
const (
	countTime = time.Second
	countStep = 5000
)

func (s *Server) countAtOnce(c *call, r feedmill.Replay) (feedmill.Replay, error) {
	for end := time.Now().Add(countTime); r.State == feedmill.ReplayCounting && time.Now().Before(end); {
		counted, err := s.Store.CountReplay(c.ctx(), r, countStep)
		if err != nil {
			return r, err
		}
		r = counted
	}
	return r, nil
}

// replay finds the one that the path names.
func (s *Server) replay(c *call) (feedmill.Replay, error) {
	subscription, err := c.subscriptionID()
	if err != nil {
		return feedmill.Replay{}, err
	}
	id, err := feedmill.ParseID(feedmill.PrefixReplay, c.r.PathValue("rid"))
	if err != nil {
		return feedmill.Replay{}, err
	}
	return s.Store.Replay(c.ctx(), c.who.Workspace, subscription, id)
}

func (s *Server) getReplay(c *call) (answer, error) {
	r, err := s.replay(c)
	if err != nil {
		return answer{}, err
	}
	return replayAnswer(http.StatusOK, r), nil
}

// cancelReplay ends a replay. The deliveries that it has made stay.
func (s *Server) cancelReplay(c *call) (answer, error) {
	r, err := s.replay(c)
	if err != nil {
		return answer{}, err
	}
	err = s.Store.CancelReplay(c.ctx(), c.who.Workspace, r.Subscription, r.ID, now())
	if errors.Is(err, feedmill.ErrConflict) {
		err = &feedmill.Error{Kind: feedmill.ErrConflict, Type: "replay-ended", Detail: "The replay has already ended and cannot be canceled."}
	}
	if err != nil {
		return answer{}, err
	}
	if r, err = s.replay(c); err != nil {
		return answer{}, err
	}
	return replayAnswer(http.StatusOK, r), nil
}
