package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
)

// uploadTypes are the types of feeds that can be made.
const uploadTypes = "dataUpload (the body is the data); queryBuilder and rest cannot be made yet"

// Spec is how the data is read, as the feed's record has it.
func (u Upload) Spec() []byte {
	types := "auto"
	if u.Text {
		types = "text"
	}
	text, err := json.Marshal(struct {
		Format  string `json:"format"`
		Types   string `json:"types"`
		Path    string `json:"path,omitzero"`
		Explode string `json:"explode,omitzero"`
	}{u.Format, types, u.Path, u.Explode})
	if err != nil {
		panic(err) // parameters are valid UTF-8
	}
	return text
}

// wantUploadType refuses a type of feed that cannot be made, with all that is
// wrong with the parameters: what the body must be depends on it.
func (c *call) wantUploadType() error {
	switch c.query["type"] {
	case string(feedmill.FeedUpload):
		return nil
	case "":
		c.fault(feedmill.Fault{Parameter: "type", Detail: "This parameter is required: " + uploadTypes + "."})
	case string(feedmill.FeedQuery), string(feedmill.FeedREST):
		c.fault(feedmill.Fault{Parameter: "type", Detail: "Feeds of this type cannot be made yet; there is dataUpload."})
	default:
		c.fault(feedmill.Fault{Parameter: "type", Detail: "There is no such type; there are " + uploadTypes + "."})
	}
	c.readUploadParameters(new(Upload))
	c.checkNameParameter()
	return c.refusal()
}

// wantReplace notes a mode that there is not.
func (c *call) wantReplace() {
	switch mode, given := c.query["mode"]; {
	case !given, mode == string(feedmill.ModeReplace):
	case mode == string(feedmill.ModeAppend), mode == string(feedmill.ModeMerge):
		c.fault(feedmill.Fault{Parameter: "mode", Detail: "Uploads cannot be appended or merged yet; there is replace."})
	default:
		c.fault(feedmill.Fault{Parameter: "mode", Detail: "This must be replace."})
	}
}

func (s *Server) createFeed(c *call) (answer, error) {
	c.wantReplace()
	if err := c.wantUploadType(); err != nil {
		return answer{}, err
	}
	return s.readUpload(c, func(ctx context.Context, u Upload) (answer, error) {
		render := func(f feedmill.Feed) answer { return created(feedURL(f.ID), viewFeed(f)) }
		f, err := s.Feeds.Create(ctx, c.who.Workspace, u, c.keepFeed(render))
		if err != nil {
			return answer{}, err
		}
		return render(f), nil
	})
}

// keepFeed keeps the answer that tells of a feed.
func (c *call) keepFeed(render func(feedmill.Feed) answer) KeepFeed {
	return func(f feedmill.Feed) (*feedmill.Once, error) {
		if c.once == nil {
			return nil, nil
		}
		_, once, err := c.keepInside(func() answer { return render(f) })
		return once, err
	}
}

func (s *Server) replaceFeed(c *call) (answer, error) {
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	if f.Type != feedmill.FeedUpload {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "This feed fetches its data itself; only the data of an upload can be replaced."}
	}
	c.wantReplace()
	return s.readUpload(c, func(ctx context.Context, u Upload) (answer, error) {
		render := func(f feedmill.Feed) answer { return feedAnswer(http.StatusOK, f) }
		f, err := s.Feeds.Replace(ctx, c.who.Workspace, f.ID, u, c.keepFeed(render))
		if err != nil {
			return answer{}, err
		}
		return render(f), nil
	})
}

type previewView struct {
	Columns  []feedmill.Column `json:"columns"`
	RowCount int64             `json:"rowCount"`
	Rows     jsontext.Value    `json:"rows"`
	Warnings []warningView     `json:"warnings"`
	Source   jsontext.Value    `json:"source"`
}

func (s *Server) previewFeed(c *call) (answer, error) {
	if err := c.wantUploadType(); err != nil {
		return answer{}, err
	}
	return s.readUpload(c, func(ctx context.Context, u Upload) (answer, error) {
		p, err := s.Feeds.Preview(ctx, u)
		if err != nil {
			return answer{}, err
		}
		return jsonAnswer(http.StatusOK, resource{resourceMeta{"/data_feeds/preview"}, previewView{
			Columns: slices.Concat([]feedmill.Column{}, p.Columns), RowCount: p.RowCount, Rows: p.Rows,
			Warnings: viewWarnings(p.Warnings), Source: u.Spec(),
		}}), nil
	})
}
