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
	Name, Description string
	Plan              schedulePlan

	Faults map[string]string
}

func showFeedSettings(v *visit) error {
	head, err := headOf(v, "settings")
	if err != nil {
		return err
	}
	s := feedSettings{Head: head, Name: head.Name, Description: head.Description, Plan: planOf(head.DataFeed)}
	return v.render(http.StatusOK, "feed_settings", head.Name, s)
}

func changeFeedSettings(v *visit) error {
	head, err := headOf(v, "settings")
	if err != nil {
		return err
	}
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	s := feedSettings{Head: head, Name: form("name"), Description: form("description"), Plan: readPlan(form, time.Now())}
	if form("do") == "show" { // only what the schedule comes to
		return v.render(http.StatusOK, "feed_settings", head.Name, s)
	}
	change := client.DataFeedChange{Name: client.To(s.Name), Description: client.To(s.Description)}
	if head.Type.HasSource() {
		change.Schedule = s.Plan.change()
	}
	if _, err := v.api.ChangeDataFeed(v.r.Context(), head.ID, change); err != nil {
		faults, ok := faultsOf(err, "name", "description", "schedule")
		if !ok {
			return err
		}
		s.Faults = faults
		s.Plan.Wrong = faults["schedule"]
		return v.render(http.StatusUnprocessableEntity, "feed_settings", head.Name, s)
	}
	return v.redirect(feedPagePath(head.ID) + "/settings?did=saved")
}

// showPlan says what a schedule comes to while somebody writes it.
func showPlan(v *visit) error {
	q := v.r.URL.Query()
	return v.part("plan", readPlan(func(name string) string { return strings.TrimSpace(q.Get(name)) }, time.Now()))
}
