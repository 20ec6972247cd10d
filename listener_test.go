package feedmill_test

import (
	"maps"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestListenerEnd(t *testing.T) {
	made := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for connected, want := range map[time.Duration]time.Duration{
		0:                              10 * time.Minute,
		time.Hour:                      time.Hour + 10*time.Minute,
		23*time.Hour + 50*time.Minute:  24 * time.Hour,
		23*time.Hour + 55*time.Minute:  24 * time.Hour,
		24*time.Hour + time.Nanosecond: 24 * time.Hour,
	} {
		if got := feedmill.ListenerEnd(made, made.Add(connected)).Sub(made); got != want {
			t.Errorf("connected after %v it ends after %v, want %v", connected, got, want)
		}
	}
}

func TestListening(t *testing.T) {
	if (feedmill.Subscription{}).Listening() || !(feedmill.Subscription{ListenUntil: time.Unix(1, 0)}).Listening() {
		t.Error("a listener is a subscription that ends at a time")
	}
}

func TestTopics(t *testing.T) {
	feed := feedmill.InternalFilter("ds_01h455vb4pex5vsknk084sn02q", "df_01h455vb4pex5vsknk084sn02q")
	for _, test := range []struct {
		name   string
		filter string
		events []string
		want   map[string]string
	}{
		{"one kind without a filter", "", []string{"metric.*", "tag.created"}, map[string]string{"metric.*": "", "tag.created": ""}},
		{"one kind with a filter", "m_1", []string{"metric.*", "tag.*"}, map[string]string{"metric.*": "m_1", "tag.*": "m_1"}},
		{"one kind with a filter that looks like the other's", feed, []string{"metric.*"}, map[string]string{"metric.*": feed}},
		{"the other kind with a filter of the first", "m_1", []string{"datasource.*"}, map[string]string{"datasource.*": "m_1"}},
		{"the other kind", feed, []string{"datasource.*"}, map[string]string{"datasource.*": feed}},
		{"both without a filter", "", []string{"metric.*", "datasource.*"}, map[string]string{"metric.*": "", "datasource.*": ""}},
		{"both with a filter for one", "m_1", []string{"metric.*", "datasource.*"}, map[string]string{"metric.*": "m_1", "datasource.*": ""}},
		{"both with a filter for the other", feed, []string{"datasource.*", "metric.*"}, map[string]string{"metric.*": "", "datasource.*": feed}},
	} {
		s := feedmill.Subscription{Events: test.events, ResourceID: test.filter}
		if got := maps.Collect(s.Topics()); !maps.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
