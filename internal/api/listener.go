package api

import (
	"cmp"
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func listenerURL(id feedmill.ID) string { return "/events/listeners/" + string(id) }

// listener finds the one that the path names, if it has not come to its end.
func (s *Server) listener(c *call) (feedmill.Subscription, error) {
	id, err := feedmill.ParseID(feedmill.PrefixSubscription, c.r.PathValue("id"))
	if err != nil {
		return feedmill.Subscription{}, err
	}
	sub, err := s.Store.Listener(c.ctx(), c.who.Workspace, id)
	if err == nil && !sub.ListenUntil.After(now()) {
		return feedmill.Subscription{}, feedmill.ErrNotFound // it is about to be removed
	}
	return sub, err
}

func (s *Server) createListener(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	listener, err := s.Subscriptions.Listen(c.ctx(), c.who.Workspace, body, &c.faults, keepWith(c, createdListener))
	if err != nil {
		return answer{}, err
	}
	return createdListener(listener), nil
}

func createdListener(l feedmill.IssuedSubscription) answer {
	view := viewListener(l.Subscription)
	view.SigningSecret = l.SigningSecret
	return created(listenerURL(l.ID), view).withSecret()
}

func viewListener(l feedmill.Subscription) client.Listener {
	view := client.Listener{ID: string(l.ID), Events: publicNames(l.Events), CreatedAt: l.CreatedAt, ExpiresAt: l.ListenUntil}
	if l.ResourceID != "" {
		view.Filters.ResourceID = feedmill.PublicFilter(l.ResourceID)
	}
	return view
}

// getListener returns a listener without its secret.
func (s *Server) getListener(c *call) (answer, error) {
	l, err := s.listener(c)
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{listenerURL(l.ID)}, viewListener(l)}), nil
}

// testListener sends an event over the connection of a listener. It is not published.
func (s *Server) testListener(c *call) (answer, error) {
	e, err := s.readTest(c)
	if err != nil {
		return answer{}, err
	}
	l, err := s.listener(c)
	if err != nil {
		return answer{}, err
	}
	e.ResourceID = cmp.Or(feedmill.PublicFilter(l.ResourceID), string(l.ID))
	sent, err := s.Listeners.Test(l, e)
	if err != nil {
		return answer{}, explainData(err, "/data")
	}
	if !sent {
		return answer{}, &feedmill.Error{
			Kind: feedmill.ErrConflict, Transient: true,
			Detail: "The listener is not connected to this server process, or it has many test events to receive. Connect it and retry. With several replicas, send the request to the replica that it is connected to.",
		}
	}
	return answer{status: http.StatusNoContent}, nil
}

func (s *Server) deleteListener(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixSubscription, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if err := s.Store.DeleteListener(c.ctx(), c.who.Workspace, id, now()); err != nil {
		return answer{}, err
	}
	s.Dispatcher.Changed(id)
	s.Listeners.Removed(id)
	return answer{status: http.StatusNoContent}, nil
}
