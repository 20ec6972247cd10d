package ui

import (
	"errors"
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
	// InUse is why the feed was not deleted; the page then offers to force it.
	InUse string
}

func showFeedSettings(v *visit) error {
	head, err := headOf(v, "settings")
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "feed_settings", head.Name, settingsOf(head))
}

// settingsOf is the form with the feed's current values.
func settingsOf(head feedHead) feedSettings {
	return feedSettings{Head: head, Name: head.Name, Description: head.Description, Plan: planOf(head.DataFeed)}
}

// deleteFeed deletes a feed. If other feeds are built from it, the page names them and
// offers to delete it anyway.
func deleteFeed(v *visit) error {
	id := v.r.PathValue("id")
	var opts []client.CallOption
	if v.r.PostFormValue("force") == "true" {
		opts = append(opts, client.Force())
	}
	err := v.api.DeleteDataFeed(v.r.Context(), id, opts...)
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Type == "/problems/in-use" {
		head, err := headOf(v, "settings")
		if err != nil {
			return err
		}
		s := settingsOf(head)
		s.InUse = p.Detail
		return v.render(p.Status, "feed_settings", head.Name, s)
	}
	if err != nil {
		return err
	}
	return v.redirect("/ui/feeds?did=deleted")
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
