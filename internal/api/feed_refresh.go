package api

import (
	"cmp"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// refreshView is one try to bring a feed new data.
type refreshView struct {
	ID      feedmill.ID            `json:"id"`
	State   feedmill.RefreshState  `json:"state"`
	Trigger *string                `json:"trigger"`
	Stage   *feedmill.RefreshStage `json:"stage"`
	// Progress is the share that is done, as far as one knows.
	Progress       *float64             `json:"progress"`
	StartedAt      timestamp            `json:"startedAt"`
	EndedAt        timestamp            `json:"endedAt"`
	Duration       *client.Milliseconds `json:"durationMs"`
	Requests       int64                `json:"requests"`
	Pages          int64                `json:"pages"`
	BytesIn        int64                `json:"bytesIn"`
	RowsIn         int64                `json:"rowsIn"`
	RowsStored     int64                `json:"rowsStored"`
	RowsRejected   int64                `json:"rowsRejected"`
	RowsSuperseded int64                `json:"rowsSuperseded"`
	RowsKnown      int64                `json:"rowsKnown"`
	Parts          *int64               `json:"parts"`
	PartsDone      *int64               `json:"partsDone"`
	Version        *int64               `json:"version"`
	Rows           *client.RowChanges   `json:"rows"`
	Outcome        *string              `json:"outcome"`
	Warnings       []warningView        `json:"warnings"`
	Error          *feedErrorView       `json:"error"`
}

// mostEstimated is the largest share that is told of a refresh of which nobody knows
// how long it is.
const mostEstimated = 0.99

func viewRefresh(r feedmill.Refresh) refreshView {
	v := refreshView{
		ID: r.ID, State: r.State, Trigger: orNull(r.Trigger), StartedAt: timestamp(r.StartedAt), EndedAt: timestamp(r.EndedAt),
		Requests: r.Requests, Pages: r.Pages, BytesIn: r.BytesIn, RowsIn: r.RowsIn, RowsStored: r.RowsStored, RowsRejected: r.RowsRejected,
		RowsSuperseded: r.RowsSuperseded, RowsKnown: r.RowsKnown,
		Rows: r.Changes.Rows, Warnings: viewWarnings(r.Warnings), Error: viewFeedError(r.Error),
	}
	if !r.EndedAt.IsZero() {
		v.Duration = new(inMilliseconds(max(r.EndedAt.Sub(r.StartedAt), time.Duration(0))))
	}
	switch r.State {
	case feedmill.RefreshPending:
		v.Stage = new(feedmill.StageWaiting)
	case feedmill.RefreshRunning:
		v.Stage = new(cmp.Or(r.Stage, feedmill.StageFetching))
	}
	if r.Parts > 0 {
		v.Parts, v.PartsDone = &r.Parts, &r.PartsDone
		if r.State == feedmill.RefreshRunning {
			v.Progress = new(float64(r.PartsDone) / float64(r.Parts))
		}
	}
	if r.Version > 0 {
		v.Version = &r.Version
	}
	if r.State == feedmill.RefreshSucceeded {
		v.Outcome = new("changed")
		if r.Unchanged {
			v.Outcome = new("unchanged")
		}
	}
	return v
}

// wholeRefreshView is a refresh with all that was asked for in it.
type wholeRefreshView struct {
	refreshView `json:",inline"`
	Trace       []tracedView `json:"trace"`
}

// tracedView is a request to a source and what came of it.
type tracedView struct {
	Method   string              `json:"method"`
	URL      string              `json:"url"`
	At       timestamp           `json:"at"`
	Status   *int                `json:"status"`
	Bytes    int64               `json:"bytes"`
	Duration client.Milliseconds `json:"durationMs"`
	Rows     int64               `json:"rows"`
	Page     *int                `json:"page"`
	Attempt  int                 `json:"attempt"`
	// WaitedMS and WaitedFor are of the time before the request.
	WaitedMS  client.Milliseconds `json:"waitedMs"`
	WaitedFor *string             `json:"waitedFor"`
	Error     *string             `json:"error"`
	// Request and Excerpt are of one that failed.
	Request *sourceRequestView `json:"request"`
	Excerpt *string            `json:"excerpt"`
}

func viewTrace(requests []feedmill.TracedRequest) []tracedView {
	views := make([]tracedView, len(requests))
	for i, r := range requests {
		views[i] = tracedView{
			Method: r.Method, URL: valid(r.URL), At: timestamp(r.At), Status: orNull(r.Status), Bytes: r.Bytes, Duration: client.Milliseconds(r.DurationMS),
			Rows: r.Rows, Page: orNull(r.Page), Attempt: r.Attempt, WaitedMS: client.Milliseconds(r.WaitedMS), WaitedFor: orNull(r.WaitedFor), Error: orNull(valid(r.Error)),
			Request: viewSourceRequest(r.Request), Excerpt: orNull(valid(r.Excerpt)),
		}
	}
	return views
}

// orNull is nil for the zero value, which then says nothing.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (s *Server) listRefreshes(c *call) (answer, error) {
	fetch := func(p feedmill.Page) ([]feedmill.Refresh, error) {
		f, err := s.feed(c)
		if err != nil {
			return nil, err
		}
		return s.Store.Refreshes(c.ctx(), c.who.Workspace, f.ID, p)
	}
	return listAnswer(c, feedmill.PrefixRefresh, fetch, func(r feedmill.Refresh) feedmill.ID { return r.ID }, viewRefresh)
}

// refresh finds the one that the path names.
func (s *Server) refresh(c *call) (feedmill.Refresh, error) {
	feed, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return feedmill.Refresh{}, err
	}
	id, err := feedmill.ParseID(feedmill.PrefixRefresh, c.r.PathValue("rid"))
	if err != nil {
		return feedmill.Refresh{}, err
	}
	return s.Store.Refresh(c.ctx(), c.who.Workspace, feed, id)
}

func refreshURL(r feedmill.Refresh) string { return feedURL(r.Feed) + "/refreshes/" + string(r.ID) }

func (s *Server) getRefresh(c *call) (answer, error) {
	r, err := s.refresh(c)
	if err != nil {
		return answer{}, err
	}
	if c.wantsEvents() {
		return s.watchRefresh(c, r)
	}
	trace, err := s.Store.RefreshTrace(c.ctx(), c.who.Workspace, r.Feed, r.ID)
	if err != nil {
		return answer{}, err
	}
	a := jsonAnswer(http.StatusOK, resource{resourceMeta{refreshURL(r)}, wholeRefreshView{viewRefresh(r), viewTrace(trace)}})
	a.set("Vary", "Accept")
	return a, nil
}
