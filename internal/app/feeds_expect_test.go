package app

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// expecting is what tests read of what is expected of a feed.
type expecting struct {
	Version             int64
	State, SchemaPolicy string
	Stale               bool
	ExpectEvery         string
	Expect              *struct{ MinRows int64 }
	LastRefresh         *struct{ Outcome string }
	LastError           *struct{ Type, Detail string }
}

func TestRowsThatAreNotExpected(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,note\n1,a\n2,b\n3,c\n4,d\n")
	path := "/data_feeds/" + f.ID
	var e expecting
	s.send(t, request{method: "PATCH", path: path, body: `{"expect":{"minRows":2,"maxDrop":0.5,"notNull":["note"],"unique":["id"]}}`}).data(t, &e)
	if e.Expect == nil || e.Expect.MinRows != 2 {
		t.Fatalf("%+v", e)
	}
	s.send(t, request{method: "PATCH", path: path + "/columns", body: `[{"id":"` + f.Columns[1].ID + `","name":"remark"}]`})
	for data, wanted := range map[string]string{
		"id,note\n1,a\n":           "minRows is 2; the number of rows drops to 1 from 4; maxDrop is 0.5",
		"id,note\n1,a\n2,\n3,\n":   `column "remark" is null in 2 rows (notNull)`,
		"id,note\n1,a\n1,b\n1,c\n": `column "id" has 1 values that occur in several rows (unique)`,
	} {
		got := s.sendData(t, "PUT", path+"/data", "text/csv", data)
		if got.status != 422 || !strings.Contains(strings.ReplaceAll(got.body, `\"`, `"`), wanted) || !strings.Contains(got.body, "/problems/unexpected-rows") {
			t.Errorf("%q: %d %s", data, got.status, got.body)
		}
	}
	s.send(t, request{method: "GET", path: path}).data(t, &e)
	if e.Version != 1 || e.State != "failed" || e.LastError == nil || e.LastError.Type != "/problems/unexpected-rows" {
		t.Errorf("%+v", e)
	}
	if f := s.put(t, f.ID, "?accept=true", "id,note\n1,a\n"); f.Version != 2 || f.State != "ready" {
		t.Errorf("%+v", f)
	}
	// What was accepted once is what the next is held against.
	if f := s.put(t, f.ID, "", "id,note\n1,a\n2,b\n"); f.Version != 3 {
		t.Errorf("%+v", f)
	}
	for body, wanted := range map[string]string{
		`{"expect":{"maxDrop":2}}`:    "/expect/maxDrop",
		`{"expect":{"minRows":-1}}`:   "/expect/minRows",
		`{"expect":{"unique":["x"]}}`: "/expect/unique/0",
		`{"expect":{"most":1}}`:       "/expect/most",
		`{"expectEvery":"1s"}`:        "/expectEvery",
		`{"schemaPolicy":"strict"}`:   "/schemaPolicy",
	} {
		if got := s.send(t, request{method: "PATCH", path: path, body: body}); got.status != 400 || !strings.Contains(got.body, wanted) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

func TestFetchedRowsThatAreNotExpected(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1},{"id":2}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"schemaPolicy":"freeze","expectEvery":"1d","expect":{"minRows":2}}`)
	path := "/data_feeds/" + f.ID
	shop.set(200, `[{"id":3}]`)
	if f, _ = s.refreshed(t, f.ID); f.State != "failed" || f.Version != 1 {
		t.Errorf("%+v", f)
	}
	if got := s.send(t, request{method: "POST", path: path + "/refresh?accept=true"}); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: path}).data(t, &f)
		return f.State == "ready" && f.Version == 2
	})
	shop.set(200, `[{"id":3},{"id":4,"extra":true}]`)
	if f, _ = s.refreshed(t, f.ID); f.State != "failed" || f.Version != 2 || !strings.Contains(f.LastError.Detail, `column "extra" is new`) {
		t.Errorf("%+v", f)
	}
	s.send(t, request{method: "PATCH", path: path, body: `{"schemaPolicy":"widen"}`})
	if f, _ = s.refreshed(t, f.ID); f.State != "ready" || f.Version != 3 {
		t.Errorf("%+v", f)
	}
}

// A feed without new data is stale once, and is told of once.
func TestAFeedGoesStale(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id\n1\n")
	path := "/data_feeds/" + f.ID
	var e expecting
	s.send(t, request{method: "PATCH", path: path, body: `{"expectEvery":"1h"}`}).data(t, &e)
	if e.Stale || e.ExpectEvery != "1h" {
		t.Errorf("%+v", e)
	}
	told := func() int {
		return strings.Count(s.send(t, request{method: "GET", path: "/events?type=datafeed.source.stale"}).body, `"id":"evt_`)
	}
	for i, after := range []time.Duration{30 * time.Minute, 2 * time.Hour, 3 * time.Hour} {
		if _, err := s.feeds(t).GoStale(t.Context(), time.Now().Add(after)); err != nil {
			t.Fatal(err)
		}
		s.send(t, request{method: "GET", path: path}).data(t, &e)
		if e.Stale != (i > 0) || told() != min(i, 1) {
			t.Errorf("after %s: %+v, told of %d times", after, e, told())
		}
	}
	// The same data again is a success as well.
	if f := s.put(t, f.ID, "", "id\n1\n"); f.Version != 1 {
		t.Errorf("%+v", f)
	}
	s.send(t, request{method: "GET", path: path}).data(t, &e)
	if e.Stale {
		t.Errorf("%+v", e)
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	data := "id,total,note,sold,paid\n"
	for i := range 100 {
		data += fmt.Sprintf("%d,%d.50,n%d,2026-01-%02d,%t\n", i, i%10, i%3, 1+i%28, i%2 == 0)
	}
	f := s.upload(t, "", "text/csv", data+"100,,,,\n")
	path := "/data_feeds/" + f.ID + "/profile"
	for range 2 { // made, and kept
		got := s.send(t, request{method: "GET", path: path}).body
		for _, wanted := range []string{
			`"version":1,"rowCount":101,`,
			`"name":"id","type":"integer","nulls":0,"distinct":101,"distinctExact":true,"min":0,"max":100,"mean":50`, `"quantiles":{"p25":25,"p50":50,"p75":75}`,
			`"name":"total","type":"decimal","nulls":1,"distinct":10,"distinctExact":true,"min":0.50,"max":9.50,"mean":5`, `"quantiles":{"p25":2.50,"p50":5.00,"p75":7.50}`,
			`"name":"note","type":"text","nulls":1,"distinct":3,"distinctExact":true,"min":"n0","max":"n2","mean":null,"quantiles":null,"histogram":[],"top":[{"value":"n0","count":34},`,
			`"maxLength":2`,
			`"min":"2026-01-01","max":"2026-01-28"`, `"quantiles":{"p25":"2026-01-07","p50":"2026-01-13","p75":"2026-01-20"}`,
			`{"from":"2026-01-01","to":"2026-01-03","count":`,
			`"top":[{"value":false,"count":50},{"value":true,"count":50}]`,
		} {
			if !strings.Contains(got, wanted) {
				t.Errorf("no %s in %s", wanted, got)
			}
		}
	}
	if got := s.send(t, request{method: "GET", path: path + "?filter=note:eq:n1"}).body; !strings.Contains(got, `"rowCount":33,`) || !strings.Contains(got, `"distinct":1,`) {
		t.Error(got)
	}
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID + "/columns", body: `[{"id":"` + f.Columns[0].ID + `","hidden":true},{"id":"` + f.Columns[2].ID + `","name":"remark"}]`})
	if got := s.send(t, request{method: "GET", path: path}).body; strings.Contains(got, `"name":"id"`) || !strings.Contains(got, `"name":"remark"`) {
		t.Error(got)
	}
	empty := s.upload(t, "", "text/csv", "a,b\n")
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + empty.ID + "/profile"}); got.status != 200 || !strings.Contains(got.body, `"min":null`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A version that was restored is read as it was sent.
func TestRestoredUploadIsReadAsItWas(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,code\n1,007\n")
	s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data", "application/json", `[{"id":2,"code":"8"}]`)
	s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/versions/1/restore"})
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID + "/columns", body: `[{"id":"` + f.Columns[0].ID + `","type":"text"}]`}).data(t, &f)
	if got := s.read(t, f.ID, ""); got != "{\"id\":\"1\",\"code\":\"007\"}\n" {
		t.Errorf("%+v %s", f, got)
	}
}
