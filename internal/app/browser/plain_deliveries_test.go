package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// hostile is text that would run, turn around or go on for long where it is not shown as
// text.
var hostile = `</pre><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202e\u2066" + strings.Repeat("x", 200<<10)

// copied is what a page has for copying, as it is, and shows nowhere.
var copied = regexp.MustCompile(`data-(copy|body)="[^"]*"`)

// ended waits until the deliveries of a subscription are in a state, and returns them.
func ended(t *testing.T, c *client.Client, sub string, state feedmill.DeliveryState, n int) (ids []string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		ids = nil
		for d, err := range c.Deliveries(t.Context(), sub, client.DeliveryQuery{State: state}) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, d.ID)
		}
		if len(ids) == n {
			return ids
		}
	}
	t.Fatalf("%d deliveries are %s, not %d", len(ids), state, n)
	return nil
}

// TestDeliveriesWithoutScripts follows deliveries that fail, with hostile data in all of it,
// as a browser without scripts does.
func TestDeliveriesWithoutScripts(t *testing.T) {
	c, key := workspace(t)
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusGone)
			return
		}
		w.Header().Set("X-Evil", "<script>alert(1)</script>")
		http.Error(w, hostile+strings.Repeat("y", 1<<20), http.StatusInternalServerError)
	}))
	t.Cleanup(to.Close)
	made, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: "Failing <b>", URL: to.URL + "/%3Cscript%3E", Events: []string{"tag.*"}})
	if err != nil {
		t.Fatal(err)
	}
	sub := made.Created[0].ID
	for range 3 {
		if _, err := c.Publish(t.Context(), client.NewEvent{Type: "tag.created", ResourceID: "<script>alert(1)</script>", Data: map[string]any{hostile: hostile[:20<<10]}}); err != nil {
			t.Fatal(err)
		}
	}
	ids := ended(t, c, sub, feedmill.DeliveryRetrying, 3)
	v := plainly(t, key)
	shows := func(text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("the page does not have %q", want)
			}
		}
		text = copied.ReplaceAllString(text, "")
		for _, never := range []string{"<script>alert", "<img src=x", "\u202e", "\u2066"} {
			if strings.Contains(text, never) {
				t.Errorf("the page has %q as it was sent", never)
			}
		}
		if len(text) > 3<<20 {
			t.Errorf("the page has %d bytes", len(text))
		}
	}
	page := "/ui/deliveries/"
	shows(v.see(page+ids[1]), "Older", page+ids[2], "Newer", page+ids[0], "500", "X-Evil", "•••• (not shown)", "webhook-id", "Failing &lt;b&gt;", `\u202e\u2066xxx`)
	if newest := v.see(page + ids[0]); strings.Contains(newest, "Newer") {
		t.Error("something is newer than the newest")
	}
	if oldest := v.see(page + ids[2]); strings.Contains(oldest, "Older") {
		t.Error("something is older than the oldest")
	}
	shows(v.see("/ui/subscriptions/"+sub), "500 Internal Server Error")
	shows(v.see("/ui/events?type=tag.*"), "1 retrying")
	// The rail counts a subscription that was disabled for what its endpoint said.
	gone, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: "Gone", URL: to.URL + "/gone", Events: []string{"metric.*"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := v.see("/ui/events"); strings.Contains(text, "in trouble") {
		t.Error("something is in trouble before anything is")
	}
	if _, err := c.Publish(t.Context(), client.NewEvent{Type: "metric.created"}); err != nil {
		t.Fatal(err)
	}
	ended(t, c, gone.Created[0].ID, feedmill.DeliveryExhausted, 1)
	shows(v.see("/ui/events"), "in trouble", "Subscriptions whose endpoint fails")
	shows(v.send(page+ids[0]+"/retry", nil), "Due now")
	shows(v.send("/ui/subscriptions/"+sub+"/retry", nil), "Due now")
	nothing := v.send("/ui/subscriptions/"+sub+"/replay", url.Values{"state": {"delivered"}, "span": {"1h"}})
	if shows(nothing, "0 deliveries"); strings.Contains(nothing, "Replay now") {
		t.Error("a replay of nothing can be begun")
	}
	// Errors of forms are at their fields.
	for _, form := range []struct {
		action string
		sent   url.Values
		want   string
	}{
		{"/rotate", url.Values{"overlap": {"a while"}}, `id="overlap-message">Choose an overlap.`},
		{"/rotate", url.Values{"overlap": {"169h"}}, `id="overlap-message">The duration must be between 0s and 7d.`},
		{"/replay", url.Values{"state": {"pending"}, "span": {"1h"}}, `id="state-message">`},
		{"/replay", url.Values{"state": {"all"}, "span": {"1y"}}, `id="span-message">Choose a period.`},
		{"/replay", url.Values{"state": {"all"}, "since": {"9999-01-01T00:00:00Z"}}, `id="span-message">`},
		{"/replay", url.Values{"state": {"all"}, "since": {"yesterday"}}, `id="span-message">Choose a period.`},
	} {
		if page := v.refused("/ui/subscriptions/"+sub+form.action, form.sent); !strings.Contains(page, form.want) || strings.Count(page, `aria-invalid="true"`) != 1 {
			t.Errorf("%s %v does not have %s: %s", form.action, form.sent, form.want, page)
		}
	}
	shows(v.see("/ui/workspaces"), "current workspace")
	shows(v.send("/ui/start/sample", nil), "Sample orders")
	shows(v.send("/ui/start/sample", nil), "version <span id=\"version\">2")
	// What is left of a subscription that is deleted.
	shows(v.send("/ui/subscriptions/"+sub+"/delete", nil), "Deleted")
	shows(v.see(page+ids[1]), "a deleted one", "500")

	operator := plainly(t, server.key)
	shows(operator.see("/ui/operate"), "Records", "SQLite", "feedmill.db")
	shows(operator.send("/ui/workspaces", url.Values{"name": {"Plain <i>"}}), "Plain &lt;i&gt;")
}
