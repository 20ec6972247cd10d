package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/feedmill/feedmill"
)

// fetchingFeed finds the feed that the path names, which must be one that
// fetches its data.
func (s *Server) fetchingFeed(c *call) (feedmill.Feed, error) {
	f, err := s.feed(c)
	if err == nil && !f.Type.HasSource() {
		err = &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "nothing-to-fetch",
			Detail: "The feed is an upload, so it has no source to refresh from. Send new data with PUT " + feedURL(f.ID) + "/data.",
		}
	}
	return f, err
}

// refreshFeed has a feed fetch its data now.
func (s *Server) refreshFeed(c *call) (answer, error) {
	accept := c.boolParameter("accept")
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	f, err := s.fetchingFeed(c)
	if err != nil {
		return answer{}, err
	}
	render := func(r feedmill.Refresh) answer {
		a := jsonAnswer(http.StatusAccepted, resource{resourceMeta{refreshURL(r)}, viewRefresh(r)})
		a.set("Location", refreshURL(r))
		return a
	}
	r, err := s.Feeds.RefreshFeed(c.ctx(), c.who.Workspace, f.ID, accept, keepWith(c, render))
	if err != nil {
		return answer{}, inSentences(err)
	}
	return render(r), nil
}

func (s *Server) pauseFeed(c *call) (answer, error) { return s.changeFeedState(c, s.Feeds.Pause) }

func (s *Server) resumeFeed(c *call) (answer, error) { return s.changeFeedState(c, s.Feeds.Resume) }

// changeFeedState pauses a feed or lets it go on.
func (s *Server) changeFeedState(c *call, change func(ctx context.Context, workspace, feed feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error)) (answer, error) {
	f, err := s.fetchingFeed(c)
	if err != nil {
		return answer{}, err
	}
	if f, err = change(c.ctx(), c.who.Workspace, f.ID, keepWith(c, foundFeed)); err != nil {
		return answer{}, inSentences(err)
	}
	return foundFeed(f), nil
}

// cancelRefresh ends a refresh that waits or runs.
func (s *Server) cancelRefresh(c *call) (answer, error) {
	r, err := s.refresh(c)
	if err != nil {
		return answer{}, err
	}
	if !ended(r) {
		r, err = s.Feeds.CancelRefresh(c.ctx(), c.who.Workspace, r.Feed, r.ID)
	} else {
		err = feedmill.ErrConflict
	}
	if errors.Is(err, feedmill.ErrConflict) {
		err = &feedmill.Error{Kind: feedmill.ErrConflict, Type: "refresh-ended", Detail: "The refresh has already ended and cannot be canceled."}
	}
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{refreshURL(r)}, viewRefresh(r)}), nil
}

// ended reports whether nothing comes of a refresh any more.
func ended(r feedmill.Refresh) bool {
	return r.State == feedmill.RefreshSucceeded || r.State == feedmill.RefreshFailed
}
