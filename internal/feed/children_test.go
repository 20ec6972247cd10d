package feed

import (
	"context"
	"errors"
	"testing"

	"github.com/feedmill/feedmill"
)

// specIsParent is a source whose specs are the parents of its feeds.
type specIsParent struct{ Source }

func (specIsParent) Parent(spec []byte) feedmill.ID { return feedmill.ID(spec) }

func (specIsParent) Upstream([]byte) feedmill.UpstreamVersion { return feedmill.UpstreamVersion{} }

// mapped is a store of feeds by their parents.
type mapped struct {
	Store
	feeds map[feedmill.ID]feedmill.ID
}

func (m mapped) Feed(_ context.Context, _, id feedmill.ID) (feedmill.Feed, error) {
	parent, ok := m.feeds[id]
	if !ok {
		return feedmill.Feed{}, feedmill.ErrNotFound
	}
	return feedmill.Feed{ID: id, Source: "of " + id, Type: feedmill.FeedREST, Spec: []byte(parent)}, nil
}

func (m mapped) Feeds(_ context.Context, _ feedmill.ID, _ feedmill.Page) (all []feedmill.Feed, err error) {
	for id := range m.feeds {
		feed, _ := m.Feed(context.Background(), "", id)
		all = append(all, feed)
	}
	return all, nil
}

// Feeds that two people have made children of each other at the same time are neither
// followed for ever nor looked at for ever.
func TestFeedsThatAreMadeOfEachOther(t *testing.T) {
	m := mapped{feeds: map[feedmill.ID]feedmill.ID{"a": "b", "b": "a", "c": "b", "d": "", "e": "d", "self": "self"}}
	f := &Feeds{Mill: &Mill{Parts: Parts{Sources: map[feedmill.FeedType]Source{feedmill.FeedREST: specIsParent{}}}}, Options: Options{Store: m}}
	for spec, fine := range map[string]bool{"": true, "d": true, "e": true, "a": false, "c": false, "nobody": false} {
		err := f.checkParent(t.Context(), "", "new", "of new", feedmill.FeedREST, []byte(spec))
		if refused := errors.Is(err, feedmill.ErrInvalid); refused == fine {
			t.Errorf("a child of %q: %v", spec, err)
		}
	}
	for parent, want := range map[feedmill.ID]int{"a": 0, "b": 1, "d": 1, "e": 0, "self": 0} {
		got, err := f.childrenOf(t.Context(), "ws", parent)
		if err != nil || len(got) != want {
			t.Errorf("the children of %s: %v, %v", parent, got, err)
		}
	}
	// What was read before a change is not taken for what is there after it.
	f.children.forget("ws")
	m.feeds["f"] = "e"
	if got, err := f.childrenOf(t.Context(), "ws", "e"); err != nil || len(got) != 1 {
		t.Errorf("the children of e: %v, %v", got, err)
	}
}
