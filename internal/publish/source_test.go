package publish

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestSourceEvents(t *testing.T) {
	f := newFixture(t)
	source := feedmill.NewID(feedmill.PrefixDataSource)
	feeds := []feedmill.ID{feedmill.NewID(feedmill.PrefixDataFeed), feedmill.NewID(feedmill.PrefixDataFeed)}
	f.subscribe(t, "datasource.refreshed")
	events, err := SourceEvents(feedmill.SourceEvent{Workspace: f.ws, Type: "datasource.refreshed", Source: source, Feeds: feeds, Data: map[string]any{"rows": 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, made, err := f.store.Accept(t.Context(), events, nil)
	if err != nil || len(made) != 2 {
		t.Fatalf("made %+v, %v", made, err)
	}
	for i, due := range made {
		if due.ResourceID != string(feeds[i]) || due.Type != "datafeed.source.refreshed" || strings.Contains(string(due.Payload), "ds_") {
			t.Errorf("made %+v %s", due.Delivery, due.Payload)
		}
	}
}

func TestTimesOfSourceEvents(t *testing.T) {
	given := time.Date(2026, 11, 15, 13, 0, 0, 987_654_321, time.FixedZone("", 3600))
	for _, at := range []time.Time{given, {}} {
		events, err := SourceEvents(feedmill.SourceEvent{Type: "datasource.refreshed", Source: "ds_1", Feeds: []feedmill.ID{feedmill.NewID(feedmill.PrefixDataFeed)}, Timestamp: at})
		if err != nil {
			t.Fatal(err)
		}
		want := at.UTC().Truncate(time.Millisecond)
		if at.IsZero() {
			want = events[0].ID.Time()
		}
		if !events[0].Timestamp.Equal(want) || !strings.Contains(string(events[0].Payload), want.UTC().Format(feedmill.TimestampFormat)) {
			t.Errorf("the event is of %v with %s, want %v", events[0].Timestamp, events[0].Payload, want)
		}
	}
}

// The same facts give the same text.
func TestTextOfSourceEvents(t *testing.T) {
	data := make(map[string]any)
	for i := range 50 {
		data[fmt.Sprint("field", i)] = i
	}
	texts := make(map[string]bool)
	for range 5 {
		events, err := SourceEvents(feedmill.SourceEvent{Type: "datasource.refreshed", Source: "ds_1", Feeds: []feedmill.ID{"df_1"}, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(events[0].Payload), `"data":`)
		texts[text] = true
	}
	if len(texts) != 1 {
		t.Errorf("the same event has %d texts", len(texts))
	}
	data["field"] = make(chan int)
	if events, err := SourceEvents(feedmill.SourceEvent{Type: "datasource.refreshed", Feeds: []feedmill.ID{"df_1"}, Data: data}); err == nil || events != nil {
		t.Errorf("data that has no text makes %v", events)
	}
}
