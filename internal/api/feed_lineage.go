package api

import (
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// lineageView is what a feed is built from, and what is built from it.
type lineageView struct {
	Feeds     []lineageFeedView    `json:"feeds"`
	Reads     []client.LineageRead `json:"reads"`
	Truncated bool                 `json:"truncated"`
}

// lineageFeedView is a feed of a lineage. Of a deleted one only the id is known.
type lineageFeedView struct {
	ID        feedmill.ID        `json:"id"`
	Step      int                `json:"step"`
	Deleted   bool               `json:"deleted"`
	Name      string             `json:"name"`
	Type      feedmill.FeedType  `json:"type"`
	State     feedmill.FeedState `json:"state"`
	Stale     bool               `json:"stale"`
	Version   int64              `json:"version"`
	Schedule  *client.Schedule   `json:"schedule"`
	LastError *feedErrorView     `json:"lastError"`
	UpdatedAt timestamp          `json:"updatedAt"`
}

// readLineage answers what a feed is built from, and what is built from it.
func (s *Server) readLineage(c *call) (answer, error) {
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	l, err := s.Feeds.Lineage(c.ctx(), f)
	if err != nil {
		return answer{}, err
	}
	view := lineageView{Feeds: []lineageFeedView{}, Reads: []client.LineageRead{}, Truncated: l.Cut}
	for _, n := range l.Feeds {
		view.Feeds = append(view.Feeds, lineageFeedView{
			ID: n.ID, Step: n.Step, Deleted: n.Deleted, Name: n.Name, Type: n.Type, State: n.State, Stale: n.Stale, Version: n.Version,
			Schedule: viewSchedule(n.Schedule), LastError: viewFeedError(n.LastError), UpdatedAt: timestamp(n.UpdatedAt),
		})
	}
	for _, r := range l.Reads {
		view.Reads = append(view.Reads, client.LineageRead{Reader: string(r.Reader), Read: string(r.Read), Use: string(r.Use), Version: orNull(r.Version), Behind: r.Behind})
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{feedURL(f.ID) + "/lineage"}, view}), nil
}
