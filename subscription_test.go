package feedmill

import (
	"maps"
	"testing"
	"time"
)

// Slots are stored: those of subscriptions that there are must not move.
func TestSlotsStay(t *testing.T) {
	for id, want := range map[ID]int{"sub_01h455vb4pex5vsknk084sn02q": 238, "sub_7zzzzzzzzzzzzzzzzzzzzzzzzz": 3, "": 197} {
		if got := Slot(id); got != want {
			t.Errorf("%s is in slot %d, want %d", id, got, want)
		}
	}
}

func TestSlotsAreUsedEvenly(t *testing.T) {
	const each = 100
	var in [Slots]int
	for range each * Slots {
		in[Slot(NewID(PrefixSubscription))]++
	}
	for slot, n := range in {
		if n < each/3 || n > each*3 {
			t.Errorf("slot %d has %d of %d subscriptions", slot, n, each*Slots)
		}
	}
}

func TestListenerEnd(t *testing.T) {
	made := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for connected, want := range map[time.Duration]time.Duration{
		0:                              10 * time.Minute,
		time.Hour:                      time.Hour + 10*time.Minute,
		23*time.Hour + 50*time.Minute:  24 * time.Hour,
		23*time.Hour + 55*time.Minute:  24 * time.Hour,
		24*time.Hour + time.Nanosecond: 24 * time.Hour,
	} {
		if got := ListenerEnd(made, made.Add(connected)).Sub(made); got != want {
			t.Errorf("connected after %v it ends after %v, want %v", connected, got, want)
		}
	}
}

func TestListening(t *testing.T) {
	if (Subscription{}).Listening() || !(Subscription{ListenUntil: time.Unix(1, 0)}).Listening() {
		t.Error("a listener is a subscription that ends at a time")
	}
}

func TestTopics(t *testing.T) {
	feed := InternalFilter("ds_01h455vb4pex5vsknk084sn02q", "df_01h455vb4pex5vsknk084sn02q")
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
		s := Subscription{Events: test.events, ResourceID: test.filter}
		if got := maps.Collect(s.Topics()); !maps.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestSelects(t *testing.T) {
	event := Event{Type: "metric.created", ResourceID: "m_1"}
	news := Event{Type: "datafeed.source.refreshed", ResourceID: "df_1", Source: "ds_1"}
	for _, test := range []struct {
		events []string
		filter string
		event  Event
		want   bool
	}{
		{[]string{"metric.created"}, "", event, true},
		{[]string{"metric.*"}, "", event, true},
		{[]string{"tag.*", "metric.*"}, "m_1", event, true},
		{[]string{"metric.*"}, "m_2", event, false},
		{[]string{"metric.updated", "tag.*"}, "", event, false},
		{nil, "", event, false},
		{[]string{InternalName("datafeed.source.*")}, "", news, true},
		{[]string{InternalName("datafeed.source.refreshed")}, InternalFilter("ds_1", "df_1"), news, true},
		{[]string{InternalName("datafeed.source.refreshed")}, InternalFilter("ds_1", "df_2"), news, false},
		{[]string{"metric.*"}, "", news, false},
		{[]string{EveryEvent}, "", event, true},
		{[]string{EveryEvent}, "m_1", event, true},
		{[]string{EveryEvent}, "m_2", event, false},
		{[]string{EveryEvent}, "", news, false},
		{[]string{InternalName("datafeed.source.*"), EveryEvent}, "m_2", news, true},
	} {
		s := Subscription{Events: test.events, ResourceID: test.filter}
		if got := s.Selects(test.event); got != test.want {
			t.Errorf("%q of %q hears of %s: %v, want %v", test.events, test.filter, test.event.Type, got, test.want)
		}
		if got, want := s.OfSources(), len(test.events) > 0 && IsInternalName(test.events[0]); got != want {
			t.Errorf("%q is of sources: %v, want %v", test.events, got, want)
		}
	}
}
