package browser

import (
	"net/url"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// alerts creates an alert, pauses it, resumes it and deletes it.
func (v *plainVisitor) alerts(c *client.Client, feed string) {
	t := v.t
	t.Helper()
	want := func(page string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("no %q on %s", text, page)
			}
		}
	}
	want(v.see("/ui/alerts"), "No alerts yet", "New alert")
	form := url.Values{
		"channel": {"slack"}, "slack": {server.url + "/services/T04/s3cret-path"}, "name": {"On call"}, "feeds": {feed},
		"events": {"datafeed.source.stale", "subscription.disabled"},
	}
	page := v.send("/ui/alerts", form)
	want(page, "Saved", "On call", "Stale, Disabled", "Shop orders", "Active")
	if strings.Contains(page, "s3cret") {
		t.Error("the page shows the URL")
	}
	want(v.refused("/ui/alerts", url.Values{"channel": {"email"}, "email": {"ada@example.com"}, "events": {"datafeed.source.stale"}}), "FEEDMILL_SMTP_URL")
	want(v.refused("/ui/alerts", url.Values{"channel": {"slack"}}), "Enter the URL", "Select at least one event")
	all, err := c.Alerts(t.Context())
	if err != nil || len(all) != 1 || len(all[0].Subscriptions) != 2 || len(all[0].Feeds) != 1 || strings.Contains(all[0].Subscriptions[0].URL, "s3cret") {
		t.Fatalf("%+v, %v", all, err)
	}
	id := all[0].ID
	for do, shown := range map[string]string{"/pause": "Paused", "/activate": "Saved", "/delete": "Deleted"} {
		if do != "/delete" {
			want(v.send("/ui/alerts/"+id+do, nil), shown)
		}
	}
	want(v.send("/ui/alerts/"+id+"/delete", nil), "Deleted", "No alerts yet")
}

func TestAlertsPage(t *testing.T) {
	c, key := workspace(t)
	f := upload(t, c, "Shop orders", "orders.csv", orders)
	b := signedIn(t, key)
	b.visit("/ui/alerts")
	b.sees("No alerts yet")
	b.accessible("alerts-empty")
	for _, a := range []client.NewAlert{{Name: "On call", Slack: server.url + "/services/s3cret"}, {Slack: server.url + "/b", Feeds: []string{f.ID}, Events: []string{"datafeed.source.stale"}}} {
		if _, err := c.CreateAlert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	b.visit("/ui/alerts")
	b.sees("All 4 events")
	b.sees("Shop orders")
	b.accessible("alerts")
}
