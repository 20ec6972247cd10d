package ui

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

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
	Trace []traced
}

// traced is a request of the trace with its bar in the waterfall.
type traced struct {
	Number int
	client.TracedRequest
	Short string
	Tone  string
	Bar   template.HTML
}

// shownRequests bounds how much of a trace a page has.
const shownRequests = 500

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
	return v.render(http.StatusOK, "refresh", "Refresh of "+f.Name, refreshPage{r, f, waterfall(r.Trace)})
}

func cancelRefresh(v *visit) error {
	id, rid := v.r.PathValue("id"), v.r.PathValue("rid")
	if _, err := v.api.CancelRefresh(v.r.Context(), id, rid); err != nil {
		return err
	}
	return v.redirect(feedPagePath(id) + "/refreshes/" + rid + "?did=cancelled")
}

// waterfall draws a trace against the time that all of it took.
func waterfall(trace []client.TracedRequest) []traced {
	if len(trace) == 0 {
		return nil
	}
	trace = trace[:min(len(trace), shownRequests)]
	begin, end := trace[0].At, trace[0].At
	for _, t := range trace {
		if last := t.At.Add(time.Duration(t.DurationMS * float64(time.Millisecond))); last.After(end) {
			end = last
		}
	}
	whole := max(end.Sub(begin), time.Millisecond)
	all := make([]traced, len(trace))
	for i, t := range trace {
		tone := ""
		switch {
		case t.Error != "" || t.Status >= 500 || t.Status == 0:
			tone = "bad"
		case t.Status >= 400:
			tone = "warn"
		}
		left := float64(t.At.Sub(begin)) / float64(whole) * 300
		width := max(t.DurationMS*float64(time.Millisecond)/float64(whole)*300, 2)
		all[i] = traced{Number: i + 1, TracedRequest: t, Short: shortURL(t.URL), Tone: tone, Bar: template.HTML(fmt.Sprintf(
			`<svg width="302" height="10" aria-hidden="true" class="bar %s"><rect x="%.1f" y="0" width="%.1f" height="10" rx="1"/></svg>`, tone, left, width))}
	}
	return all
}

// shortURL is the path and query of a URL.
func shortURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	return strings.TrimPrefix(u.RequestURI(), "//")
}
