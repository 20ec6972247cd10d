package ui

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/client"
)

// TestPortalColorsCanBeRead draws accents and measures every text in them.
func TestPortalColorsCanBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		accent := rapid.StringMatching(`#[0-9a-fA-F]{6}`).Draw(t, "accent")
		values := make(map[string]color)
		style := strings.TrimSuffix(strings.TrimPrefix(string(portalStyle(accent)), ":root{"), "}")
		for part := range strings.SplitSeq(style, ";") {
			name, value, _ := strings.Cut(part, ":")
			c, ok := parseColor(value)
			if !ok {
				t.Fatalf("%s is no color", part)
			}
			values[name] = c
		}
		if given, _ := parseColor(accent); values["--brand"] != given {
			t.Errorf("the button is %v, not %s", values["--brand"], accent)
		}
		for what, pair := range map[string][2]color{
			"a link":             {values["--accent"], portalGround},
			"a link on a chip":   {values["--accent"], values["--accent-soft"]},
			"the text of button": {values["--on-brand"], values["--brand"]},
		} {
			// A color of eight bits can lose a little of what was computed.
			if got := pair[0].contrast(pair[1]); got < readable-.1 {
				t.Errorf("%s has a contrast of %.2f", what, got)
			}
		}
	})
}

func TestPortalStyleOfNoAccent(t *testing.T) {
	for _, accent := range []string{"", "red", "#12345", "#12345g", "#1234567"} {
		if got := portalStyle(accent); got != "" {
			t.Errorf("%q is the style %s", accent, got)
		}
	}
}

// TestHourBars draws a bar for each of 24 hours, whenever the statistics begin.
func TestHourBars(t *testing.T) {
	now := time.Date(2026, 11, 17, 18, 52, 0, 0, time.UTC)
	bucket := func(before time.Duration, delivered, failed int64) client.StatsBucket {
		return client.StatsBucket{From: now.Add(-before), DeliveryCount: client.DeliveryCount{Delivered: delivered, Failed: failed}}
	}
	stats := client.SubscriptionStats{Buckets: []client.StatsBucket{bucket(25*time.Hour, 1000, 0), bucket(52*time.Minute, 41, 22), bucket(22*time.Hour, 4, 0)}}
	got := string(attemptBars(stats, now))
	for part, n := range map[string]int{"<g>": 24, `class="none"`: 22, `class="bad"`: 1, "18:00 to 19:00 UTC: 41 delivered, 22 failed": 1, "20:00 to 21:00 UTC: 4 delivered, 0 failed": 1, "1000": 0} {
		if strings.Count(got, part) != n {
			t.Errorf("%q is there %d times, not %d: %s", part, strings.Count(got, part), n, got)
		}
	}
}
