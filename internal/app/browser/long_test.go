package browser

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// longOr picks between the two forms of a proof that wants many repetitions: the
// long one is for FEEDMILL_LONG=1.
func longOr[T any](short, long T) T {
	if os.Getenv("FEEDMILL_LONG") != "" {
		return long
	}
	return short
}

// BenchmarkLists measures how long the server takes for the pages of lists, in a workspace
// with as many feeds, subscriptions and events as FEEDMILL_LONG asks for. A page has 50 ms.
func BenchmarkLists(b *testing.B) {
	many := longOr(100, 10_000)
	ctx := context.Background()
	w, err := admin().CreateWorkspace(ctx, fmt.Sprintf("lists of %d, %d", many, b.N))
	if err != nil {
		b.Fatal(err)
	}
	k, err := admin().CreateKey(ctx, client.NewKey{Name: "lists", Scopes: []string{"api:read", "api:write", "events:publish", "admin"}, WorkspaceID: w.ID})
	if err != nil {
		b.Fatal(err)
	}
	c := client.New(server.url, k.Secret)
	fill(b, many, func(i int) error {
		name := fmt.Sprintf("feed %d", i)
		_, err := c.CreateDataFeed(ctx, client.Upload{Name: name, Data: strings.NewReader(orders), Format: "csv", FileName: name + ".csv"})
		return err
	})
	fill(b, many, func(i int) error {
		_, err := c.CreateSubscription(ctx, client.NewSubscription{Name: fmt.Sprintf("sub %d", i), URL: server.url + "/nobody", Events: []string{"tag.deleted"}})
		return err
	})
	fill(b, many/100, func(i int) error {
		events := make([]client.NewEvent, 100)
		for j := range events {
			events[j] = client.NewEvent{Type: "metric.created", ResourceID: fmt.Sprintf("m_%d_%d", i, j)}
		}
		_, err := c.PublishAll(ctx, events)
		return err
	})
	session, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/sessions", strings.NewReader(`{"key":"`+k.Secret+`"}`))
	if err != nil {
		b.Fatal(err)
	}
	session.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(session)
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	for _, path := range []string{"/ui/feeds", "/ui/feeds?q=feed+9&sort=-updatedAt", "/ui/subscriptions", "/ui/events", "/ui/keys", "/ui/audit", "/ui/connections"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+path, nil)
				if err != nil {
					b.Fatal(err)
				}
				for _, cookie := range resp.Cookies() {
					r.AddCookie(cookie)
				}
				page, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				if page.Body.Close(); page.StatusCode != http.StatusOK || page.Request.URL.Path == "/ui/sign-in" {
					b.Fatalf("%s is answered %d at %s", path, page.StatusCode, page.Request.URL.Path)
				}
			}
		})
	}
}

// fill makes many of something, a few at a time.
func fill(b *testing.B, many int, make func(i int) error) {
	b.Helper()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := worker; i < many; i += 8 {
				if err := make(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	if all.Wait(); b.Failed() {
		b.FailNow()
	}
}
