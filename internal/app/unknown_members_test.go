package app

import (
	"slices"
	"strings"
	"testing"
)

// TestUnknownMembersHideNoFaults: a request with an unknown member lists its other
// faults, too.
func TestUnknownMembersHideNoFaults(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: slices.Clone(webhooks.env)})
	api := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"request":{"url":"http://127.0.0.1:1/"}}`})
	var feed shownFeed
	api.data(t, &feed)
	orders := s.orders(t)
	var connection shownFeed
	s.send(t, request{method: "POST", path: "/connections", body: `{"serviceName":"shop","connector":"postgres","config":{"host":"127.0.0.1","port":1,"database":"d","user":"u"}}`}).data(t, &connection)
	for _, test := range []struct{ method, path, body, want string }{
		{"POST", "/data_feeds?type=rest", `{"extra":1,"request":{"url":"x","more":1},"schedule":{"every":"1s"}}`, "/extra /request/more /request/url /schedule/every"},
		{"PATCH", "/data_feeds/" + feed.ID, `{"extra":1,"request":{"url":"x","more":1},"schedule":{"every":"1s"}}`, "/extra /request/more /request/url /schedule/every"},
		{"PATCH", "/data_feeds/" + feed.ID, `{"extra":null,"schedule":{"every":"1h"}}`, "/extra"},
		{"POST", "/data_feeds?type=rest", `{"request":{"url":"x"},"keep":{"versions":0,"more":1},"expect":{"minRows":-1,"more":1},"schedule":{"every":"1s"}}`, "/expect/minRows /expect/more /keep/more /keep/versions /request/url /schedule/every"},
		{"POST", "/data_feeds/preview?type=rest", `{"request":{"url":"x"},"keep":{"more":1}}`, "/keep/more /request/url"},
		{"PATCH", "/data_feeds/" + feed.ID, `{"keep":{"more":1},"expect":{"more":1},"schedule":{"every":"1s"}}`, "/expect/more /keep/more /schedule/every"},
		{"PATCH", "/data_feeds/" + feed.ID, `{"keep":{"more":1},"schedule":{"every":"1h"}}`, "/keep/more"},
		{"POST", "/data_feeds?type=queryBuilder", `{"serviceName":"feeds","viewName":"` + orders.ID + `","query":{"fields":[{"field":"nothing"}]},"keep":{"more":1}}`, "/keep/more /query/fields/0/field"},
		{"POST", "/data_feeds?type=queryBuilder", `{"serviceName":"feeds","viewName":"` + orders.ID + `","query":{"fields":[{"field":"id","filters":[{"op":"near"}]},{"field":"id"},{"field":"nothing"}],"limit":0},"mode":"some","schedule":{"every":"1s"}}`, "/mode /query/fields/0/filters/0/op /query/fields/1/field /query/fields/2/field /query/limit /schedule/every"},
		{"POST", "/data_feeds/" + orders.ID + "/query", `{"fields":[{"field":"nothing","more":1},{"field":"id","filters":[{"op":"gt","values":["x"]}]}],"extra":1}`, "/extra /fields/0/field /fields/0/more /fields/1/filters/0/values/0"},
		{"POST", "/connections", `{"extra":1,"serviceName":"a/b","connector":"postgres","config":{"host":"127.0.0.1","port":0,"user":"u","more":1}}`, "/config/database /config/more /config/port /extra /serviceName"},
		{"PATCH", "/connections/" + connection.ID, `{"extra":1,"serviceName":"a/b","config":{"port":0,"more":1}}`, "/config/more /config/port /extra /serviceName"},
		{"POST", "/events/subscriptions", `{"extra":1,"url":"x","events":["nothing"],"delivery":{"more":1}}`, "/delivery/more /events/0 /extra /url"},
	} {
		got := s.send(t, request{method: test.method, path: test.path, body: test.body})
		places := got.problem(t).places()
		slices.Sort(places)
		if all := strings.ReplaceAll(strings.Join(places, " "), "pointer ", ""); got.status != 400 || all != test.want {
			t.Errorf("%s %s %s: %d at %s: %s", test.method, test.path, test.body, got.status, all, got.body)
		}
	}
}
