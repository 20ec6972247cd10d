package ui

import (
	"cmp"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// replayPage begins a replay, after it has said how many deliveries that makes, or
// shows how far one is.
type replayPage struct {
	Subscription      client.Subscription
	Title             string
	Span, State, Rate string
	// Since is the beginning that was counted from, for the replay itself.
	Since   string
	Counted *client.Replay
	Replay  *client.Replay
	Faults  map[string]string
}

// Nothing reports whether the count came to nothing, so that there is nothing to begin.
func (p replayPage) Nothing() bool {
	return p.Counted != nil && p.Counted.Total != nil && *p.Counted.Total == 0
}

// replayChoice is what can be delivered again, in words.
type replayChoice struct{ State, Words string }

// Choices are those of the form.
func (replayPage) Choices() []replayChoice {
	return []replayChoice{
		{"undelivered", "Failed deliveries: exhausted or discarded"},
		{"missing", "Missing events, such as those before the subscription was created"},
		{"delivered", "Delivered events"},
		{"all", "Every matching event"},
	}
}

func replayOf(v *visit) (replayPage, error) {
	s, err := v.api.Subscription(v.r.Context(), v.r.PathValue("id"))
	return replayPage{Subscription: s, Title: nameOf(s), Span: "24h", State: "undelivered"}, err
}

func showReplayForm(v *visit) error {
	p, err := replayOf(v)
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "replay", "Replay", p)
}

// countTime is how long a page waits for the number of a dry run.
const countTime = 10 * time.Second

// startReplay counts first, and begins when the count was seen.
func startReplay(v *visit) error {
	p, err := replayOf(v)
	if err != nil {
		return err
	}
	form := v.r.PostFormValue
	p.Span, p.State, p.Since = cmp.Or(form("span"), p.Span), cmp.Or(form("state"), p.State), form("since")
	since, ok := p.begin()
	if !ok {
		p.Faults = map[string]string{"span": "Choose a period."}
		return v.render(http.StatusUnprocessableEntity, "replay", "Replay", p)
	}
	p.Since = since.UTC().Format(time.RFC3339)
	what := client.ReplayRange{Since: since, State: feedmill.ReplaySelection(p.State), DryRun: form("go") == ""}
	r, err := v.api.ReplaySubscription(v.r.Context(), p.Subscription.ID, what)
	if _, ok := refused(err); ok {
		p.Faults, _ = faultsAt(err, map[string]string{"since": "span", "state": "state"})
		return v.render(http.StatusUnprocessableEntity, "replay", "Replay", p)
	}
	if err != nil {
		return err
	}
	if !what.DryRun {
		return v.redirect(subscriptionPagePath(p.Subscription.ID) + "/replays/" + r.ID)
	}
	for end := time.Now().Add(countTime); r.EndedAt.IsZero() && time.Now().Before(end); {
		select {
		case <-v.r.Context().Done():
			return v.r.Context().Err()
		case <-time.After(30 * time.Millisecond):
		}
		if r, err = v.api.Replay(v.r.Context(), p.Subscription.ID, r.ID); err != nil {
			return err
		}
	}
	p.Counted = &r
	return v.render(http.StatusOK, "replay", "Replay", p)
}

// begin returns the time of the first event: that of the count if there was one, otherwise
// the start of the chosen period. It reports whether the period is known.
func (p replayPage) begin() (time.Time, bool) {
	if p.Since != "" {
		since, err := time.Parse(time.RFC3339, p.Since)
		return since, err == nil
	}
	if p.Span == "all" {
		return p.Subscription.CreatedAt.Add(-30 * 24 * time.Hour), true
	}
	since := sinceOf(p.Span)
	return since, !since.IsZero()
}

func showReplay(v *visit) error {
	p, err := replayOf(v)
	if err != nil {
		return err
	}
	r, err := v.api.Replay(v.r.Context(), p.Subscription.ID, v.r.PathValue("rid"))
	if err != nil {
		return err
	}
	p.Replay = &r
	return v.render(http.StatusOK, "replay", "Replay", p)
}

func cancelReplay(v *visit) error {
	id, rid := v.r.PathValue("id"), v.r.PathValue("rid")
	if _, err := v.api.CancelReplay(v.r.Context(), id, rid); err != nil {
		return err
	}
	return v.redirect(subscriptionPagePath(id) + "/replays/" + rid + "?did=cancelled")
}
