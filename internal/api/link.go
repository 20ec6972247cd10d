package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// LinkStore has the links to the data of feeds.
type LinkStore interface {
	CreateLink(ctx context.Context, l feedmill.Link, response *feedmill.IdempotentResponse) error
	LinkByID(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Link, error)
	Links(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Link, error)
	LinkByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Link, error)
	DeleteLink(ctx context.Context, workspace, feed, id feedmill.ID) error
	CountLink(ctx context.Context, l feedmill.Link, at time.Time) error
}

// maxLinkFilters is how many conditions a link may have.
const maxLinkFilters = 50

type linkView struct {
	ID         feedmill.ID `json:"id"`
	Name       string      `json:"name"`
	Format     *string     `json:"format"`
	Fields     []string    `json:"fields"`
	Filter     []string    `json:"filter"`
	CreatedAt  timestamp   `json:"createdAt"`
	ExpiresAt  timestamp   `json:"expiresAt"`
	LastUsedAt timestamp   `json:"lastUsedAt"`
	Uses       int64       `json:"uses"`
	// URL has the secret, in the answer to the link's creation and nowhere else.
	URL string `json:"url,omitzero"`
}

func viewLink(l feedmill.Link, columns []feedmill.Column) linkView {
	v := linkView{
		ID: l.ID, Name: l.Name, Format: orNull(l.Format), Fields: []string{}, Filter: []string{},
		CreatedAt: timestamp(l.CreatedAt), ExpiresAt: timestamp(l.ExpiresAt), LastUsedAt: timestamp(l.LastUsedAt), Uses: l.Uses,
	}
	for _, c := range l.Fields {
		name, _, _ := c.In(columns)
		v.Fields = append(v.Fields, name)
	}
	for _, f := range l.Filters {
		v.Filter = append(v.Filter, filterText(f, columns))
	}
	return v
}

// filterText is a condition of a link with the name that its column has now.
func filterText(f feedmill.LinkFilter, columns []feedmill.Column) string {
	name, _, _ := f.Column.In(columns)
	if name == f.Column.Name {
		return f.Text
	}
	text, inverted := strings.CutPrefix(f.Text, "!")
	_, rest, err := feedmill.ScanItem(text, ":")
	if err != nil {
		return f.Text
	}
	if inverted {
		return "!" + quoteItem(name) + rest
	}
	return quoteItem(name) + rest
}

// quoteItem is a name as parameters have it, in quotes.
func quoteItem(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// createLink makes a URL that reads a feed without a key.
func (s *Server) createLink(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	l := feedmill.Link{ID: feedmill.NewID(feedmill.PrefixLink), Workspace: c.who.Workspace, CreatedAt: now()}
	if f, ok := body.Given("name"); ok {
		l.Name = f.Name(feedmill.MaxNameLen)
	}
	if f, ok := body.Given("format"); ok {
		var names []string
		for _, o := range outputFormats {
			names = append(names, o.name)
		}
		l.Format, _ = f.Choice(names...)
	}
	q := readLinkQuery(body)
	l.ExpiresAt = readExpiry(body, l.CreatedAt)
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	l.Feed, l.Name = f.ID, cmp.Or(l.Name, f.Name)
	if err := s.bindLink(c, &l, f, q); err != nil {
		return answer{}, err
	}
	secret := feedmill.NewLinkSecret()
	l.Hash = feedmill.HashKey(secret)
	view := viewLink(l, f.Columns)
	view.URL = s.publicURL(c.r) + "/links/" + secret
	a := created(linkURL(l), view).withSecret()
	return a, s.Store.CreateLink(c.ctx(), l, c.keep(a))
}

func linkURL(l feedmill.Link) string { return feedURL(l.Feed) + "/links/" + string(l.ID) }

// publicURL is what URLs of the server begin with: as the operator has set it, or as the
// client has reached it.
func (s *Server) publicURL(r *http.Request) string {
	if s.PublicURL != "" {
		return strings.TrimSuffix(s.PublicURL, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// linkQuery is what a link reads: columns, and conditions with the texts that they were
// written as.
type linkQuery struct {
	feedmill.Query
	texts []string
}

// readLinkQuery reads fields and filter, each a list or one text.
func readLinkQuery(body *strictjson.Object) (q linkQuery) {
	for f, text := range listedTexts(body, "fields", feedmill.MaxQueryFields) {
		items := []feedmill.ListItem{{Text: text}}
		if f.Whole {
			var err error
			if items, err = feedmill.ParseList(text, ""); err != nil {
				f.Fault(sentence(err.Error()))
				continue
			}
		}
		for _, item := range items {
			q.Fields = append(q.Fields, feedmill.Field{Name: item.Text, Place: feedmill.Fault{Pointer: f.Pointer()}})
		}
	}
	for f, text := range listedTexts(body, "filter", maxLinkFilters) {
		condition, err := feedmill.ParseFilter(text)
		if err != nil {
			f.Fault(sentence(err.Error()))
			continue
		}
		condition.Place = feedmill.Fault{Pointer: f.Pointer()}
		q.Where, q.texts = append(q.Where, condition), append(q.texts, text)
	}
	return q
}

// listedText is a text of a list, or the one that stands in place of a list.
type listedText struct {
	strictjson.Field
	Whole bool
}

// listedTexts are the texts of a member that is a list of them or one of them.
func listedTexts(body *strictjson.Object, name string, most int) func(yield func(listedText, string) bool) {
	return func(yield func(listedText, string) bool) {
		f, ok := body.Given(name)
		if !ok {
			return
		}
		if f.Kind == '"' {
			text, _ := f.Text()
			yield(listedText{f, true}, text)
			return
		}
		if f.Kind != '[' || len(f.Items) > most {
			f.Fault(name + " must be an array of up to " + strconv.Itoa(most) + " strings.")
			return
		}
		for _, item := range f.Elements() {
			if text, ok := item.Text(); ok && !yield(listedText{item, false}, text) {
				return
			}
		}
	}
}

// bindLink gives a link the columns that its query names, once that is right.
func (s *Server) bindLink(c *call, l *feedmill.Link, f feedmill.Feed, q linkQuery) error {
	if len(q.Fields)+len(q.Where) == 0 {
		return nil
	}
	v, err := s.versionOf(c, f, 0)
	if err != nil {
		return err
	}
	for i := range q.Where {
		q.Where[i].Place.Pointer = cmp.Or(q.Where[i].Place.Pointer, "/filter")
	}
	q.Now = now()
	if err := s.Feeds.CheckQuery(c.ctx(), v, q.Query, "json", ""); err != nil {
		return inSentences(err)
	}
	column := func(name string) (feedmill.LinkColumn, bool) {
		at := slices.IndexFunc(v.Columns, func(c feedmill.Column) bool { return c.Name == name })
		return feedmill.LinkColumn{ID: v.Columns[at].ID, Name: name}, v.Columns[at].Hidden
	}
	for _, field := range q.Fields {
		named, hidden := column(field.Name)
		if hidden {
			c.fault(feedmill.Fault{Pointer: field.Place.Pointer, Detail: "The column is hidden. Links cannot read hidden columns."})
		}
		l.Fields = append(l.Fields, named)
	}
	for i, condition := range q.Where {
		named, _ := column(condition.Name)
		l.Filters = append(l.Filters, feedmill.LinkFilter{Column: named, Text: q.texts[i]})
	}
	return c.refusal()
}

// listLinks lists the links of a feed, without their secrets.
func (s *Server) listLinks(c *call) (answer, error) {
	var f feedmill.Feed
	fetch := func(p feedmill.Page) (all []feedmill.Link, err error) {
		if f, err = s.feed(c); err != nil {
			return nil, err
		}
		return s.Store.Links(c.ctx(), c.who.Workspace, f.ID, p)
	}
	return listAnswer(c, feedmill.PrefixLink, fetch, func(l feedmill.Link) feedmill.ID { return l.ID }, func(l feedmill.Link) linkView { return viewLink(l, f.Columns) })
}

// linkOf is the feed and the link that the path names.
func linkOf(c *call) (feed, link feedmill.ID, err error) {
	if feed, err = feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id")); err == nil {
		link, err = feedmill.ParseID(feedmill.PrefixLink, c.r.PathValue("lnk"))
	}
	return feed, link, err
}

// getLink returns a link without its secret.
func (s *Server) getLink(c *call) (answer, error) {
	_, id, err := linkOf(c)
	if err != nil {
		return answer{}, err
	}
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	l, err := s.Store.LinkByID(c.ctx(), c.who.Workspace, f.ID, id)
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{linkURL(l)}, viewLink(l, f.Columns)}), nil
}

// deleteLink revokes a link.
func (s *Server) deleteLink(c *call) (answer, error) {
	feed, id, err := linkOf(c)
	if err != nil {
		return answer{}, err
	}
	if err := s.Store.DeleteLink(c.ctx(), c.who.Workspace, feed, id); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}
