package ui

import (
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// portalEvents is the list of events of the portal.
type portalEvents struct {
	Events []eventRow
	Older  string
	Type   string
	Types  []string
}

func showPortalEvents(p *portal) error {
	page := portalEvents{Type: p.r.URL.Query().Get("type")}
	types, err := p.eventTypes()
	if err != nil {
		return err
	}
	for _, t := range types {
		page.Types = append(page.Types, t.Name)
	}
	if !slices.Contains(page.Types, page.Type) {
		page.Type = ""
	}
	found, older, err := pageOf(p.visit, listedRecords, func() iter.Seq2[client.Event, error] {
		return p.api.Events(p.r.Context(), client.EventQuery{Type: page.Type})
	})
	if err != nil {
		return err
	}
	page.Older = older
	for _, e := range found {
		page.Events = append(page.Events, eventRow{e, wentTo(e.Counts)})
	}
	return p.show(http.StatusOK, "portal_events", "Events", page)
}

// portalEvent is an event of the portal with its body.
type portalEvent struct {
	client.Event
	Body, Pretty string
	Went         []stateCount
}

func showPortalEvent(p *portal) error {
	e, err := p.api.Event(p.r.Context(), p.r.PathValue("id"))
	if err != nil {
		return err
	}
	body := string(bodyOf(e))
	return p.show(http.StatusOK, "portal_event", e.Type, portalEvent{e, body, laidOut(body), wentTo(e.Counts)})
}

// portalFeeds is the list of feeds of the portal.
type portalFeeds struct {
	Feeds []client.DataFeed
	Older string
}

func showPortalFeeds(p *portal) error {
	found, older, err := pageOf(p.visit, listedRecords, func() iter.Seq2[client.DataFeed, error] { return p.api.DataFeeds(p.r.Context()) })
	if err != nil {
		return err
	}
	return p.show(http.StatusOK, "portal_feeds", "Feeds", portalFeeds{found, older})
}

// portalFeed is a feed of the portal with its first rows.
type portalFeed struct {
	client.DataFeed
	Shown []feedmill.Column
	Rows  [][]gridCell
	// Missing says why there are no rows.
	Missing string
}

func showPortalFeed(p *portal) error {
	f, err := p.api.DataFeed(p.r.Context(), p.r.PathValue("id"))
	if err != nil {
		return err
	}
	page := portalFeed{DataFeed: f}
	for _, c := range f.Columns {
		if !c.Hidden {
			page.Shown = append(page.Shown, c)
		}
	}
	rows, err := p.api.ReadData(p.r.Context(), f.ID, client.RowQuery{Format: "json", Limit: pageRows})
	if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Status != http.StatusUnauthorized {
		page.Missing = problem.Detail
		return p.show(http.StatusOK, "portal_feed", f.Name, page)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	var all []json.RawMessage
	if err := json.NewDecoder(rows).Decode(&all); err != nil {
		return err
	}
	page.Rows = objectRows(all, page.Shown)
	return p.show(http.StatusOK, "portal_feed", f.Name, page)
}
