package storetest

import (
	"testing"

	"github.com/feedmill/feedmill"
)

var feedCases = []testCase{
	{name: "the source behind a feed is found in its workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		source := feedmill.NewID(feedmill.PrefixDataSource)
		one, two := feedmill.NewID(feedmill.PrefixDataFeed), feedmill.NewID(feedmill.PrefixDataFeed)
		// To say the same again changes nothing.
		for _, feed := range []feedmill.ID{one, two, one} {
			must(t, s.RegisterFeed(ctx, a.ID, feed, source))
		}
		for _, feed := range []feedmill.ID{one, two} {
			got, err := s.FeedSource(ctx, a.ID, feed)
			must(t, err)
			if got != source {
				t.Errorf("source is %q, want %q", got, source)
			}
			_, err = s.FeedSource(ctx, b.ID, feed)
			want(t, err, feedmill.ErrNotFound)
		}
		_, err := s.FeedSource(ctx, a.ID, feedmill.NewID(feedmill.PrefixDataFeed))
		want(t, err, feedmill.ErrNotFound)
	}},
}
