package connect

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Granted is what the holder of a visit can choose, whose provider has said yes.
func (c *Connect) Granted(ctx context.Context, visit, view string) (o feedmill.SignInOffering, err error) {
	in, _, err := c.visited(ctx, visit, feedmill.SignInGranted)
	if err != nil {
		return o, err
	}
	ctx = share.For(ctx, string(in.Workspace))
	if o.SignInAsk, err = c.ask(ctx, in); err != nil {
		return o, err
	}
	var of feedmill.Connection
	if of, o.Settings, o.Config, err = c.Services.Asked(ctx, in.Workspace, in.Connection); err != nil {
		return o, err
	}
	o.ServiceName = of.ServiceName
	if o.Views, err = c.Services.Views(ctx, in.Workspace, of.ServiceName, false); err != nil {
		return o, err
	}
	for _, v := range o.Views {
		if o.View == "" || v.Name == view {
			o.View = v.Name
		}
	}
	o.Fields, err = c.Services.Fields(ctx, in.Workspace, of.ServiceName, o.View, false)
	return o, err
}

// Configure keeps the settings that only the person knows.
func (c *Connect) Configure(ctx context.Context, o feedmill.SignInOffering, settings map[string]string) error {
	known := map[string]string{}
	for _, s := range o.Settings {
		if text := strings.TrimSpace(settings[s.Name]); text != "" && len(text) <= 4096 && text != o.Config[s.Name] {
			known[s.Name] = text
		}
	}
	if len(known) == 0 {
		return nil
	}
	_, err := c.Services.Configure(ctx, o.Workspace, o.Connection, known)
	return err
}

// Preview fetches the first rows of a choice.
func (c *Connect) Preview(ctx context.Context, o feedmill.SignInOffering, choice feedmill.SignInChoice) (feedmill.FeedPreview, error) {
	ctx = share.For(ctx, string(o.Workspace))
	return c.Feeds.PreviewFetched(ctx, o.Workspace, feedmill.FetchedFeed{Type: feedmill.FeedQuery, Body: spec(o, choice)})
}

// Make makes the feed of a choice, which ends the sign-in, and says where the browser
// goes: empty for nowhere.
func (c *Connect) Make(ctx context.Context, o feedmill.SignInOffering, choice feedmill.SignInChoice) (feed feedmill.Feed, to string, err error) {
	ctx = share.For(ctx, string(o.Workspace))
	// It ends first, so that a form that is sent twice makes one feed.
	if _, err := c.move(ctx, o.SignIn, feedmill.SignInGranted, feedmill.SignInDone); err != nil {
		return feed, "", err
	}
	n := feedmill.FetchedFeed{Type: feedmill.FeedQuery, Body: spec(o, choice)}
	feed, err = c.Feeds.CreateFetched(ctx, o.Workspace, n, func(feedmill.Feed) (*feedmill.IdempotentResponse, error) { return nil, nil })
	if err != nil { // something else may be chosen
		if _, undone := c.move(context.WithoutCancel(ctx), o.SignIn, feedmill.SignInDone, feedmill.SignInGranted); undone != nil {
			err = errors.Join(err, undone)
		}
		return feed, "", err
	}
	if o.RedirectURI == "" {
		return feed, "", nil
	}
	u, err := url.Parse(o.RedirectURI)
	if err != nil {
		return feed, "", err
	}
	q := u.Query()
	q.Set("dataFeedId", string(feed.ID))
	u.RawQuery = q.Encode()
	return feed, u.String(), nil
}

// move takes a sign-in from one state to another. Nobody else may have.
func (c *Connect) move(ctx context.Context, in feedmill.SignIn, from, to feedmill.SignInState) (feedmill.SignIn, error) {
	return c.Store.ChangeSignIn(ctx, in.Link, func(in *feedmill.SignIn) error {
		if err := checkVisited(*in, from); err != nil {
			return err
		}
		in.State = to
		return nil
	})
}

// Cancel ends a sign-in without a feed: what was granted is given back.
func (c *Connect) Cancel(ctx context.Context, o feedmill.SignInOffering) error {
	if _, err := c.move(ctx, o.SignIn, feedmill.SignInGranted, feedmill.SignInDone); err != nil {
		return err
	}
	return c.Services.Delete(ctx, o.Workspace, o.Connection)
}

// spec is the definition of the feed of a choice.
func spec(o feedmill.SignInOffering, choice feedmill.SignInChoice) []byte {
	set := func(v *strictjson.Value, name string, text string) {
		if text != "" {
			v.Set(name, strictjson.String(text))
		}
	}
	list := strictjson.Value{Kind: '['}
	add := func(name string, selected bool) {
		field := strictjson.Value{Kind: '{'}
		field.Set("field", strictjson.String(name))
		if !selected {
			field.Set("select", strictjson.Value{Kind: 'f', Raw: []byte("false")})
		}
		if filters := filtersOf(choice, name); len(filters.Items) > 0 {
			field.Set("filters", filters)
		}
		list.Items = append(list.Items, field)
	}
	chosen := map[string]bool{}
	for _, name := range choice.Fields {
		chosen[name] = true
		add(name, true)
	}
	for _, f := range choice.Filters {
		if f.Field != "" && !chosen[f.Field] {
			chosen[f.Field] = true
			add(f.Field, false)
		}
	}
	query := strictjson.Value{Kind: '{'}
	query.Set("fields", list)
	def := strictjson.Value{Kind: '{'}
	set(&def, "name", strings.TrimSpace(choice.Name))
	set(&def, "serviceName", o.ServiceName)
	set(&def, "viewName", choice.View)
	def.Set("query", query)
	if choice.Every != "" {
		schedule := strictjson.Value{Kind: '{'}
		set(&schedule, "every", choice.Every)
		def.Set("schedule", schedule)
	}
	return def.Append(nil)
}

// filtersOf are the conditions of a choice on a field.
func filtersOf(choice feedmill.SignInChoice, field string) strictjson.Value {
	filters := strictjson.Value{Kind: '['}
	for _, f := range choice.Filters {
		if f.Field != field || f.Op == "" {
			continue
		}
		filter := strictjson.Value{Kind: '{'}
		filter.Set("op", strictjson.String(f.Op))
		values := strictjson.Value{Kind: '['}
		for value := range strings.SplitSeq(f.Value, ",") {
			if value = strings.TrimSpace(value); value != "" {
				values.Items = append(values.Items, strictjson.String(value))
			}
		}
		if len(values.Items) > 0 {
			filter.Set("values", values)
		}
		filters.Items = append(filters.Items, filter)
	}
	return filters
}
