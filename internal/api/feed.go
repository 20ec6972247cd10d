package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// Feeds makes tables of data and reads them.
type Feeds interface {
	// Create makes a feed of an upload, whole or not at all. What keep answers
	// is written with it.
	Create(ctx context.Context, workspace feedmill.ID, u Upload, keep KeepFeed) (feedmill.Feed, error)
	// Replace gives a feed a new version. Of several at the same time one
	// wins; the others are [feedmill.ErrConflict].
	Replace(ctx context.Context, workspace, feed feedmill.ID, u Upload, keep KeepFeed) (feedmill.Feed, error)
	// Change changes what people call a feed.
	Change(ctx context.Context, workspace, feed feedmill.ID, change func(*feedmill.Feed)) (feedmill.Feed, error)
	// Delete deletes a feed. Whoever reads it can finish.
	Delete(ctx context.Context, workspace, feed feedmill.ID) error
	// Preview says what would become of an upload and keeps nothing.
	Preview(context.Context, Upload) (FeedPreview, error)

	// CheckQuery says what is wrong with a query of a version.
	CheckQuery(v feedmill.FeedVersion, q feedmill.Query, format, cursor string) error
	// Rows begins to read a version. Whatever is wrong with the query or
	// keeps it from running is said before there are rows.
	Rows(ctx context.Context, v feedmill.FeedVersion, q feedmill.Query, format, cursor string) (FeedRows, error)
	// Rejects opens the rows that a refresh did not store, an object a line.
	Rejects(context.Context, feedmill.Refresh) (io.ReadCloser, error)
}

// KeepFeed makes what is kept of the answer to a request. It is called inside a
// transaction.
type KeepFeed = func(feedmill.Feed) (*feedmill.Once, error)

// FeedRows are rows in the format that was asked for. They must be closed.
type FeedRows struct {
	io.ReadCloser
	// Next is the cursor of the next page, empty where there is none.
	Next string
}

// FeedPreview is what would become of an upload.
type FeedPreview struct {
	Columns  []feedmill.Column
	RowCount int64
	Warnings []feedmill.Warning
	// Rows are the first of them, a JSON array of objects.
	Rows []byte
}

type feedView struct {
	ID            feedmill.ID        `json:"id"`
	Name          string             `json:"name"`
	Description   string             `json:"description"`
	Type          feedmill.FeedType  `json:"type"`
	State         feedmill.FeedState `json:"state"`
	Columns       []feedmill.Column  `json:"columns"`
	RowCount      int64              `json:"rowCount"`
	ByteSize      int64              `json:"byteSize"`
	Version       int64              `json:"version"`
	ContentHash   string             `json:"contentHash"`
	Mode          feedmill.FeedMode  `json:"mode"`
	Key           []string           `json:"key"`
	Schedule      *struct{}          `json:"schedule"`
	NextRefreshAt timestamp          `json:"nextRefreshAt"`
	LastRefresh   *refreshView       `json:"lastRefresh"`
	LastError     *feedErrorView     `json:"lastError"`
	Warnings      []warningView      `json:"warnings"`
	Source        jsontext.Value     `json:"source"`
	CreatedAt     timestamp          `json:"createdAt"`
	UpdatedAt     timestamp          `json:"updatedAt"`
}

type feedErrorView struct {
	Type   string    `json:"type"`
	Title  string    `json:"title"`
	Detail string    `json:"detail"`
	At     timestamp `json:"at"`
}

func viewFeed(f feedmill.Feed) feedView {
	v := feedView{
		ID: f.ID, Name: f.Name, Description: f.Description, Type: f.Type, State: f.State,
		Columns: slices.Concat([]feedmill.Column{}, f.Columns), RowCount: f.RowCount, ByteSize: f.ByteSize, Version: f.Version, ContentHash: f.ContentHash,
		Mode: f.Mode, Key: slices.Concat([]string{}, f.Key), NextRefreshAt: timestamp(f.NextRefreshAt),
		LastError: viewFeedError(f.LastError), Warnings: viewWarnings(f.Warnings), Source: f.Spec,
		CreatedAt: timestamp(f.CreatedAt), UpdatedAt: timestamp(f.UpdatedAt),
	}
	if f.LastRefresh != nil {
		r := viewRefresh(*f.LastRefresh)
		v.LastRefresh = &r
	}
	return v
}

func viewFeedError(e *feedmill.FeedError) *feedErrorView {
	if e == nil {
		return nil
	}
	return &feedErrorView{e.Type, e.Title, sentence(e.Detail), timestamp(e.At)}
}

// warningView is something about the data that its owner should know of.
type warningView struct {
	Code     string `json:"code"`
	Column   string `json:"column,omitzero"`
	Count    int64  `json:"count"`
	FirstRow int64  `json:"firstRow,omitzero"`
	Detail   string `json:"detail"`
}

func viewWarnings(warnings []feedmill.Warning) []warningView {
	views := make([]warningView, len(warnings))
	for i, w := range warnings {
		views[i] = warningView{w.Code, w.Column, w.Count, w.FirstRow, sentence(w.Detail)}
	}
	return views
}

func feedURL(id feedmill.ID) string { return "/data_feeds/" + string(id) }

func feedAnswer(status int, f feedmill.Feed) answer {
	return jsonAnswer(status, resource{resourceMeta{feedURL(f.ID)}, viewFeed(f)})
}

// feed finds the one that the path names.
func (s *Server) feed(c *call) (feedmill.Feed, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return feedmill.Feed{}, err
	}
	return s.Store.Feed(c.ctx(), c.who.Workspace, id)
}

func (s *Server) listFeeds(c *call) (answer, error) {
	p, err := c.page(feedmill.PrefixDataFeed)
	if err != nil {
		return answer{}, err
	}
	fetch := func(p feedmill.Page) ([]feedmill.Feed, error) { return s.Store.Feeds(c.ctx(), c.who.Workspace, p) }
	return listAnswer(c, p, fetch, func(f feedmill.Feed) feedmill.ID { return f.ID }, viewFeed)
}

func (s *Server) getFeed(c *call) (answer, error) {
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	return feedAnswer(http.StatusOK, f), nil
}

// maxDescription is how many characters the description of a feed may have.
const maxDescription = 2000

func (s *Server) changeFeed(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	var name, description *string
	if v, ok := body.get("name"); ok {
		name = new(body.checkName("name", v))
	}
	if v, ok := body.get("description"); ok {
		description = body.description(v)
	}
	if err := body.done(); err != nil {
		return answer{}, err
	}
	f, err := s.Feeds.Change(c.ctx(), c.who.Workspace, id, func(f *feedmill.Feed) {
		if name != nil {
			f.Name = *name
		}
		if description != nil {
			f.Description = *description
		}
	})
	if err != nil {
		return answer{}, err
	}
	return feedAnswer(http.StatusOK, f), nil
}

// description reads a text of several lines; null is none.
func (o *object) description(v value) *string {
	if v.kind == 'n' {
		return new("")
	}
	text, ok := o.text("description", v)
	if !ok {
		return nil
	}
	switch n := len([]rune(text)); {
	case n > maxDescription:
		o.fault("description", fmt.Sprintf("This may have at most %d characters; it has %d.", maxDescription, n))
	case slices.Contains([]byte(text), 0):
		o.fault("description", "This must not hold the character U+0000.")
	}
	return &text
}

func (s *Server) deleteFeed(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if err := s.Feeds.Delete(c.ctx(), c.who.Workspace, id); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}
