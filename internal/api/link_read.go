package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// How often a link may be read: so many times a second, and so many at once.
// Parts of a file are read by the dozen, and cost little.
const (
	linksPerSecond, linksBurst = 2, 60
	partsPerSecond, partsBurst = 100, 2000
)

// linkPath is where links are read.
const linkPath = "/links/{token}"

// linkParameters are what a reader of a link may say. The columns and the conditions are
// the link's.
var linkParameters = []string{"format", "csv", "numbers", "limit", "cursor", "version"}

// errNoLink answers a link that is not valid, for any reason.
var errNoLink = &feedmill.Error{Kind: feedmill.ErrNotFound, Type: "no-link", Detail: "The link does not exist, was revoked, or has expired. Request a new link from its owner."}

// readLink answers the rows that a link reads. Nobody learns whether a link that is
// not good has ever been one.
func (s *Server) readLink(c *call) (answer, error) {
	a, err := s.readLinked(c)
	if err != nil {
		return answer{}, err
	}
	a.set("X-Robots-Tag", "noindex")
	return a, nil
}

func (s *Server) readLinked(c *call) (answer, error) {
	c.readQueryParameters()
	format, _ := c.namedFormat()
	c.checkStyles() // whether they go with the format depends on the link
	number := c.versionNumber("version")
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	l, err := s.Store.LinkByHash(c.ctx(), feedmill.HashKey(c.r.PathValue("token")))
	if errors.Is(err, feedmill.ErrNotFound) || err == nil && l.Expired(now()) {
		err = errNoLink
	}
	if err != nil {
		return answer{}, err
	}
	w, err := s.Store.WorkspaceByID(c.ctx(), l.Workspace)
	if errors.Is(err, feedmill.ErrNotFound) || err == nil && w.Deleting != nil {
		err = errNoLink
	}
	if err != nil {
		return answer{}, err
	}
	c.who = feedmill.Principal{Workspace: l.Workspace, Subject: string(l.ID), Name: l.Name, Quotas: w.Quotas}
	known(c.ctx())
	c.context = share.For(c.ctx(), string(l.Workspace))
	if err := c.takeQuery(&s.shares); err != nil {
		return answer{}, err
	}
	limits := s.linkLimits
	if (format.name == "parquet" || l.Format == "parquet") && c.wantsParts() {
		limits = s.partLimits
	}
	if err := limits.count(c.ctx(), string(l.ID), make(http.Header)); err != nil {
		return answer{}, err
	}
	f, err := s.Store.Feed(c.ctx(), l.Workspace, l.Feed)
	if err != nil {
		return answer{}, err
	}
	if err := c.bindLinked(l, f); err != nil {
		return answer{}, err
	}
	a, err := s.answerRows(c, func() (feedmill.Feed, feedmill.FeedVersion, error) {
		v, err := s.versionOf(c, f, number)
		return f, v, err
	})
	if err != nil || a.status >= http.StatusBadRequest || c.r.Method == http.MethodHead || c.inside {
		return a, err
	}
	return a, s.Store.CountLink(c.ctx(), l, now())
}

// bindLinked makes the request one for what the link reads.
func (c *call) bindLinked(l feedmill.Link, f feedmill.Feed) error {
	if c.query == nil {
		c.query, c.repeated = make(map[string]string), make(map[string][]string)
	}
	if given, ok := c.query["format"]; l.Format != "" {
		if ok && given != l.Format {
			c.fault(feedmill.Fault{Parameter: "format", Detail: "The link returns only " + l.Format + "."})
		}
		c.query["format"] = l.Format
	}
	var fields []string
	for _, column := range l.Fields {
		if name, hidden, there := column.In(f.Columns); there && !hidden {
			fields = append(fields, quoteItem(name))
		}
	}
	if len(l.Fields) > 0 && len(fields) == 0 {
		return &feedmill.Error{Kind: feedmill.ErrConflict, Type: "no-columns", Detail: "All columns of the link are hidden or no longer exist."}
	}
	if len(fields) > 0 {
		c.query["fields"] = strings.Join(fields, ",")
	}
	for _, filter := range l.Filters {
		c.repeated["filter"] = append(c.repeated["filter"], filterText(filter, f.Columns))
	}
	return nil
}
