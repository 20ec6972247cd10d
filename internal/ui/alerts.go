package ui

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// alertWords are what the events of alerts are called.
var alertWords = map[string]string{
	"datafeed.source.refresh_failed": "Refresh failed", "datafeed.source.stale": "Stale",
	"subscription.disabling_soon": "Disables soon", "subscription.disabled": "Disabled",
}

// maxAlertFeeds is how many feeds the form offers.
const maxAlertFeeds = 200

// alertsPage lists the alerts of the workspace above the form for another one.
type alertsPage struct {
	Alerts []alertRow
	Feeds  []client.DataFeed
	Events []alertEvent

	Channel, Slack, Email, Name string
	Chosen                      []string
	Faults                      map[string]string
	// Message is the text of a message, from the newest event if FromEvent is set.
	Message   string
	FromEvent bool
}

// IsChosen reports whether the form limits the alert to a feed.
func (p *alertsPage) IsChosen(id string) bool { return slices.Contains(p.Chosen, id) }

type alertEvent struct {
	Type, Words string
	Checked     bool
}

type alertRow struct {
	client.Alert
	// State is that of the badge.
	Badge             string
	Notifies, FeedSet string
}

func showAlerts(v *visit) error {
	return (&alertsPage{Channel: client.AlertSlack}).show(v, http.StatusOK, client.AlertEvents[:2])
}

func (p *alertsPage) show(v *visit, status int, events []string) error {
	for _, name := range client.AlertEvents {
		p.Events = append(p.Events, alertEvent{name, alertWords[name], slices.Contains(events, name)})
	}
	names := make(map[string]string)
	for f, err := range v.api.DataFeeds(v.r.Context()) {
		if err != nil {
			return err
		}
		names[f.ID] = f.Name
		if p.Feeds = append(p.Feeds, f); len(p.Feeds) == maxAlertFeeds {
			break
		}
	}
	all, err := v.api.Alerts(v.r.Context())
	if err != nil {
		return err
	}
	for _, a := range all {
		p.Alerts = append(p.Alerts, alertRowOf(a, names))
	}
	if err := p.preview(v); err != nil {
		return err
	}
	return v.render(status, "alerts", "Alerts", p)
}

// alertRowOf is an alert as the list shows it.
func alertRowOf(a client.Alert, names map[string]string) alertRow {
	row := alertRow{Alert: a, Badge: string(a.State), Notifies: "All 4 events", FeedSet: "All feeds"}
	switch a.PausedReason {
	case feedmill.PausedUnconfirmed, feedmill.PausedUnsubscribed:
		row.Badge = a.PausedReason
	}
	var words []string
	for _, name := range a.Events {
		if w := alertWords[name]; w != "" {
			words = append(words, w)
		} else {
			words = append(words, name)
		}
	}
	if len(words) != len(client.AlertEvents) {
		row.Notifies = strings.Join(words, ", ")
	}
	var feeds []string
	for _, id := range a.Feeds {
		if names[id] != "" {
			feeds = append(feeds, names[id])
		} else {
			feeds = append(feeds, id)
		}
	}
	if len(feeds) > 0 {
		row.FeedSet = strings.Join(feeds, ", ")
	}
	return row
}

// preview makes the message of the newest event that alerts report, or of an example.
func (p *alertsPage) preview(v *visit) error {
	if !v.canWrite() { // who may create no alert sees no message of it
		return nil
	}
	event := client.EventSample{
		Type: client.AlertEvents[0], ResourceID: "df_01kc88t5w3e9q2n7b4xhzv0rjm",
		Data: json.RawMessage(`{"error":"The source returned 502 Bad Gateway."}`),
	}
	for e, err := range v.api.Events(v.r.Context(), client.EventQuery{Type: strings.Join(client.AlertEvents, ",")}) {
		if err != nil {
			return err
		}
		event = client.EventSample{Type: e.Type, ResourceID: e.ResourceID, Timestamp: e.Timestamp, Data: e.Data}
		p.FromEvent = true
		break
	}
	made, err := v.api.PreviewSubscription(v.r.Context(), client.SubscriptionSample{Events: []string{event.Type}, Preset: "text"}, event)
	p.Message = made.Body
	return err
}

func createAlert(v *visit) error {
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	p := alertsPage{Channel: form("channel"), Slack: form("slack"), Email: form("email"), Name: form("name"), Chosen: v.r.PostForm["feeds"]}
	events := v.r.PostForm["events"]
	a := client.NewAlert{Name: p.Name, Events: events, Feeds: p.Chosen}
	p.Faults = make(map[string]string)
	if p.Channel == client.AlertEmail {
		if a.Email = p.Email; a.Email == "" {
			p.Faults["email"] = "Enter an e-mail address."
		}
	} else if a.Slack = p.Slack; a.Slack == "" {
		p.Faults["slack"] = "Enter the URL of a Slack incoming webhook."
	}
	if len(events) == 0 {
		p.Faults["events"] = "Select at least one event."
	}
	if len(p.Faults) == 0 {
		_, err := v.api.CreateAlert(v.r.Context(), a)
		if err == nil {
			return v.redirect("/ui/alerts?did=saved")
		}
		faults, ok := faultsOf(err, "name", "url", "events", "filters")
		if !ok {
			return err
		}
		field := map[bool]string{true: "email", false: "slack"}[p.Channel == client.AlertEmail]
		if p.Faults = faults; faults["url"] != "" {
			p.Faults[field] = faults["url"]
		}
	}
	p.Slack = "" // a secret is not shown again
	return p.show(v, http.StatusUnprocessableEntity, events)
}

func toAlerts(string) string { return "/ui/alerts" }

func deleteAlert(v *visit, id string) error { return v.api.DeleteAlert(v.r.Context(), id) }

func setAlertState(state feedmill.SubscriptionState) func(*visit, string) error {
	return func(v *visit, id string) error { return v.api.SetAlertState(v.r.Context(), id, state) }
}
