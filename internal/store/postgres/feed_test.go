package postgres

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestChangeMakesRoom changes a feed with an event on a day that nobody has made
// room for, which only the change itself knows of.
func TestChangeMakesRoom(t *testing.T) {
	db, at := open(t, pgtest.New(t)), time.Now()
	w := subscribed(t, db).Workspace
	f := feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: w, CreatedAt: at, UpdatedAt: at}
	if err := db.CreateFeed(t.Context(), feedmill.NewFeed{Feed: f}, nil, nil); err != nil {
		t.Fatal(err)
	}
	later := at.AddDate(0, 0, 30)
	e := feedmill.Event{
		ID: feedmill.FirstID(feedmill.PrefixEvent, later), Workspace: w, Type: "datafeed.source.updated", Timestamp: later, Payload: []byte("{}"),
	}
	got, err := db.ChangeFeed(t.Context(), w, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		f.Name += "new"
		return nil, []feedmill.Event{e}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "new" {
		t.Errorf("the name is %q", got.Name)
	}
	if _, err := db.Event(t.Context(), w, e.ID); err != nil {
		t.Error(err)
	}
}
