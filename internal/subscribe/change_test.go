package subscribe

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestStates(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	long := at.Add(-10 * 24 * time.Hour)
	for _, c := range []struct {
		name string
		from feedmill.Subscription
		to   feedmill.SubscriptionState
		want feedmill.Subscription
	}{
		{
			"enabled again, the time begins anew",
			feedmill.Subscription{State: "disabled", DisabledReason: "failing", LastSuccessAt: long, WarnedAt: long, FailingSince: long, Failures: 9},
			"active",
			feedmill.Subscription{State: "active", LastSuccessAt: long},
		},
		{"resumed, it does too", feedmill.Subscription{State: "paused", LastSuccessAt: long, WarnedAt: long}, "active", feedmill.Subscription{State: "active", LastSuccessAt: long}},
		{"active all along", feedmill.Subscription{State: "active", LastSuccessAt: long, WarnedAt: long}, "active", feedmill.Subscription{State: "active", LastSuccessAt: long, WarnedAt: long}},
		{"disabled already", feedmill.Subscription{State: "disabled", DisabledReason: "gone"}, "disabled", feedmill.Subscription{State: "disabled", DisabledReason: "gone"}},
		{"disabled", feedmill.Subscription{State: "paused", LastSuccessAt: long}, "disabled", feedmill.Subscription{State: "disabled", DisabledReason: "user", LastSuccessAt: long}},
		{"paused instead of disabled", feedmill.Subscription{State: "disabled", DisabledReason: "gone"}, "paused", feedmill.Subscription{State: "paused"}},
	} {
		got := c.from
		setState(&got, c.to, at)
		if got.State != c.want.State || got.DisabledReason != c.want.DisabledReason || !got.LastSuccessAt.Equal(c.want.LastSuccessAt) || !got.WarnedAt.Equal(c.want.WarnedAt) || !got.FailingSince.Equal(c.want.FailingSince) || got.Failures != c.want.Failures {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
