package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// versionView is a version of a feed.
type versionView struct {
	Version   int64              `json:"version"`
	CreatedAt timestamp          `json:"createdAt"`
	RowCount  int64              `json:"rowCount"`
	ByteSize  int64              `json:"byteSize"`
	Rows      *client.RowChanges `json:"rows"`
	RefreshID *string            `json:"refreshId"`
	Pinned    bool               `json:"pinned"`
	// Parents and Upstream are empty if the version was not built from other feeds.
	Parents  []client.ParentVersion   `json:"parents"`
	Upstream []client.UpstreamVersion `json:"upstream"`
}

func (s *Server) viewVersion(t feedmill.FeedType, v feedmill.FeedVersion) versionView {
	view := versionView{
		Version: v.Number, CreatedAt: timestamp(v.CreatedAt), RowCount: v.Rows, ByteSize: v.Bytes,
		Rows: v.Changes.Rows, RefreshID: orNull(string(v.Refresh)), Pinned: v.Pinned, Parents: []client.ParentVersion{}, Upstream: []client.UpstreamVersion{},
	}
	for _, u := range s.Feeds.Upstream(t, v) {
		view.Parents = append(view.Parents, client.ParentVersion{FeedID: string(u.ID), Version: u.Version})
		view.Upstream = append(view.Upstream, client.UpstreamVersion{ID: string(u.ID), Version: u.Version})
	}
	return view
}

func (s *Server) versionAnswer(t feedmill.FeedType, v feedmill.FeedVersion) answer {
	return jsonAnswer(http.StatusOK, resource{resourceMeta{fmt.Sprintf("%s/versions/%d", feedURL(v.Feed), v.Number)}, s.viewVersion(t, v)})
}

// listVersions answers the versions of a feed that are kept, newest first.
func (s *Server) listVersions(c *call) (answer, error) {
	limit := c.pageLimit()
	before := int64(0)
	if text, given := c.query["cursor"]; given {
		number, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err == nil {
			before, err = strconv.ParseInt(string(number), 10, 64)
		}
		if err != nil || before < 1 {
			c.fault(feedmill.Fault{Parameter: "cursor", Detail: noCursorOfList})
		}
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	var list jsonList
	for at := now(); ; {
		step := min(limit-list.n+1, versionStep)
		versions, err := s.Store.FeedVersions(c.ctx(), c.who.Workspace, f.ID, at, before, step)
		if err != nil {
			return answer{}, err
		}
		for _, v := range versions {
			if list.n == limit || !list.add(s.viewVersion(f.Type, v)) {
				a := list.answer()
				c.linkNext(&a, feedmill.ID(strconv.FormatInt(before, 10)))
				return a, nil
			}
			before = v.Number
		}
		if len(versions) < step {
			return list.answer(), nil
		}
	}
}

// versionStep is how many versions are read from the store at a time: each has all columns.
const versionStep = 16

// pathVersion reads the feed and the number of a version that the path names.
func (c *call) pathVersion() (feedmill.ID, int64, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseInt(c.r.PathValue("version"), 10, 64)
	if err != nil || number < 1 {
		return "", 0, noVersion()
	}
	return id, number, nil
}

func noVersion() error {
	return &feedmill.Error{Kind: feedmill.ErrNotFound, Type: "no-version", Detail: "The feed has no such version, or the version is no longer stored."}
}

func (s *Server) getVersion(c *call) (answer, error) {
	_, number, err := c.pathVersion()
	if err != nil {
		return answer{}, err
	}
	f, v, err := s.feedVersion(c, number)
	if err != nil {
		return answer{}, err
	}
	return s.versionAnswer(f.Type, v), nil
}

// changeVersion pins a version, or lets it go.
func (s *Server) changeVersion(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	pinned := false
	if field, ok := body.Need("pinned"); ok {
		pinned, _ = field.Boolean()
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	id, number, err := c.pathVersion()
	if err != nil {
		return answer{}, err
	}
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	v, err := s.Store.PinVersion(c.ctx(), c.who.Workspace, id, number, pinned, now())
	if errors.Is(err, feedmill.ErrNotFound) {
		err = noVersion()
	}
	if err != nil {
		return answer{}, err
	}
	return s.versionAnswer(f.Type, v), nil
}

// restoreVersion gives a feed a new version with the rows of an older one.
func (s *Server) restoreVersion(c *call) (answer, error) {
	id, number, err := c.pathVersion()
	if err != nil {
		return answer{}, err
	}
	f, err := s.Feeds.Restore(c.ctx(), c.who.Workspace, id, number, keepWith(c, foundFeed))
	if err != nil {
		return answer{}, inSentences(err)
	}
	return foundFeed(f), nil
}

// keepView is which versions of a feed are kept.
type keepView struct {
	Versions int `json:"versions"`
	Days     int `json:"days"`
}

func viewKeep(k feedmill.Keep) keepView {
	k = k.Rule()
	return keepView{k.Versions, k.Days}
}

// readKeep reads which versions of a feed are kept; null is the usual rule.
func readKeep(f strictjson.Field) (k feedmill.Keep) {
	if f.Kind == 'n' {
		return k
	}
	o, ok := f.Object()
	if !ok {
		return k
	}
	if f, ok := o.Get("versions"); ok {
		k.Versions, _ = f.Integer(1, feedmill.MaxKeepVersions)
	}
	if f, ok := o.Get("days"); ok {
		k.Days, _ = f.Integer(0, feedmill.MaxKeepDays)
	}
	o.RefuseUnknown()
	if k.Versions == 0 && (o.Has("days") || o.Has("versions")) {
		k.Versions = 1
	}
	return k
}
