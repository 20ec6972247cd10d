package feedmill

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// word draws the last part of an event's name.
var word = rapid.StringMatching(`[a-z][a-z_]{0,15}`)

func drawID(t *rapid.T, prefix, label string) ID {
	return ID(prefix + "_" + rapid.StringMatching(`[0-7][0-9a-hjkmnp-tv-z]{25}`).Draw(t, label))
}

func TestNamesSurviveTheGateway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		family := rapid.SampledFrom([]string{"metric", "datafeed.source", "datafeed", "datafeed.sources", "subscription", "a.b.c"}).Draw(t, "family")
		name := family + "." + rapid.OneOf(word, rapid.Just("*")).Draw(t, "word")
		inside := InternalName(name)
		if got := PublicName(inside); got != name {
			t.Fatalf("%s is %s inside and comes back as %s", name, inside, got)
		}
		if IsSourceName(name) != IsInternalName(inside) {
			t.Fatalf("%s is %s inside", name, inside)
		}
		if !IsSourceName(name) && inside != name {
			t.Fatalf("%s of another family became %s", name, inside)
		}
		if IsSourceName(inside) {
			t.Fatalf("%s is public, inside", inside)
		}
	})
}

func TestInternalNamesSurviveTheGateway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := internalFamily + "." + rapid.OneOf(word, rapid.Just("*")).Draw(t, "word")
		public := PublicName(name)
		if IsInternalName(public) || InternalName(public) != name {
			t.Fatalf("%s is %s outside and comes back as %s", name, public, InternalName(public))
		}
	})
}

func TestFiltersSurviveTheGateway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, feed := drawID(t, PrefixDataSource, "source"), drawID(t, PrefixDataFeed, "feed")
		if got := PublicFilter(InternalFilter(source, feed)); got != string(feed) {
			t.Fatalf("the feed %s comes back as %s", feed, got)
		}
		other := rapid.StringMatching(`[a-z0-9_/:.-]{0,40}`).Filter(func(s string) bool { return !strings.HasPrefix(s, "ds_") }).Draw(t, "other")
		if got := PublicFilter(other); got != other {
			t.Fatalf("the filter %q of another family comes back as %q", other, got)
		}
	})
}

// drawSourceEvent draws an internal event, in whose facts the source may be
// named but no feed.
func drawSourceEvent(t *rapid.T) SourceEvent {
	source := drawID(t, PrefixDataSource, "source")
	e := SourceEvent{
		Workspace: drawID(t, PrefixWorkspace, "workspace"), Type: internalFamily + "." + word.Draw(t, "type"),
		Timestamp: time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "time")).UTC(), Source: source,
		Feeds: rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) ID { return drawID(t, PrefixDataFeed, "feed") }), 0, 4, rapid.ID).Draw(t, "feeds"),
		Data:  make(map[string]any),
	}
	for range rapid.IntRange(0, 5).Draw(t, "facts") {
		name := rapid.OneOf(rapid.Just("dataSourceId"), rapid.StringMatching(`[a-z]{1,8}`)).Draw(t, "name")
		e.Data[name] = rapid.OneOf(
			rapid.Just(any(string(source))), rapid.Just(any(true)), rapid.Map(rapid.Int(), func(n int) any { return n }),
			rapid.Map(rapid.StringMatching(`[a-z ]{0,12}`), func(s string) any { return s }),
		).Draw(t, "value")
	}
	return e
}

func TestEventsSurviveTheGateway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawSourceEvent(t)
		facts := e.PublicEvents()
		if len(facts) != len(e.Feeds) {
			t.Fatalf("%d feeds make %d public events", len(e.Feeds), len(facts))
		}
		for i, f := range facts {
			if f.Feed != e.Feeds[i] {
				t.Fatalf("event %d is of %s, want %s", i, f.Feed, e.Feeds[i])
			}
			back := f.Internal()
			want := e
			want.Feeds = []ID{f.Feed}
			if !reflect.DeepEqual(back, want) {
				t.Fatalf("%+v comes back as %+v", want, back)
			}
		}
	})
}

func TestNothingInternalPassesTheGateway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawSourceEvent(t)
		for _, f := range e.PublicEvents() {
			if !IsSourceName(f.Type) || !IsID(PrefixDataFeed, string(f.Feed)) {
				t.Fatalf("%s of %s is no public event", f.Type, f.Feed)
			}
			for name, v := range f.Data {
				if text, _ := v.(string); strings.Contains(text, string(e.Source)) || strings.Contains(strings.ToLower(name), "datasource") {
					t.Fatalf("the public event says %q: %q", name, v)
				}
			}
		}
	})
}

func TestFiltersThatOnlyLookLikeTheGateways(t *testing.T) {
	source, feed := string(NewID(PrefixDataSource)), string(NewID(PrefixDataFeed))
	for filter, want := range map[string]string{
		source + "/" + feed: feed, source + "/x": source + "/x", "x/" + feed: "x/" + feed, feed: feed, source: source, source + feed: source + feed, "": "",
	} {
		if got := PublicFilter(filter); got != want {
			t.Errorf("%s is %s outside, want %s", filter, got, want)
		}
	}
}
