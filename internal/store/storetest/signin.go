package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// SignIns are what a store does with sign-ins.
type SignIns interface {
	CreateSignIn(context.Context, feedmill.SignIn) error
	SignInByLink(ctx context.Context, link []byte) (feedmill.SignIn, error)
	SignInByVisit(ctx context.Context, visit []byte) (feedmill.SignIn, error)
	// ChangeSignIn changes a sign-in, alone with it. An error of change leaves it as
	// it was.
	ChangeSignIn(ctx context.Context, link []byte, change func(*feedmill.SignIn) error) (feedmill.SignIn, error)
	// GrantedSignIns lists up to limit sign-ins that ended before a time, whose grant
	// nothing was made of.
	GrantedSignIns(ctx context.Context, before time.Time, limit int) ([]feedmill.SignIn, error)
	// ForgetSignIns removes up to limit sign-ins that ended before a time. Those stay
	// whose grant has not been given back.
	ForgetSignIns(ctx context.Context, before time.Time, limit int) (int64, error)
}

var signInCases = []testCase{
	{name: "found by link and by visit, changed, and forgotten", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		_, link := feedmill.NewToken()
		_, other := feedmill.NewToken()
		_, visit := feedmill.NewToken()
		in := feedmill.SignIn{
			Link: link, Workspace: newWorkspace(t, s).ID, Service: "hubspot", RedirectURI: "https://app.example/done", State: feedmill.SignInOffered,
			CreatedAt: now(), ExpiresAt: now().Add(feedmill.SignInOffer),
		}
		must(t, s.CreateSignIn(ctx, in))
		must(t, s.CreateSignIn(ctx, feedmill.SignIn{Link: other, Workspace: in.Workspace, Service: "hubspot", State: feedmill.SignInOffered, CreatedAt: now(), ExpiresAt: now().Add(-time.Minute)}))
		got, err := s.SignInByLink(ctx, link)
		must(t, err)
		if diff := cmp.Diff(in, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		_, err = s.SignInByVisit(ctx, visit)
		want(t, err, feedmill.ErrNotFound)
		in.Visit, in.State, in.Secrets, in.ExpiresAt = visit, feedmill.SignInBegun, []byte("sealed"), now().Add(time.Hour)
		in.Connection = feedmill.NewID(feedmill.PrefixConnection)
		_, err = s.ChangeSignIn(ctx, link, func(c *feedmill.SignIn) error {
			c.Visit, c.Connection, c.State, c.Secrets, c.ExpiresAt = in.Visit, in.Connection, in.State, in.Secrets, in.ExpiresAt
			return nil
		})
		must(t, err)
		refused := errors.New("no")
		_, err = s.ChangeSignIn(ctx, link, func(c *feedmill.SignIn) error { c.State = feedmill.SignInDone; return refused })
		want(t, err, refused)
		got, err = s.SignInByVisit(ctx, visit)
		must(t, err)
		if diff := cmp.Diff(in, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		_, granted := feedmill.NewToken()
		must(t, s.CreateSignIn(ctx, feedmill.SignIn{Link: granted, Workspace: in.Workspace, Service: "hubspot", State: feedmill.SignInGranted, CreatedAt: now(), ExpiresAt: now().Add(-time.Minute)}))
		left, err := s.GrantedSignIns(ctx, now(), 10)
		must(t, err)
		if len(left) != 1 || string(left[0].Link) != string(granted) {
			t.Errorf("%+v are to be given back", left)
		}
		n, err := s.ForgetSignIns(ctx, now(), 10)
		must(t, err)
		_, err = s.SignInByLink(ctx, granted)
		must(t, err)
		if _, err := s.SignInByLink(ctx, other); n != 1 || !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("%d are forgotten, and the one that ended is found: %v", n, err)
		}
	}},
}
