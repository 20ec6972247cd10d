package mcp

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// shownRequests is the number of requests of a refresh that are shown, from the end.
const shownRequests = 5

// explainRefresh says what a refresh did, and why it failed if it did.
func explainRefresh(ctx context.Context, a *api, args *arguments) (result, error) {
	feed, id := args.id("feed", "search_feeds"), args.text("refresh")
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	f, err := record[client.DataFeed](ctx, a, call{method: http.MethodGet, path: feedPath(feed)})
	if err != nil {
		return result{}, err
	}
	if id == "" {
		if f.LastRefresh == nil {
			return result{summary: explanation{"The feed was never refreshed.", "Call refresh_feed, or upload data."}}, nil
		}
		id = f.LastRefresh.ID
	}
	r, err := record[client.Refresh](ctx, a, call{method: http.MethodGet, path: refreshPath(feed, id)})
	if err != nil {
		return result{}, err
	}
	out := struct {
		Feed         string                `json:"feed"`
		FeedState    feedmill.FeedState    `json:"feedState"`
		Refresh      string                `json:"refresh"`
		State        feedmill.RefreshState `json:"state"`
		Outcome      string                `json:"outcome,omitzero"`
		Version      int64                 `json:"version,omitzero"`
		StartedAt    *time.Time            `json:"startedAt,omitzero"`
		EndedAt      *time.Time            `json:"endedAt,omitzero"`
		Requests     int64                 `json:"requests"`
		RowsIn       int64                 `json:"rowsIn"`
		RowsStored   int64                 `json:"rowsStored"`
		RowsRejected int64                 `json:"rowsRejected,omitzero"`
		Problem      string                `json:"problem,omitzero"`
		explanation
		Warnings []explainedWarning `json:"warnings,omitempty"`
	}{
		feed, f.State, r.ID, r.State, r.Outcome, r.Version, atTime(r.StartedAt), atTime(r.EndedAt),
		r.Requests, r.RowsIn, r.RowsStored, r.RowsRejected, "", whyRefresh(f, r), explainWarnings(r.Warnings),
	}
	lines := [][]byte{toJSON(map[string]string{"name": cut(f.Name, shownName), "source": cut(f.SourceLabel, shownDetail)})}
	if r.Error != nil {
		out.Problem = problemType(r.Error.Type).Slug
		lines = append(lines, toJSON(map[string]string{"error": cut(r.Error.Title, shownDetail), "detail": cut(r.Error.Detail, shownBody)}))
		if s := r.Error.Source; s != nil {
			lines = append(lines, toJSON(map[string]any{"status": s.Status, "response": cut(s.Excerpt, shownBody)}))
		}
	}
	for _, w := range warningLines(r.Warnings) {
		lines = append(lines, toJSON(map[string]warningLine{"warning": w}))
	}
	for _, q := range r.Trace[max(len(r.Trace)-shownRequests, 0):] {
		lines = append(lines, toJSON(map[string]any{"request": q.Method + " " + cut(q.URL, shownDetail), "status": q.Status, "rows": q.Rows, "error": cut(q.Error, shownDetail)}))
	}
	return result{summary: out, lines: lines}, nil
}

// explainedWarning is what a warning means and how to change it.
type explainedWarning struct {
	Code string `json:"code"`
	explanation
}

// explainWarnings explains each code of warnings once.
func explainWarnings(all []feedmill.Warning) (out []explainedWarning) {
	seen := make(map[string]bool)
	for _, w := range all {
		if seen[w.Code] || len(seen) == shownWarnings {
			continue
		}
		seen[w.Code] = true
		for _, c := range feedmill.WarningCodes() {
			if c.Code == w.Code {
				out = append(out, explainedWarning{c.Code, explanation{c.Meaning, c.Fix}})
			}
		}
	}
	return out
}

// whyRefresh explains the state of a refresh.
func whyRefresh(f client.DataFeed, r client.Refresh) explanation {
	switch r.State {
	case feedmill.RefreshPending:
		return explanation{"The refresh waits for a free slot.", "Wait, then call explain_refresh again."}
	case feedmill.RefreshRunning:
		return explanation{fmt.Sprintf("The refresh is running (stage %s).", r.Stage), "Wait, then call explain_refresh again."}
	case feedmill.RefreshFailed:
		return whyFailed(f, r)
	}
	e := explanation{"The refresh succeeded, and the rows are the same as before.", "Nothing to do."}
	if r.Version > 0 {
		e.Cause = fmt.Sprintf("The refresh succeeded and created version %d.", r.Version)
	}
	switch {
	case r.RowsRejected > 0:
		e.Cause += fmt.Sprintf(" It rejected %d rows whose values do not fit their columns.", r.RowsRejected)
		e.NextStep = fmt.Sprintf("Read the rejected rows with GET %s/rejects, then correct the source or the types of the columns.", refreshPath(f.ID, r.ID))
	case len(r.Warnings) > 0:
		e.NextStep = "Check the warnings."
	}
	return e
}

// whyFailed explains a failed refresh by the type of its error.
func whyFailed(f client.DataFeed, r client.Refresh) explanation {
	if r.Error == nil {
		return explanation{"The refresh failed without an error.", "Call refresh_feed to try again."}
	}
	t := problemType(r.Error.Type)
	e := explanation{t.Meaning, t.Fix}
	if e.Cause == "" {
		e = explanation{"The refresh failed. The error is below.", "Correct what the error names, then call refresh_feed."}
	}
	switch {
	case f.State == feedmill.FeedPaused && f.PausedReason == "failures":
		e.NextStep += " The feed is paused after repeated failures: resume it afterwards."
	case f.State == feedmill.FeedPaused:
		e.NextStep += " The feed is paused: resume it afterwards."
	case f.NextRefreshAt.IsZero():
		e.NextStep += " Then call refresh_feed."
	default:
		e.NextStep += " The next refresh is at " + f.NextRefreshAt.UTC().Format(time.RFC3339) + "."
	}
	return e
}
