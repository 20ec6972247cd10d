package app

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
)

// forgetful is a store that does not find feeds for a while.
type forgetful struct {
	store
	off *atomic.Bool
}

func (f forgetful) Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error) {
	if f.off.Load() {
		return nil, errors.New("not now")
	}
	return f.store.Feeds(ctx, workspace, p)
}

// A feed of a feed that nobody had fetched when its parent had a new version catches
// up with it, and one whose parent is deleted says so.
func TestFeedsOfFeedsCatchUp(t *testing.T) {
	t.Parallel()
	var off atomic.Bool
	s := start(t, setup{env: webhooks.env, adapt: func(real store) store { return forgetful{real, &off} }})
	parent := s.orders(t)
	// Nobody comes to know who the children are.
	off.Store(true)
	child := s.queried(t, `{"name":"Child","serviceName":"feeds","viewName":"`+parent.ID+`","query":{"fields":[{"field":"id"}]}}`)
	s.sendData(t, "PUT", "/data_feeds/"+parent.ID+"/data", "text/csv", shopOrders+"5,paid,1.25,2026-01-05T10:00:00Z\n")
	off.Store(false)
	s.send(t, request{method: "GET", path: "/data_feeds/" + child.ID}).data(t, &child)
	if child.Version != 1 || child.State != "ready" {
		t.Fatalf("%+v", child)
	}
	s.stop()
	s = serveApp(t, s.app, s.log)
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + child.ID}).data(t, &child)
		return child.Version == 2
	})
	if got := s.read(t, child.ID, "&sort=-id&limit=1"); got != `{"id":5}`+"\n" {
		t.Error(got)
	}

	if got := s.send(t, request{method: "DELETE", path: "/data_feeds/" + parent.ID + "?force=true"}); got.status != 204 {
		t.Fatal(got.body)
	}
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + child.ID}).data(t, &child)
		return child.LastError != nil
	})
	if child.LastError.Type != "/problems/unknown-view" || !strings.Contains(child.LastError.Detail, parent.ID) || child.Version != 2 {
		t.Errorf("%+v %+v", child, child.LastError)
	}
	if got := s.send(t, request{method: "GET", path: "/events?type=datafeed.source.refresh_failed&resourceId=" + child.ID}); !strings.Contains(got.body, child.ID) {
		t.Error(got.body)
	}
}
