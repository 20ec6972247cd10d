package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/connect/connecttest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// reachable is what a connection says of a database.
func reachable(t *testing.T, address string) map[string]any {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{"host": u.Hostname(), "port": port, "database": strings.TrimPrefix(u.Path, "/"), "user": u.User.Username()}
	if password, ok := u.User.Password(); ok {
		config["password"] = password
	}
	return config
}

// TestReplicasRenewOnce has two replicas use what one person has granted, at a provider
// that ends the grant when a refresh token is sent a second time, and kills one of them
// once it has exchanged the token.
func TestReplicasRenewOnce(t *testing.T) {
	t.Parallel()
	provider := connecttest.New()
	t.Cleanup(provider.Close)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ledgerly.yaml"), []byte(provider.Manifest("ledgerly")), 0o600); err != nil {
		t.Fatal(err)
	}
	address := pgtest.New(t)
	env := append(onPostgres(address), onLoopback...)
	env = append(env, "FEEDMILL_SERVICES_DIR="+folder, "FEEDMILL_SERVICE_CLIENTS=ledgerly="+connecttest.ClientID+":"+connecttest.ClientSecret)
	first, second := serve(t, t.TempDir(), env...), serve(t, t.TempDir(), env...)
	one, other := first.client(sharedFirstKey), second.client(sharedFirstKey)

	link, err := one.CreationURL(t.Context(), "ledgerly", "")
	if err != nil {
		t.Fatal(err)
	}
	made, err := provider.Connect(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	feeds := []string{made}
	const spec = `{"serviceName":"ledgerly-1","viewName":"contacts","query":{"fields":[{"field":"id"},{"field":"name"}]}}`
	for i := range 3 {
		f, err := []*client.Client{one, other}[i%2].CreateQueryFeed(t.Context(), client.QueryFeed{Spec: []byte(spec)})
		if err != nil {
			t.Fatal(err)
		}
		feeds = append(feeds, f.ID)
	}
	// A database is connected at the one, and the other makes a feed of it.
	if _, err := one.CreateConnection(t.Context(), client.NewConnection{ServiceName: "store", Connector: "postgres", Config: reachable(t, address)}); err != nil {
		t.Fatal(err)
	}
	const tables = `{"serviceName":"store","viewName":"workspaces","query":{"fields":[{"field":"id"}]}}`
	workspaces, err := other.CreateQueryFeed(t.Context(), client.QueryFeed{Spec: []byte(tables)})
	if err != nil {
		t.Fatal(err)
	}
	feeds = append(feeds, workspaces.ID)
	settled := func(c *client.Client, feeds []string) {
		t.Helper()
		for _, id := range feeds {
			eventually(t, "feed "+id+" is fetched", func() bool {
				f, err := c.DataFeed(t.Context(), id)
				if err != nil || f.State == "failed" || f.State == "auth_required" {
					t.Fatalf("%+v %v", f.LastError, err)
				}
				return f.State == "ready"
			})
		}
	}
	refreshAll := func(clients ...*client.Client) {
		var asked sync.WaitGroup
		for i, id := range feeds {
			asked.Go(func() {
				if _, err := clients[i%len(clients)].RefreshDataFeed(t.Context(), id); err != nil {
					t.Error(err)
				}
			})
		}
		asked.Wait()
	}
	settled(one, feeds)
	provider.Lock()
	before := provider.Renewed
	provider.Unlock()
	rounds := longOr(3, 50)
	for range rounds {
		provider.Forget()
		refreshAll(one, other)
		settled(other, feeds)
	}
	check := func(renewed int) {
		t.Helper()
		provider.Lock()
		defer provider.Unlock()
		if len(provider.Reused) > 0 || len(provider.Refresh) != 1 || provider.Renewed-before != renewed {
			t.Fatalf("%d tokens were sent again, %d are good, and %d were exchanged, want %d", len(provider.Reused), len(provider.Refresh), provider.Renewed-before, renewed)
		}
	}
	check(rounds)

	// The only one is killed when the API has its new access token. What was exchanged
	// for it is not lost: another goes on with that.
	second.mustStop(t)
	asked, hold := make(chan struct{}, 1), make(chan struct{}) // it may ask before anybody waits for that
	provider.Lock()
	provider.Hold, provider.Asked = hold, asked
	provider.Unlock()
	provider.Forget()
	if _, err := one.RefreshDataFeed(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	<-asked
	first.kill()
	provider.Lock()
	provider.Hold = nil
	provider.Unlock()
	close(hold)
	third := serve(t, t.TempDir(), env...).client(sharedFirstKey)
	provider.Forget()
	// It has none of the files of the others, so it refreshes only what it creates itself.
	var own []string
	for range 2 {
		f, err := third.CreateQueryFeed(t.Context(), client.QueryFeed{Spec: []byte(spec)})
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, f.ID)
	}
	settled(third, own)
	check(rounds + 2)
}
