package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// createFetched makes a feed that fetches its data. Where the client prefers to
// wait, the answer comes after the first refresh.
func (s *Server) createFetched(c *call, t feedmill.FeedType) (answer, error) {
	n, err := s.readFetched(c, t)
	if err != nil {
		return answer{}, err
	}
	f, err := s.Feeds.CreateFetched(c.ctx(), c.who.Workspace, n, keepWith(c, createdFeed))
	if err != nil {
		return answer{}, inSentences(err)
	}
	return s.awaitFeed(c, f, createdFeed), nil
}

func (s *Server) previewFetched(c *call, t feedmill.FeedType) (answer, error) {
	n, err := s.readFetched(c, t)
	if err != nil {
		return answer{}, err
	}
	if text, given := c.query["compare"]; given {
		if n.Compare, err = feedmill.ParseID(feedmill.PrefixDataFeed, text); err != nil {
			return answer{}, err
		}
	}
	p, err := s.Feeds.PreviewFetched(c.ctx(), c.who.Workspace, n)
	if err != nil {
		return answer{}, inSentences(err)
	}
	return previewAnswer(p, nil), nil
}

// readFetched reads a feed that is to fetch its data. What the object in the
// body says is not looked at here, only that it is one.
func (s *Server) readFetched(c *call, t feedmill.FeedType) (feedmill.FetchedFeed, error) {
	c.accepts = definitionTypes
	for _, name := range slices.Concat([]string{"name", "preview"}, modeParameters, s.uploads.parameters) {
		if _, given := c.query[name]; given {
			c.fault(feedmill.Fault{Parameter: name, Detail: name + " applies only to uploads. Define a feed that fetches its data in the body."})
		}
	}
	sourceOf, err := s.sourceOf(c, t)
	if err != nil {
		return feedmill.FetchedFeed{}, err
	}
	// The operation takes large bodies, which are data; this is none.
	c.r.Body = http.MaxBytesReader(nil, c.r.Body, smallBody)
	v, err := c.readDefinition()
	if err != nil {
		return feedmill.FetchedFeed{}, err
	}
	if v.Kind != '{' {
		return feedmill.FetchedFeed{}, c.malformed("", "The body must be an object.")
	}
	if err := c.refusal(); err != nil {
		return feedmill.FetchedFeed{}, err
	}
	n := feedmill.FetchedFeed{Type: t, SourceOf: sourceOf}
	readPolicy(strictjson.NewObject(&v, "", c.faults.Note), &n.Policy)
	for _, name := range policyMembers {
		v.Remove(name)
	}
	n.Body, n.Refused = v.Append(nil), c.refusal()
	return n, nil
}

// sourceOf reads the feed whose source is to have another feed of a type, and
// notes one that has none to share.
func (s *Server) sourceOf(c *call, t feedmill.FeedType) (feedmill.ID, error) {
	text, given := c.query["sourceOf"]
	if !given {
		return "", nil
	}
	if !t.Kind().Shared {
		c.fault(feedmill.Fault{Parameter: "sourceOf", Detail: "sourceOf applies only to " + sharedTypes() + "; feeds of type=" + string(t) + " cannot share a source."})
		return "", nil
	}
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, text)
	if err != nil {
		c.fault(feedmill.Fault{Parameter: "sourceOf", Detail: "sourceOf must be the ID of a feed, such as df_…."})
		return "", nil
	}
	f, err := s.Store.Feed(c.ctx(), c.who.Workspace, id)
	switch {
	case errors.Is(err, feedmill.ErrNotFound):
		c.fault(feedmill.Fault{Parameter: "sourceOf", Detail: "The feed does not exist in this workspace."})
	case err != nil:
		return "", err
	case f.Type != t:
		c.fault(feedmill.Fault{Parameter: "sourceOf", Detail: "sourceOf must be a feed of type=" + string(t) + "."})
	}
	return id, nil
}

// sharedTypes lists the types of feeds that can share a source, as parameters.
func sharedTypes() string {
	var all []string
	for _, k := range feedmill.FeedKinds {
		if k.Shared {
			all = append(all, "type="+string(k.Type))
		}
	}
	return strings.Join(all, " and ")
}
