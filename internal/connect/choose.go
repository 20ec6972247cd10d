package connect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
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
	if of, o.Settings, o.Config, err = c.services.Asked(ctx, in.Workspace, in.Connection); err != nil {
		return o, err
	}
	o.ServiceName = of.ServiceName
	if o.Views, err = c.services.Views(ctx, in.Workspace, of.ServiceName, false); err != nil {
		return o, err
	}
	for _, v := range o.Views {
		if o.View == "" || v.Name == view {
			o.View = v.Name
		}
	}
	o.Fields, err = c.services.Fields(ctx, in.Workspace, of.ServiceName, o.View, false)
	return o, err
}

// maxSetting is the maximum length of a setting in bytes.
const maxSetting = 4096

// Configure stores the settings that only the user knows.
func (c *Connect) Configure(ctx context.Context, o feedmill.SignInOffering, settings map[string]string) error {
	known := map[string]string{}
	for _, s := range o.Settings {
		text := strings.TrimSpace(settings[s.Name])
		if len(text) > maxSetting {
			return feedmill.Invalid("", feedmill.Fault{Pointer: "/config/" + s.Name, Detail: fmt.Sprintf("%s must have at most %d bytes; got %d.", s.Name, maxSetting, len(text))})
		}
		if text != "" && text != o.Config[s.Name] {
			known[s.Name] = text
		}
	}
	if len(known) == 0 {
		return nil
	}
	_, err := c.services.Configure(ctx, o.Workspace, o.Connection, known)
	return err
}

// Preview fetches the first rows of a choice.
func (c *Connect) Preview(ctx context.Context, o feedmill.SignInOffering, choice feedmill.SignInChoice) (feedmill.FeedPreview, error) {
	ctx = share.For(ctx, string(o.Workspace))
	n, err := c.services.Chosen(o, choice)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	return c.feeds.PreviewFetched(ctx, o.Workspace, n)
}

// Make makes the feed of a choice, which ends the sign-in, and says where the browser
// goes: empty for nowhere.
func (c *Connect) Make(ctx context.Context, o feedmill.SignInOffering, choice feedmill.SignInChoice) (feed feedmill.Feed, to string, err error) {
	ctx = share.For(ctx, string(o.Workspace))
	n, err := c.services.Chosen(o, choice)
	if err != nil {
		return feed, "", err
	}
	// It ends first, so that a form that is sent twice makes one feed.
	if _, err := c.move(ctx, o.SignIn, feedmill.SignInGranted, feedmill.SignInDone); err != nil {
		return feed, "", err
	}
	feed, err = c.feeds.CreateFetched(ctx, o.Workspace, n, func(feedmill.Feed) (*feedmill.IdempotentResponse, error) { return nil, nil })
	if err != nil { // something else may be chosen
		_, undone := c.Store.ChangeSignIn(context.WithoutCancel(ctx), o.Link, func(in *feedmill.SignIn) error {
			in.State = feedmill.SignInGranted
			return nil
		})
		if undone != nil {
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
	return c.services.Delete(ctx, o.Workspace, o.Connection)
}

// GiveBack gives back what people granted who have gone away since without making a
// feed, up to limit of them, and reports how many there were.
func (c *Connect) GiveBack(ctx context.Context, at time.Time, limit int) (int64, error) {
	gone, err := c.Store.GrantedSignIns(ctx, at, limit)
	if err != nil {
		return 0, err
	}
	for _, in := range gone {
		// The connection goes first: whoever is stopped in between begins again. One that
		// somebody else has made a feed of stays.
		err := c.services.Delete(ctx, in.Workspace, in.Connection)
		if err != nil && !errors.Is(err, feedmill.ErrNotFound) && !errors.Is(err, feedmill.ErrConflict) {
			return 0, err
		}
		_, err = c.Store.ChangeSignIn(ctx, in.Link, func(in *feedmill.SignIn) error {
			in.State = feedmill.SignInDone
			return nil
		})
		if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
			return 0, err
		}
	}
	return int64(len(gone)), nil
}
