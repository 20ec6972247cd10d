package app

import (
	"strings"
	"testing"
)

// A feed of a feed follows its parent, and says so when that is deleted.
func TestFeedsOfFeedsFollow(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	parent := s.orders(t)
	child := s.queried(t, `{"name":"Child","serviceName":"feeds","viewName":"`+parent.ID+`","query":{"fields":[{"field":"id"}]}}`)
	s.sendData(t, "PUT", "/data_feeds/"+parent.ID+"/data", "text/csv", shopOrders+"5,paid,1.25,2026-01-05T10:00:00Z\n")
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
