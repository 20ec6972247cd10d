package main

import (
	"context"
	"net/http/cookiejar"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// sessionCalls are the methods of the client that need a jar for cookies.
func sessionCalls(t *testing.T, p *process, c *client.Client) map[string]func(context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := client.New(p.url, "")
	browser.HTTP.Jar = jar
	signIn := func(ctx context.Context) error {
		browser.HTTP.Transport = c.HTTP.Transport
		return second(browser.SignIn(ctx, client.SignIn{Key: p.mustFirstKey(t)}))
	}
	return map[string]func(context.Context) error{
		"SignIn": signIn,
		"Me":     func(ctx context.Context) error { return second(c.Me(ctx)) },
		"MoveSession": func(ctx context.Context) error {
			if err := signIn(ctx); err != nil {
				return err
			}
			me, err := browser.Me(ctx)
			if err != nil {
				return err
			}
			return second(browser.MoveSession(ctx, me.Workspace.ID))
		},
		"SignOut": func(ctx context.Context) error {
			if err := signIn(ctx); err != nil {
				return err
			}
			return browser.SignOut(ctx)
		},
	}
}
