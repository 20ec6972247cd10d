package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// TestQuietQuarters holds that a stretch in which nothing was tried is a gap in the plots of a
// subscription and no zero, and is seen as such in the strip.
func TestQuietQuarters(t *testing.T) {
	step := 15 * time.Minute
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return now.Add(-4 * step).Add(time.Duration(n) * step) }
	ms := 20.0
	s := client.SubscriptionStats{Since: at(0), Step: client.Duration(step), Buckets: []client.StatsBucket{
		{From: at(0), DeliveryCount: client.DeliveryCount{Delivered: 4, P50: &ms, P99: &ms}},
		{From: at(1), DeliveryCount: client.DeliveryCount{Delivered: 3, Failed: 1, P50: &ms, P99: &ms}},
		{From: at(3), DeliveryCount: client.DeliveryCount{Delivered: 1, P50: &ms, P99: &ms}},
		{From: at(4), DeliveryCount: client.DeliveryCount{Failed: 2}},
	}}
	p50 := statsPlots(s, now)[1].Series[0]
	line := p50.path(func(v float64) float64 { return v })
	if strings.Count(line, "M") != 2 || strings.Contains(line, " 0.0") {
		t.Errorf("the line of the answer times is %s", line)
	}
	if p50.Newest() != "20" {
		t.Errorf("the newest answer time is %s", p50.Newest())
	}
	strip := string(healthStrip(s, now))
	if strings.Count(strip, `class="none"`) != 1 || strings.Count(strip, `class="bad"`) != 2 {
		t.Errorf("the strip is %s", strip)
	}
}

// TestColouredJSON holds that colours are only that: the text stays, and nothing in it becomes
// markup.
func TestColouredJSON(t *testing.T) {
	got := string(jsonColoured(`{"a<b": ["x\\\"</script>", -1.5e3, null]}`))
	want := `{<span class="json-key">&#34;a&lt;b&#34;</span>: [<span class="json-text">&#34;x\\\&#34;&lt;/script&gt;&#34;</span>, <span class="json-value">-1.5e3</span>, <span class="json-value">null</span>]}`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, text := range []string{"", "<b>not JSON", `{"a": `} {
		if got := string(jsonColoured(text)); strings.Contains(got, "<") {
			t.Errorf("%q became %s", text, got)
		}
	}
}
