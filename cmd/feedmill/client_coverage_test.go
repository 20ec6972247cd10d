package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// TestClientCoversTheAPI makes every call of the client on a real server and
// holds what was asked for against the OpenAPI document in both directions. A
// method that is missing here fails it too, and so does a call that no longer
// is one.
func TestClientCoversTheAPI(t *testing.T) {
	t.Parallel()
	// A delivery that has failed waits, so that it can be retried by hand.
	p := serve(t, filepath.Join(t.TempDir(), "data"), "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_RETRY_SCHEDULE=24h")
	c := p.client(p.mustFirstKey(t))
	text, err := c.OpenAPI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := &sightseer{operations: operationsOf(t, text), seen: make(map[string]bool)}
	c.HTTP.Transport = seen

	calls := clientCalls(t, c)
	maps.Copy(calls, sessionCalls(t, p, c))
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		t.Run(name, func(t *testing.T) {
			if err := calls[name](t.Context()); err != nil {
				t.Error(err)
			}
		})
	}

	of := reflect.TypeFor[*client.Client]()
	for i := range of.NumMethod() {
		if name := of.Method(i).Name; calls[name] == nil {
			t.Errorf("the method %s of the client is not called here", name)
		}
	}
	seen.mu.Lock() // a stream that was left may still be on its way
	defer seen.mu.Unlock()
	for operation := range seen.operations.known {
		if !seen.seen[operation] {
			t.Errorf("no method of the client makes the request %s", operation)
		}
	}
	for operation := range seen.seen {
		if !seen.operations.known[operation] {
			t.Errorf("the document does not have %s", operation)
		}
	}
}

// operations are those of an OpenAPI document, such as "GET /keys".
type operations struct {
	known map[string]bool
	// paths finds the template of a path in the way that the server does.
	paths *http.ServeMux
}

// operationsOf reads the operations that programs call: all but the pages.
func operationsOf(t *testing.T, document []byte) operations {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]any `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	o := operations{known: make(map[string]bool), paths: http.NewServeMux()}
	for path, methods := range doc.Paths {
		for method, operation := range methods {
			if _, page := operation.Responses["200"].Content["text/html"]; page {
				continue
			}
			name := strings.ToUpper(method) + " " + path
			o.known[name] = true
			o.paths.Handle(name, http.NotFoundHandler())
		}
	}
	if len(o.known) < 20 {
		t.Fatalf("the document has only %d operations", len(o.known))
	}
	return o
}

// sightseer keeps which operations were asked for.
type sightseer struct {
	operations operations
	mu         sync.Mutex
	seen       map[string]bool
}

func (s *sightseer) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation := s.operations.paths.Handler(r)
	if operation == "" {
		operation = r.Method + " " + r.URL.Path
	}
	s.mu.Lock()
	s.seen[operation] = true
	s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// clientCalls are the methods of the client, each with a call that succeeds.
func clientCalls(t *testing.T, c *client.Client) map[string]func(context.Context) error {
	endpoint := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(endpoint.Close)
	ctx := t.Context()
	made, err := c.CreateSubscription(ctx, client.NewSubscription{URL: endpoint.URL, Events: []string{"metric.*"}})
	if err != nil {
		t.Fatal(err)
	}
	sub := made.Created[0].ID
	published, err := c.Publish(ctx, client.NewEvent{Type: "metric.created", Data: map[string]int{"value": 42}})
	if err != nil {
		t.Fatal(err)
	}
	delivery := retrying(t, c, sub)
	newSub := func(ctx context.Context) (string, error) {
		made, err := c.CreateSubscription(ctx, client.NewSubscription{URL: endpoint.URL, Events: []string{"tag.*"}})
		if err != nil {
			return "", err
		}
		return made.Created[0].ID, nil
	}
	newAlert := func(ctx context.Context) (string, error) {
		made, err := c.CreateAlert(ctx, client.NewAlert{Name: "an alert", Slack: endpoint.URL})
		return made.ID, err
	}
	newKey := func(ctx context.Context) (client.Key, error) {
		return c.CreateKey(ctx, client.NewKey{Name: "a key", Scopes: []string{"api:read"}})
	}
	orders := func() client.Upload {
		return client.Upload{Data: strings.NewReader("order,total\n1,12.50\n2,7.00\n"), Format: "csv", FileName: "orders.csv"}
	}
	feed, err := c.CreateDataFeed(ctx, orders())
	if err != nil {
		t.Fatal(err)
	}
	source := newSource(t)
	fetched, err := c.CreateRestFeed(ctx, client.RestFeed{Spec: source.spec("/orders"), Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	event := client.NewEvent{Type: "tag.created", ResourceID: "t_1"}
	hourAgo := client.ReplayRange{Since: time.Now().Add(-time.Hour)}
	const cloudEvent = `{"specversion":"1.0","id":"1","source":"/shop","type":"tag.created"}`

	calls := queryCalls(t, c, feed.ID)
	maps.Copy(calls, map[string]func(context.Context) error{
		"CreateWorkspace": func(ctx context.Context) error { return second(c.CreateWorkspace(ctx, "acme")) },
		"NewWorkspace": func(ctx context.Context) error {
			return second(c.NewWorkspace(ctx, client.WorkspaceChange{"name": "globex", "externalId": "g-1"}))
		},
		"ChangeWorkspace": func(ctx context.Context) error {
			w, err := c.CreateWorkspace(ctx, "changed")
			if err != nil {
				return err
			}
			return second(c.ChangeWorkspace(ctx, w.ID, client.WorkspaceChange{"quotas": map[string]any{"subscriptions": 5}}))
		},
		"DeleteWorkspace": func(ctx context.Context) error {
			w, err := c.CreateWorkspace(ctx, "short-lived")
			if err != nil {
				return err
			}
			return second(c.DeleteWorkspace(ctx, w.ID, w.Name))
		},
		"Workspaces": func(ctx context.Context) error { return firstOf(c.Workspaces(ctx)) },
		"Workspace": func(ctx context.Context) error {
			for w, err := range c.Workspaces(ctx) {
				if err == nil {
					_, err = c.Workspace(ctx, w.ID)
				}
				return err
			}
			return nil
		},
		"CreateKey": func(ctx context.Context) error { return second(newKey(ctx)) },
		"Key": func(ctx context.Context) error {
			k, err := newKey(ctx)
			if err != nil {
				return err
			}
			return second(c.Key(ctx, k.ID))
		},
		"Keys": func(ctx context.Context) error { return firstOf(c.Keys(ctx)) },
		"KeysOf": func(ctx context.Context) error {
			k, err := newKey(ctx)
			if err != nil {
				return err
			}
			return firstOf(c.KeysOf(ctx, client.KeyQuery{WorkspaceID: k.WorkspaceID}))
		},
		"Operate": func(ctx context.Context) error { return second(c.Operate(ctx)) },
		"Audit": func(ctx context.Context) error {
			return firstOf(c.Audit(ctx, client.AuditQuery{Action: "subscription.create", Since: time.Now().Add(-time.Hour)}))
		},
		"RevokeKey": func(ctx context.Context) error {
			k, err := newKey(ctx)
			if err != nil {
				return err
			}
			return c.RevokeKey(ctx, k.ID)
		},
		"Publish":    func(ctx context.Context) error { return second(c.Publish(ctx, event)) },
		"PublishAll": func(ctx context.Context) error { return second(c.PublishAll(ctx, []client.NewEvent{event, event})) },
		"PublishDocument": func(ctx context.Context) error {
			return second(c.PublishDocument(ctx, client.MediaCloudEvents, []byte("["+cloudEvent+"]")))
		},
		"Events": func(ctx context.Context) error {
			return firstOf(c.Events(ctx, client.EventQuery{Type: "metric.created", Since: time.Now().Add(-time.Hour)}))
		},
		"Event":      func(ctx context.Context) error { return second(c.Event(ctx, published.ID)) },
		"EventMatch": func(ctx context.Context) error { return second(c.EventMatch(ctx, published.ID, sub)) },
		"CountDeliveries": func(ctx context.Context) error {
			return second(c.CountDeliveries(ctx, sub, client.DeliveryQuery{Type: "metric.created"}))
		},
		"EventStream": func(ctx context.Context) error {
			if _, err := c.Publish(ctx, event); err != nil {
				return err
			}
			return firstOf(c.EventStream(ctx, client.EventQuery{Type: event.Type}, published.ID))
		},
		"EventTypes":         func(ctx context.Context) error { return second(c.EventTypes(ctx)) },
		"CreateSubscription": func(ctx context.Context) error { return second(newSub(ctx)) },
		"Subscriptions":      func(ctx context.Context) error { return firstOf(c.Subscriptions(ctx)) },
		"Subscription":       func(ctx context.Context) error { return second(c.Subscription(ctx, sub)) },
		"ChangeSubscription": func(ctx context.Context) error {
			return second(c.ChangeSubscription(ctx, sub, client.SubscriptionChange{Name: client.To("changed")}))
		},
		"DeleteSubscription": func(ctx context.Context) error {
			id, err := newSub(ctx)
			if err != nil {
				return err
			}
			return c.DeleteSubscription(ctx, id)
		},
		"CreateAlert": func(ctx context.Context) error { return second(newAlert(ctx)) },
		"Alerts":      func(ctx context.Context) error { return second(c.Alerts(ctx)) },
		"Alert": func(ctx context.Context) error {
			id, err := newAlert(ctx)
			if err != nil {
				return err
			}
			return second(c.Alert(ctx, id))
		},
		"SetAlertState": func(ctx context.Context) error {
			id, err := newAlert(ctx)
			if err != nil {
				return err
			}
			return c.SetAlertState(ctx, id, feedmill.SubscriptionPaused)
		},
		"DeleteAlert": func(ctx context.Context) error {
			id, err := newAlert(ctx)
			if err != nil {
				return err
			}
			return c.DeleteAlert(ctx, id)
		},
		"PreviewSubscription": func(ctx context.Context) error {
			return second(c.PreviewSubscription(ctx, client.SubscriptionSample{Events: []string{"metric.*"}, Filter: `event.type == "metric.created"`}, client.EventSample{Type: "metric.created"}))
		},
		"TestSubscription":   func(ctx context.Context) error { return second(c.TestSubscription(ctx, sub, client.TestEvent{})) },
		"RotateSecret":       func(ctx context.Context) error { return second(c.RotateSecret(ctx, sub, 0)) },
		"ReplaySubscription": func(ctx context.Context) error { return second(c.ReplaySubscription(ctx, sub, hourAgo)) },
		"Replay": func(ctx context.Context) error {
			replay, err := c.ReplaySubscription(ctx, sub, hourAgo)
			if err != nil {
				return err
			}
			return second(c.Replay(ctx, sub, replay.ID))
		},
		"CancelReplay": func(ctx context.Context) error {
			// It takes seconds, so that there is something to cancel.
			_, err := c.PublishAll(ctx, slices.Repeat([]client.NewEvent{event}, 10))
			if err != nil {
				return err
			}
			id, err := newSub(ctx)
			if err != nil {
				return err
			}
			replay, err := c.ReplaySubscription(ctx, id, client.ReplayRange{Since: hourAgo.Since, State: feedmill.ReplayMissing, Rate: 1})
			if err != nil {
				return err
			}
			return second(c.CancelReplay(ctx, id, replay.ID))
		},
		"SubscriptionStats": func(ctx context.Context) error {
			stats, err := c.SubscriptionStats(ctx, sub, time.Now().Add(-time.Hour))
			if err == nil && len(stats.Buckets) < 4 {
				err = fmt.Errorf("an hour has %d buckets", len(stats.Buckets))
			}
			return err
		},
		"RetrySubscription": func(ctx context.Context) error { return second(c.RetrySubscription(ctx, sub)) },
		"Deliveries": func(ctx context.Context) error {
			return firstOf(c.Deliveries(ctx, sub, client.DeliveryQuery{Type: "metric.created"}))
		},
		"Delivery":      func(ctx context.Context) error { return second(c.Delivery(ctx, delivery)) },
		"RetryDelivery": func(ctx context.Context) error { return second(c.RetryDelivery(ctx, delivery)) },
		"Undelivered": func(ctx context.Context) error {
			for _, err := range c.Undelivered(ctx) {
				return err
			}
			return nil
		},
		"FindUndelivered": func(ctx context.Context) error {
			for _, err := range c.FindUndelivered(ctx, client.UndeliveredQuery{SubscriptionID: sub, State: feedmill.DeliveryExhausted}) {
				return err
			}
			return nil
		},
		"GroupUndelivered": func(ctx context.Context) error {
			return second(c.GroupUndelivered(ctx, client.UndeliveredQuery{Since: time.Now().Add(-time.Hour)}, "endpoint", "error"))
		},
		"RetryUndelivered": func(ctx context.Context) error {
			return second(c.RetryUndelivered(ctx, client.UndeliveredSelection{DeliveryIDs: []string{delivery}}))
		},
		"ProblemType": func(ctx context.Context) error { return second(c.ProblemType(ctx, "/problems/not-found")) },
		"CreateListener": func(ctx context.Context) error {
			return second(c.CreateListener(ctx, client.NewListener{Events: []string{"tag.*"}}))
		},
		"Listener": func(ctx context.Context) error {
			l, err := c.CreateListener(ctx, client.NewListener{Events: []string{"tag.*"}})
			if err != nil {
				return err
			}
			return second(c.Listener(ctx, l.ID))
		},
		"DeleteListener": func(ctx context.Context) error {
			l, err := c.CreateListener(ctx, client.NewListener{Events: []string{"tag.*"}})
			if err != nil {
				return err
			}
			return c.DeleteListener(ctx, l.ID)
		},
		"TestListener": func(ctx context.Context) error {
			l, err := c.CreateListener(ctx, client.NewListener{Events: []string{"*"}})
			if err != nil {
				return err
			}
			for line, err := range c.ListenerStream(ctx, l.ID) {
				if err != nil || line.Kind == "delivery" {
					return err
				}
				if err := c.TestListener(ctx, l.ID, client.TestEvent{Type: "metric.created"}); err != nil {
					return err
				}
			}
			return nil
		},
		"ListenSecret": func(context.Context) error {
			first := c.ListenSecret()
			if second := c.ListenSecret(); second != first {
				return errors.New("the secret changes")
			}
			return nil
		},
		"ListenerStream": func(ctx context.Context) error {
			l, err := c.CreateListener(ctx, client.NewListener{Events: []string{"tag.*"}})
			if err != nil {
				return err
			}
			return firstOf(c.ListenerStream(ctx, l.ID))
		},
		"AnswerListener": func(ctx context.Context) error {
			l, err := c.CreateListener(ctx, client.NewListener{Events: []string{"tag.*"}})
			if err == nil {
				_, err = c.Publish(ctx, event)
			}
			if err != nil {
				return err
			}
			for line, err := range c.ListenerStream(ctx, l.ID) {
				if err != nil {
					return err
				}
				if line.Kind == "delivery" {
					return c.AnswerListener(ctx, l.ID, []client.ListenerAnswer{{DeliveryID: line.DeliveryID, Attempt: line.Attempt, Status: 200}})
				}
			}
			return feedmill.ErrNotFound
		},
		"Listen": func(ctx context.Context) error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			var publishing error
			err := c.Listen(ctx, client.NewListener{Events: []string{"tag.*"}}, client.Listening{
				Opened: func(client.Listener) { _, publishing = c.Publish(ctx, event) },
				Handle: func(context.Context, client.ListenerDelivery) client.ListenerAnswer {
					stop()
					return client.ListenerAnswer{Status: 200}
				},
			})
			return errors.Join(err, publishing)
		},
		"CreateDataFeed":       func(ctx context.Context) error { return second(c.CreateDataFeed(ctx, orders())) },
		"PreviewDataFeed":      func(ctx context.Context) error { return second(c.PreviewDataFeed(ctx, orders())) },
		"DataFeeds":            func(ctx context.Context) error { return firstOf(c.DataFeeds(ctx)) },
		"SubscriptionTroubles": func(ctx context.Context) error { return second(c.SubscriptionTroubles(ctx)) },
		"SearchDataFeeds": func(ctx context.Context) error {
			return second(c.SearchDataFeeds(ctx, client.DataFeedSearch{Text: "a", Sort: "name", Counts: true}))
		},
		"DataFeed": func(ctx context.Context) error { return second(c.DataFeed(ctx, feed.ID)) },
		"ChangeDataFeed": func(ctx context.Context) error {
			return second(c.ChangeDataFeed(ctx, feed.ID, client.DataFeedChange{Name: client.To("changed")}))
		},
		"ChangeColumns": func(ctx context.Context) error {
			return second(c.ChangeColumns(ctx, feed.ID, []client.ColumnChange{{ID: "c1", Description: client.To("changed")}}))
		},
		"TryColumns": func(ctx context.Context) error {
			return second(c.TryColumns(ctx, feed.ID, []client.ColumnChange{{ID: "c1", Type: client.To("text")}}))
		},
		"PreviewChange": func(ctx context.Context) error {
			return second(c.PreviewChange(ctx, fetched.Type, fetched.ID, []byte(`{"name":"changed"}`)))
		},
		"Checks": func(ctx context.Context) error { return second(c.Checks(ctx, feed.ID)) },
		"CreateLink": func(ctx context.Context) error {
			return second(c.CreateLink(ctx, feed.ID, client.NewLink{Name: "a link"}))
		},
		"CreatePortalLink": func(ctx context.Context) error {
			return second(c.CreatePortalLink(ctx, ownWorkspace(ctx, c), client.NewPortalLink{Access: feedmill.PortalWrite}))
		},
		"PortalLinks": func(ctx context.Context) error { return firstOf(c.PortalLinks(ctx, ownWorkspace(ctx, c))) },
		"PortalLink": func(ctx context.Context) error {
			l, err := c.CreatePortalLink(ctx, ownWorkspace(ctx, c), client.NewPortalLink{})
			if err != nil {
				return err
			}
			return second(c.PortalLink(ctx, ownWorkspace(ctx, c), l.ID))
		},
		"DeletePortalLink": func(ctx context.Context) error {
			l, err := c.CreatePortalLink(ctx, ownWorkspace(ctx, c), client.NewPortalLink{})
			if err != nil {
				return err
			}
			return c.DeletePortalLink(ctx, ownWorkspace(ctx, c), l.ID)
		},
		"ReadLink": func(ctx context.Context) error {
			l, err := c.CreateLink(ctx, feed.ID, client.NewLink{})
			if err != nil {
				return err
			}
			return allOf(c.ReadLink(ctx, l.URL, client.RowQuery{Format: "csv", Limit: 1}))
		},
		"Links": func(ctx context.Context) error { return firstOf(c.Links(ctx, feed.ID)) },
		"Link": func(ctx context.Context) error {
			l, err := c.CreateLink(ctx, feed.ID, client.NewLink{})
			if err != nil {
				return err
			}
			return second(c.Link(ctx, feed.ID, l.ID))
		},
		"DeleteLink": func(ctx context.Context) error {
			l, err := c.CreateLink(ctx, feed.ID, client.NewLink{})
			if err != nil {
				return err
			}
			return c.DeleteLink(ctx, feed.ID, l.ID)
		},
		"ReplaceData": func(ctx context.Context) error { return second(c.ReplaceData(ctx, feed.ID, orders())) },
		"ReadData": func(ctx context.Context) error {
			return allOf(c.ReadData(ctx, feed.ID, client.RowQuery{Format: "csv"}))
		},
		"QueryData": func(ctx context.Context) error {
			query := client.DataQuery{Fields: []client.QueryField{{Field: "total", Aggregate: "sum"}}}
			return allOf(c.QueryData(ctx, feed.ID, query, client.RowQuery{}))
		},
		"FeedVersions": func(ctx context.Context) error { return firstOf(c.FeedVersions(ctx, feed.ID)) },
		"FeedChanges":  func(ctx context.Context) error { return allOf(c.FeedChanges(ctx, feed.ID, 1, 0, client.RowQuery{})) },
		"Lineage":      func(ctx context.Context) error { return second(c.Lineage(ctx, feed.ID)) },
		"Chart": func(ctx context.Context) error {
			return second(c.Chart(ctx, feed.ID, client.ChartQuery{Group: feed.Columns[0].Name}))
		},
		"FeedProfile":    func(ctx context.Context) error { return second(c.FeedProfile(ctx, feed.ID, client.RowQuery{})) },
		"FeedVersion":    func(ctx context.Context) error { return second(c.FeedVersion(ctx, feed.ID, 1)) },
		"PinVersion":     func(ctx context.Context) error { return second(c.PinVersion(ctx, feed.ID, 1, true)) },
		"RestoreVersion": func(ctx context.Context) error { return second(c.RestoreVersion(ctx, feed.ID, 1)) },
		"Refreshes":      func(ctx context.Context) error { return firstOf(c.Refreshes(ctx, feed.ID)) },
		"Refresh":        func(ctx context.Context) error { return second(c.Refresh(ctx, feed.ID, feed.LastRefresh.ID)) },
		"RejectedRows": func(ctx context.Context) error {
			for _, err := range c.RejectedRows(ctx, feed.ID, feed.LastRefresh.ID) {
				return err
			}
			return nil
		},
		"Rejects": func(ctx context.Context) error { return allOf(c.Rejects(ctx, feed.ID, feed.LastRefresh.ID)) },
		"CreateRestFeed": func(ctx context.Context) error {
			return second(c.CreateRestFeed(ctx, client.RestFeed{Spec: json.RawMessage(`{"name":"Others"}`), SourceOf: fetched.ID}))
		},
		"PreviewRestFeed": func(ctx context.Context) error { return second(c.PreviewRestFeed(ctx, source.spec("/orders"))) },
		"RefreshDataFeed": func(ctx context.Context) error { return second(c.RefreshDataFeed(ctx, fetched.ID)) },
		"WatchRefresh": func(ctx context.Context) error {
			return firstOf(c.WatchRefresh(ctx, fetched.ID, fetched.LastRefresh.ID))
		},
		"CancelRefresh": func(ctx context.Context) error {
			f, err := c.CreateRestFeed(ctx, client.RestFeed{Spec: source.spec("/never")})
			if err != nil {
				return err
			}
			return second(c.CancelRefresh(ctx, f.ID, f.LastRefresh.ID))
		},
		"PauseDataFeed": func(ctx context.Context) error {
			return errors.Join(second(c.PauseDataFeed(ctx, fetched.ID)), second(c.ResumeDataFeed(ctx, fetched.ID)))
		},
		"ResumeDataFeed": func(ctx context.Context) error { return second(c.ResumeDataFeed(ctx, fetched.ID)) },
		"DeleteDataFeed": func(ctx context.Context) error {
			f, err := c.CreateDataFeed(ctx, orders())
			if err != nil {
				return err
			}
			return c.DeleteDataFeed(ctx, f.ID)
		},
		"Definitions": func(ctx context.Context) error { return firstOf(c.Definitions(ctx, feedmill.DefinedFeed)) },
		"SetDefinition": func(ctx context.Context) error {
			return c.SetDefinition(ctx, feed.ID, client.Handle{Name: "covered", Set: "coverage"})
		},
		"CompareDefinitions": func(ctx context.Context) error {
			return second(c.CompareDefinitions(ctx, []client.DefinitionSecrets{{ID: feed.ID, Secrets: strings.Repeat("0", 64)}}))
		},
		"BeginApply": func(ctx context.Context) error { return second(c.BeginApply(ctx, "coverage")) },
		"EndApply":   func(ctx context.Context) error { return c.EndApply(ctx, "coverage") },
		"CreateDefined": func(ctx context.Context) error {
			return second(c.CreateDefined(ctx, feedmill.DefinedFeed, feedmill.FeedREST, source.spec("/orders"), client.Managed(client.Handle{Name: "managed"})))
		},
		"ChangeDefined": func(ctx context.Context) error {
			return second(c.ChangeDefined(ctx, feedmill.DefinedFeed, feed.ID, json.RawMessage(`{"description":"covered"}`)))
		},

		"Health":  c.Health,
		"Ready":   c.Ready,
		"Metrics": func(ctx context.Context) error { return second(c.Metrics(ctx)) },
		"UpdateRestFeed": func(ctx context.Context) error {
			return second(c.UpdateRestFeed(ctx, fetched.ID, []byte("schedule: {every: 1h}")))
		},
		"ServiceSchema":    func(ctx context.Context) error { return second(c.ServiceSchema(ctx)) },
		"RestFeedSchema":   func(ctx context.Context) error { return second(c.RestFeedSchema(ctx)) },
		"DefinitionSchema": func(ctx context.Context) error { return second(c.DefinitionSchema(ctx)) },

		"OpenAPI": func(ctx context.Context) error { return second(c.OpenAPI(ctx)) },
	})
	return calls
}

// retrying waits for the delivery of a subscription that has failed once.
func retrying(t *testing.T, c *client.Client, subscription string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		for d, err := range c.Deliveries(ctx, subscription, client.DeliveryQuery{State: feedmill.DeliveryRetrying}) {
			if err != nil {
				t.Fatal(err)
			}
			return d.ID
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatal("no delivery has failed")
	return ""
}

// second is the error of a call whose answer does not matter.
func second[T any](_ T, err error) error { return err }

// allOf reads rows to their end.
func allOf(rows *client.Rows, err error) error {
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, rows)
	return errors.Join(err, rows.Close())
}

// firstOf reads the beginning of a list that has one.
func firstOf[T any](list func(func(T, error) bool)) error {
	for _, err := range list {
		return err
	}
	return feedmill.ErrNotFound
}

// ownWorkspace returns the workspace of the client's key, empty if that cannot be known.
func ownWorkspace(ctx context.Context, c *client.Client) string {
	me, _ := c.Me(ctx)
	return me.Workspace.ID
}
