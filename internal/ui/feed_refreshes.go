package ui

import (
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// listedRefreshes is how many refreshes a page has.
const listedRefreshes = 50

// feedRefreshes is what brought a feed its data.
type feedRefreshes struct {
	Head      feedHead
	Refreshes []client.Refresh
}

func showFeedRefreshes(v *visit) error {
	head, err := headOf(v, "refreshes")
	if err != nil {
		return err
	}
	p := feedRefreshes{Head: head}
	v.api.PageSize = listedRefreshes
	for r, err := range v.api.Refreshes(v.r.Context(), head.ID) {
		if err != nil {
			return err
		}
		if p.Refreshes = append(p.Refreshes, r); len(p.Refreshes) == listedRefreshes {
			break
		}
	}
	return v.render(http.StatusOK, "feed_refreshes", head.Name, p)
}

// refreshPage is one refresh with all that was asked for in it.
type refreshPage struct {
	client.Refresh
	Feed  client.DataFeed
	Trace traceView
	// Newer and Older are the refreshes beside it, empty where there are none.
	Newer, Older string
	// Rejects are the first rows that were not stored, or a page of them, and More is
	// where the others are.
	Rejects []reject
	More    string
}

// AskedBy says what asked for the refresh.
func (p refreshPage) AskedBy() string {
	switch t := p.Trigger; {
	case t == feedmill.TriggerSchedule && p.Feed.Schedule != nil:
		return "schedule, " + scheduleWords(p.Feed.Schedule)
	case t == feedmill.TriggerRetry:
		return "the service, after a failure"
	case strings.HasPrefix(t, "key_"):
		return short(t)
	default:
		return t
	}
}

// RunningFor is how long the refresh has been running.
func (p refreshPage) RunningFor() string { return span(time.Since(p.StartedAt)) }

// stages are those of a refresh, in order, with what each is called before and while it is.
var stages = []struct {
	stage         feedmill.RefreshStage
	during, badge string
}{
	{feedmill.StageWaiting, "Waiting for a slot", "Wait"},
	{feedmill.StageFetching, "Fetching", "Fetch"},
	{feedmill.StageModelling, "Modelling", "Model"},
	{feedmill.StageStoring, "Storing", "Store"},
}

// StageWords is what is being done.
func (p refreshPage) StageWords() string {
	for _, s := range stages {
		if s.stage == p.Stage {
			return s.during
		}
	}
	return "Running"
}

// Stages are the steps of a refresh that runs: done, under way or to come.
func (p refreshPage) Stages() (all []badge) {
	b := badge{"disc", "good", ""}
	for _, s := range stages {
		b.Word = s.badge
		if s.stage == p.Stage {
			b.Shape, b.Tone = "arc", "running"
		} else if b.Shape == "arc" {
			b.Shape, b.Tone = "ring", "quiet"
		}
		all = append(all, b)
	}
	return all
}

// StoredPart and RejectedPart are of a line of a thousand; what was rejected is seen however
// little it is.
func (p refreshPage) StoredPart() int64 { return 1000 - p.RejectedPart() }

// RejectedPart is the rest of the line.
func (p refreshPage) RejectedPart() int64 {
	if p.RowsRejected == 0 {
		return 0
	}
	return max(p.RowsRejected*1000/max(p.RowsIn, 1), 4)
}

// reject is a row that was not stored.
type reject struct {
	client.Reject
	Whole string
}

// shownRejects is how many rejected rows the page of a refresh has, and listedRejects how
// many a page of them has.
const shownRejects, listedRejects = 9, 100

func showRefresh(v *visit) error {
	ctx, id := v.r.Context(), v.r.PathValue("id")
	f, err := v.api.DataFeed(ctx, id)
	if err != nil {
		return err
	}
	r, err := v.api.Refresh(ctx, id, v.r.PathValue("rid"))
	if err != nil {
		return err
	}
	p := refreshPage{Refresh: r, Feed: f, Trace: waterfall(r.Trace)}
	if r.Error != nil {
		p.Trace.say(r.Error.Source)
	}
	if p.Newer, p.Older, err = neighbours(v, id, r.ID); err != nil {
		return err
	}
	if r.RowsRejected > 0 && r.Ended() {
		if err := p.reject(v, shownRejects); err != nil {
			return err
		}
	}
	return v.render(http.StatusOK, "refresh", "Refresh of "+f.Name, p)
}

// neighbouring is how many of the newest refreshes are looked through for one.
const neighbouring = 500

// neighbours are the refreshes of a feed before and after one, empty where there are none or
// it is too old to be found.
func neighbours(v *visit, feed, id string) (newer, older string, err error) {
	looked, found := 0, false
	for r, err := range v.api.Refreshes(v.r.Context(), feed) {
		switch {
		case err != nil:
			return "", "", err
		case found:
			return newer, r.ID, nil
		case r.ID == id:
			found = true
		case looked == neighbouring:
			return "", "", nil
		default:
			newer = r.ID
		}
		looked++
	}
	if !found {
		newer = ""
	}
	return newer, "", nil
}

// showRejects is all rows that a refresh did not store, page by page.
func showRejects(v *visit) error {
	ctx, id := v.r.Context(), v.r.PathValue("id")
	f, err := v.api.DataFeed(ctx, id)
	if err != nil {
		return err
	}
	r, err := v.api.Refresh(ctx, id, v.r.PathValue("rid"))
	if err != nil {
		return err
	}
	p := refreshPage{Refresh: r, Feed: f}
	if err := p.reject(v, listedRejects); err != nil {
		return err
	}
	return v.render(http.StatusOK, "rejects", "Rejected rows of "+f.Name, p)
}

// reject reads a page of the rows that were not stored.
func (p *refreshPage) reject(v *visit, size int) error {
	rows, more, err := pageOf(v, size, func() iter.Seq2[client.Reject, error] {
		return v.api.RejectedRows(v.r.Context(), p.Feed.ID, p.ID)
	})
	if err != nil {
		return err
	}
	p.More = more
	for _, row := range rows {
		var whole strings.Builder
		out := json.NewEncoder(&whole)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		if err := out.Encode(row.Raw); err != nil {
			return err
		}
		row.Value = clip(row.Value)
		p.Rejects = append(p.Rejects, reject{row, clipAt(whole.String(), wholeCharacters)})
	}
	return nil
}

// wholeCharacters is how much of a rejected row a page has; all of it is in the download.
const wholeCharacters = 4000

func cancelRefresh(v *visit) error {
	id, rid := v.r.PathValue("id"), v.r.PathValue("rid")
	if _, err := v.api.CancelRefresh(v.r.Context(), id, rid); err != nil {
		return err
	}
	return v.redirect(feedPagePath(id) + "/refreshes/" + rid + "?did=cancelled")
}
