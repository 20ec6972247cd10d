package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// beside returns a server whose API lets a key in and does with other requests what handle does.
func beside(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/me" {
			io.WriteString(w, `{"data":{"scopes":["api:read"]}}`)
			return
		}
		handle(w, r)
	})
	s := httptest.NewServer(New(Options{API: api, Version: "test", Log: slog.New(slog.DiscardHandler)}).Beside(http.NotFoundHandler()))
	t.Cleanup(s.Close)
	return s
}

// post sends a message and returns the status and the body.
func post(t *testing.T, method, url, message string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func callOf(name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
}

func TestRefusedMessages(t *testing.T) {
	t.Parallel()
	s := beside(t, http.NotFound)
	for _, c := range []struct {
		method, path, message string
		status                int
		want                  string
	}{
		{"GET", "/mcp", "", 405, "/problems/method-not-allowed"},
		{"DELETE", "/mcp", "", 405, "/problems/method-not-allowed"},
		{"POST", "/mcp", strings.Repeat(" ", maxMessage+1), 413, "/problems/too-large"},
		{"POST", "/mcp/", "{}", 404, ""},
	} {
		status, body := post(t, c.method, s.URL+c.path, c.message)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
}

// TestBrokenResponses breaks off the responses of the API: the assistant learns of it, and the
// process survives.
func TestBrokenResponses(t *testing.T) {
	t.Parallel()
	s := beside(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/data_feeds/df_1/query":
			io.WriteString(w, `[{"a":1},`)
			panic(http.ErrAbortHandler)
		case "/data_feeds/df_2/query":
			panic("a mistake")
		case "/data_feeds/df_3/query":
			io.WriteString(w, `[{"a":1},`)
		case "/data_feeds/df_4/query":
			io.WriteString(w, `[{"a":"`+strings.Repeat("x", maxResponse)+`"}]`)
		default:
			http.NotFound(w, r)
		}
	})
	for feed, want := range map[string]string{
		"df_1": "the response broke off", "df_2": "the response broke off", "df_3": "the response broke off", "df_4": "One record is larger", "df_5": "The response is not from Feedmill",
	} {
		status, body := post(t, "POST", s.URL+"/mcp", callOf("query_feed", `{"feed":"`+feed+`"}`))
		var answer struct {
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 || !answer.Result.IsError {
			t.Errorf("%s: %d %v %s", feed, status, err, body)
			continue
		}
		text := ""
		for _, c := range answer.Result.Content {
			text += c.Text
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", feed, text, want)
		}
	}
}

func TestFaultsOfArguments(t *testing.T) {
	t.Parallel()
	s := beside(t, http.NotFound)
	for _, c := range []struct{ tool, arguments, want string }{
		{"query_feed", `{}`, "/feed: This field is required."},
		{"query_feed", `{"feed":7}`, "/feed: feed must be a string, not a number."},
		{"query_feed", `{"feed":""}`, "/feed: feed must be an ID. Use search_feeds to find it."},
		{"query_feed", `{"feed":"df_1","limit":201}`, "/limit: limit must be an integer between 1 and 200; got 201."},
		{"query_feed", `{"feed":"df_1","cursor":"x"}`, "/cursor: cursor is not valid. Use nextCursor of the previous result."},
		{"query_feed", `{"feed":"df_1","version":2,"cursor":"1.abc"}`, "/cursor: cursor is for version 1. Leave out version, or start again without cursor."},
		{"feed_changes", `{"feed":"df_1"}`, "/from: This field is required."},
		{"list_failures", `{"kind":"all"}`, "/kind: kind must be one of feeds, deliveries, subscriptions."},
		{"list_failures", `{"cursor":"0.x"}`, "/cursor: cursor requires the kind that it is for."},
		{"search_feeds", `{"texts":"a"}`, "/texts: Unknown field. Did you mean text?"},
		{"search_feeds", `[]`, "must be an object"},
	} {
		if _, body := post(t, "POST", s.URL+"/mcp", callOf(c.tool, c.arguments)); !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %s, want %s", c.tool, c.arguments, body, c.want)
		}
	}
}

// TestExplanations checks that every state and status has a cause and a next step of its own.
func TestExplanations(t *testing.T) {
	t.Parallel()
	failed := func(status int, text string) client.Delivery {
		return client.Delivery{State: feedmill.DeliveryExhausted, Attempts: []client.Attempt{{Exchange: client.Exchange{Status: status, Error: text}}}}
	}
	waits := func(reason string) client.Delivery {
		d := failed(500, "")
		d.State, d.WaitsFor = feedmill.DeliveryRetrying, &client.DeliveryWait{Reason: reason, DeliveryID: "dlv_2"}
		return d
	}
	disabled := client.Subscription{State: feedmill.SubscriptionDisabled, DisabledReason: feedmill.DisabledGone}
	for _, c := range []struct {
		d               client.Delivery
		s               client.Subscription
		cause, nextStep string
	}{
		{client.Delivery{State: feedmill.DeliveryDelivered}, client.Subscription{}, "accepted", "Nothing"},
		{client.Delivery{State: feedmill.DeliveryDelivering}, client.Subscription{}, "running", "Wait"},
		{failed(0, "the host's name could not be resolved"), client.Subscription{}, "host name could not be resolved", "DNS"},
		{failed(0, "no complete response within 30s"), client.Subscription{}, "in time", "timeout"},
		{failed(0, "the operator's egress policy forbids the address of this URL"), client.Subscription{}, "egress policy", "egressAllow"},
		{failed(0, "the connection was refused"), client.Subscription{}, "could not be reached", "accepts connections"},
		{failed(302, ""), client.Subscription{}, "302 Found. Redirects", "final address"},
		{failed(401, ""), client.Subscription{}, "401 Unauthorized", "signing secret"},
		{failed(404, ""), client.Subscription{}, "404 Not Found", "Correct the URL"},
		{failed(410, ""), disabled, "410 Gone", "set its state to active"},
		{failed(413, ""), client.Subscription{}, "413", "transformation"},
		{failed(422, ""), client.Subscription{}, "422", "Correct the endpoint"},
		{failed(429, ""), client.Subscription{}, "429", "rateLimit"},
		{failed(503, ""), client.Subscription{}, "503", "Fix the endpoint"},
		{failed(503, ""), client.Subscription{State: "deleted"}, "503", "Create a new subscription"},
		{failed(503, ""), disabled, "503", "The subscription is disabled"},
		{client.Delivery{State: feedmill.DeliveryExhausted, Reason: feedmill.TransformFailedReason + "no such key"}, client.Subscription{}, "transformation", "Correct the transformation"},
		{client.Delivery{State: feedmill.DeliveryDiscarded, Reason: feedmill.FilterErrorReason + "no such key"}, client.Subscription{}, "filter", "Correct the filter"},
		{client.Delivery{State: feedmill.DeliveryDiscarded, Reason: feedmill.DiscardedDisabled}, disabled, "410 Gone", "set the state"},
		{client.Delivery{State: feedmill.DeliveryDiscarded, Reason: feedmill.DiscardedDeleted}, client.Subscription{State: "deleted"}, "deleted", "new subscription"},
		{waits("paused"), client.Subscription{}, "paused", "active"},
		{waits("breaker"), client.Subscription{}, "probes it", "Fix the endpoint"},
		{waits("order"), client.Subscription{}, "dlv_2", "dlv_2"},
		{waits("time"), client.Subscription{}, "The next attempt is at", "Fix the endpoint"},
		{waits("turn"), client.Subscription{}, "free slot", "Wait"},
	} {
		if e := whyDelivery(c.d, c.s); !strings.Contains(e.Cause, c.cause) || !strings.Contains(e.NextStep, c.nextStep) {
			t.Errorf("%s %s %+v: %+v", c.d.State, c.d.Reason, c.d.Attempts, e)
		}
	}
	for _, problem := range feedmill.ProblemTypes() {
		r := client.Refresh{State: feedmill.RefreshFailed, Error: &client.FeedError{Type: "/problems/" + problem.Slug}}
		if e := whyRefresh(client.DataFeed{}, r); !strings.HasPrefix(e.Cause, problem.Meaning) || !strings.HasPrefix(e.NextStep, problem.Fix) || !strings.HasSuffix(e.NextStep, "call refresh_feed.") {
			t.Errorf("%s: %+v", problem.Slug, e)
		}
	}
	r := client.Refresh{State: feedmill.RefreshFailed, Error: &client.FeedError{Type: "/problems/source-auth"}}
	if e := whyRefresh(client.DataFeed{State: feedmill.FeedPaused, PausedReason: "failures"}, r); !strings.Contains(e.NextStep, "resume it") {
		t.Errorf("%+v", e)
	}
}

// TestToolsAreDescribed compares the descriptions of the tools with their code.
func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	if len(tools()) != len(handlers) {
		t.Errorf("%d tools are described, and %d exist", len(tools()), len(handlers))
	}
	for _, tool := range tools() {
		if tool.writes() != (tool.Name == "refresh_feed" || tool.Name == "retry_delivery") || tool.Title == "" || tool.Description == "" {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
}
