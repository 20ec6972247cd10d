package ui

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// health is how a subscription does, in words.
type health struct {
	badge
	// Since is when it began to fail, zero where that is not known, and Why the status or
	// the kind of failure.
	Since time.Time
	Why   string
}

// healthOf is the health of a subscription. why is what became of its last failed attempt,
// empty where that is not known.
func healthOf(s client.Subscription, why string) health {
	switch s.State {
	case feedmill.SubscriptionPaused:
		return health{badge: badges["paused"]}
	case feedmill.SubscriptionDisabled:
		return health{badge: badges["disabled"]}
	}
	if isFailing(s) {
		h := health{badge: badge{"cross", "bad", "Failing"}, Why: why}
		if !s.DisablingAt.IsZero() && s.Delivery.DisableAfter != client.Never {
			h.Since = s.DisablingAt.Add(-time.Duration(s.Delivery.DisableAfter))
		}
		return h
	}
	if h := s.Health; s.LastSuccessAt.IsZero() && (h == nil || h.SuccessShare == nil) {
		return health{badge: badge{"ring", "quiet", "Never called"}}
	}
	return health{badge: badge{"disc", "good", "Healthy"}}
}

func isFailing(s client.Subscription) bool {
	return s.State == feedmill.SubscriptionActive && (!s.DisablingAt.IsZero() || s.Health != nil && s.Health.Breaker != "" && s.Health.Breaker != feedmill.BreakerClosed)
}

// failures are words for kinds of failure, by a part of their texts.
var failures = [][2]string{
	{"tls", "TLS"}, {"certificate", "TLS"}, {"no such host", "DNS"}, {"dns", "DNS"}, {"timeout", "timeout"}, {"timed out", "timeout"}, {"deadline", "timeout"}, {"refused", "refused"},
}

// failureOf is the last failed attempt of a subscription in a word: its status, or TLS, DNS,
// timeout or refused.
func failureOf(v *visit, s client.Subscription) string {
	v.api.PageSize = 1
	failed := client.DeliveryQuery{States: []feedmill.DeliveryState{feedmill.DeliveryRetrying, feedmill.DeliveryExhausted}}
	for d, err := range v.api.Deliveries(v.r.Context(), s.ID, failed) {
		switch {
		case err != nil || d.LastAttempt == nil:
			return ""
		case d.LastAttempt.Status != 0:
			return strconv.Itoa(d.LastAttempt.Status)
		}
		text := strings.ToLower(d.LastAttempt.Error)
		for _, known := range failures {
			if strings.Contains(text, known[0]) {
				return known[1]
			}
		}
		return ""
	}
	return ""
}

// withHealth is a subscription with its health in words.
type withHealth struct {
	client.Subscription
	Words health
}

// failuresShown is how many failing subscriptions of a list are shown with their failure,
// each of which takes a request.
const failuresShown = 10

func withHealthOf(v *visit, list []client.Subscription) []withHealth {
	all := make([]withHealth, len(list))
	asked := 0
	for i, s := range list {
		why := ""
		if isFailing(s) && asked < failuresShown {
			asked++
			why = failureOf(v, s)
		}
		all[i] = withHealth{s, healthOf(s, why)}
	}
	return all
}

// sinceWhen is the time of a moment, or its day where that is more than a day ago.
func sinceWhen(t time.Time) template.HTML {
	if time.Since(t) > 24*time.Hour {
		return timeElement(t, t.UTC().Format("2 Jan"), "day")
	}
	return timeElement(t, t.UTC().Format("15:04"), "clock")
}
