package ui

import (
	"net/http"
	"strings"
	"time"

	"github.com/feedmill/feedmill/client"
)

// feedSettings is the form that changes a feed.
type feedSettings struct {
	Head feedHead
	// The fields, as they were sent or as they are.
	Name, Description, When, Every, Cron, Timezone string

	Faults map[string]string
	Runs   []time.Time
}

func showFeedSettings(v *visit) error {
	head, err := headOf(v, "settings")
	if err != nil {
		return err
	}
	s := feedSettings{Head: head, Name: head.Name, Description: head.Description, When: "none", Every: "1h", Cron: "0 6 * * 1-5", Timezone: "UTC", Runs: nextRuns(head.DataFeed)}
	if head.Schedule != nil {
		s.When, s.Every, s.Cron, s.Timezone = "cron", "1h", head.Schedule.Cron, head.Schedule.Timezone
		if head.Schedule.Every != "" {
			s.When, s.Every, s.Cron, s.Timezone = "every", head.Schedule.Every, "0 6 * * 1-5", "UTC"
		}
	}
	return v.render(http.StatusOK, "feed_settings", head.Name, s)
}

func changeFeedSettings(v *visit) error {
	head, err := headOf(v, "settings")
	if err != nil {
		return err
	}
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	s := feedSettings{Head: head, Name: form("name"), Description: form("description"), When: form("when"), Every: form("every"), Cron: form("cron"), Timezone: form("timezone"), Runs: nextRuns(head.DataFeed)}
	change := client.DataFeedChange{Name: client.To(s.Name), Description: client.To(s.Description)}
	if head.Type.HasSource() {
		switch s.When {
		case "every":
			change.Schedule = client.To(client.Schedule{Every: s.Every})
		case "cron":
			change.Schedule = client.To(client.Schedule{Cron: s.Cron, Timezone: s.Timezone})
		default:
			change.Schedule = client.Reset[client.Schedule]()
		}
	}
	if _, err := v.api.ChangeDataFeed(v.r.Context(), head.ID, change); err != nil {
		faults, ok := faultsOf(err, "name", "description", "schedule")
		if !ok {
			return err
		}
		s.Faults = faults
		return v.render(http.StatusUnprocessableEntity, "feed_settings", head.Name, s)
	}
	return v.redirect(feedPagePath(head.ID) + "/settings?did=saved")
}
