package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// feedTypes lists the types of feeds that can be created.
func feedTypes() string {
	var all []string
	for _, k := range feedmill.FeedKinds {
		all = append(all, string(k.Type)+" ("+k.Body+")")
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// feedType reads the type of feed that is wanted. One that cannot be made is
// refused with all that is wrong with the parameters: what the body must be
// depends on it.
func (s *Server) feedType(c *call) (feedmill.FeedType, error) {
	t := feedmill.FeedType(c.query["type"])
	if t.Kind().Type != "" {
		return t, nil
	}
	detail := "type must be one of "
	if t == "" {
		detail = "type is required: "
	}
	c.fault(feedmill.Fault{Parameter: "type", Detail: detail + feedTypes() + "."})
	s.readUploadParameters(c, new(feedmill.Upload))
	c.checkNameParameter()
	return t, c.refusal()
}

func (s *Server) createFeed(c *call) (answer, error) {
	var u feedmill.Upload
	if !feedmill.FeedType(c.query["type"]).HasSource() {
		u.Mode, u.Key = c.readMode(feedmill.Feed{Mode: feedmill.ModeReplace})
	}
	t, err := s.feedType(c)
	if err != nil {
		return answer{}, err
	}
	if t.HasSource() {
		return s.createFetched(c, t)
	}
	if _, given := c.query["sourceOf"]; given {
		c.fault(feedmill.Fault{Parameter: "sourceOf", Detail: "sourceOf applies only to " + sharedTypes() + "; an upload has no source to share."})
	}
	return s.readHeld(c, u, func(ctx context.Context, u feedmill.Upload) (answer, error) {
		f, err := s.Feeds.Create(ctx, c.who.Workspace, u, keepWith(c, createdFeed))
		if err != nil {
			return answer{}, err
		}
		s.letGo(c)
		return createdFeed(f), nil
	})
}

func createdFeed(f feedmill.Feed) answer { return created(feedURL(f.ID), viewFeed(f)) }

func foundFeed(f feedmill.Feed) answer { return feedAnswer(http.StatusOK, f) }

func (s *Server) replaceFeed(c *call) (answer, error) {
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	if f.Type.HasSource() {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "The feed fetches its data from a source. Only the data of an upload can be replaced."}
	}
	u := feedmill.Upload{Entry: rememberedEntry(f)}
	u.Mode, u.Key = c.readMode(f)
	u.Accept = c.boolParameter("accept")
	return s.readHeld(c, u, func(ctx context.Context, u feedmill.Upload) (answer, error) {
		f, err := s.Feeds.Replace(ctx, c.who.Workspace, f.ID, u, keepWith(c, foundFeed))
		if err != nil {
			return answer{}, err
		}
		s.letGo(c)
		return foundFeed(f), nil
	})
}

type previewView struct {
	Columns  []columnView   `json:"columns"`
	RowCount int64          `json:"rowCount"`
	Rows     jsontext.Value `json:"rows"`
	Warnings []warningView  `json:"warnings"`
	Source   jsontext.Value `json:"source"`
	Trace    []tracedView   `json:"trace"`
	// Handle is that of the data, for requests that follow; null where it is not held.
	Handle *client.PreviewHandle `json:"handle"`
	// Candidates are where the records may be; empty where nothing is to be chosen.
	Candidates []feedmill.RecordCandidate `json:"candidates"`
	Complete   bool                       `json:"complete"`
	Compare    *compareView               `json:"compare"`
}

// compareView is what is different in a preview from the current version of its feed.
type compareView struct {
	Version  int64             `json:"version"`
	Inserted *int64            `json:"inserted"`
	Updated  *int64            `json:"updated"`
	Deleted  *int64            `json:"deleted"`
	Columns  columnChangesView `json:"columns"`
}

type columnChangesView struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
}

func viewCompare(c *feedmill.FeedComparison) *compareView {
	if c == nil {
		return nil
	}
	list := func(names []string) []string { return slices.Concat([]string{}, names) }
	view := &compareView{Version: c.Version, Columns: columnChangesView{list(c.Columns.Added), list(c.Columns.Removed), list(c.Columns.Widened)}}
	if c.Rows != nil {
		view.Inserted, view.Updated, view.Deleted = &c.Rows.Inserted, &c.Rows.Updated, &c.Rows.Deleted
	}
	return view
}

func previewAnswer(p feedmill.FeedPreview, handle *client.PreviewHandle) answer {
	return jsonAnswer(http.StatusOK, resource{Data: previewView{
		Columns: viewColumns(p.Columns), RowCount: p.RowCount, Rows: p.Rows,
		Warnings: viewWarnings(p.Warnings), Source: viewSource(p.Spec, p.Found), Trace: viewTrace(p.Trace), Handle: handle,
		Candidates: slices.Concat([]feedmill.RecordCandidate{}, p.Found.Candidates), Complete: p.Complete, Compare: viewCompare(p.Compare),
	}})
}

func (s *Server) previewFeed(c *call) (answer, error) {
	t, err := s.feedType(c)
	if err != nil {
		return answer{}, err
	}
	if t.HasSource() {
		return s.previewFetched(c, t)
	}
	return s.previewUpload(c)
}
