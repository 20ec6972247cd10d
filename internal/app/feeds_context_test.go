package app

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestContextOfRecords has values around the records: named when a feed is created, and columns where that is set, which stays set.
func TestContextOfRecords(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	warns := func(warnings []feedmill.Warning) string {
		for _, w := range warnings {
			if w.Code == feedmill.WarnContext {
				return w.Detail
			}
		}
		return ""
	}
	const first, second = `{"base":"EUR","rates":[{"c":"USD","r":1.5},{"c":"CHF","r":0.9}]}`, `{"base":"GBP","rates":[{"c":"USD","r":2}]}`
	without, with := s.upload(t, "", "application/json", first), s.upload(t, "&context=true", "application/json", first)
	if !strings.Contains(warns(without.Warnings), "left out: base. Set context=true") || warns(with.Warnings) != "" {
		t.Errorf("the warnings are %q and %q", warns(without.Warnings), warns(with.Warnings))
	}
	for id, want := range map[string]string{without.ID: "{\"c\":\"USD\",\"r\":2}\n", with.ID: "{\"_context.base\":\"GBP\",\"c\":\"USD\",\"r\":2}\n"} {
		var f shownFeed
		s.sendData(t, "PUT", "/data_feeds/"+id+"/data", "application/json", second).data(t, &f)
		if got := strings.ReplaceAll(s.read(t, id, ""), "2.0", "2"); got != want || warns(f.Warnings) != "" {
			t.Errorf("the next data is %q with %q, want %q", got, warns(f.Warnings), want)
		}
	}
	if got := s.sendData(t, "POST", "/data_feeds?type=dataUpload&context=maybe", "application/json", first); got.status != 400 || !strings.Contains(got.body, "context must be true or false.") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.sendData(t, "POST", "/data_feeds?type=dataUpload&context=true", "text/csv", "a\n1\n"); got.status != 400 {
		t.Errorf("CSV: %d %s", got.status, got.body)
	}
	shop := newShop(t, `{"next":null,"base":"EUR","rates":[{"c":"USD"}]}`)
	paged := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"path":"$.rates[*]"},"pagination":{"kind":"nextUrl","path":"$.next"}}`)
	if !strings.Contains(warns(paged.Warnings), "left out: base. Set") {
		t.Errorf("pages warn with %q", warns(paged.Warnings))
	}
	linked := newShop(t, `<r base="EUR"><link rel="self" href="?p=1"/><e><c>1</c></e><e><c>2</c></e></r>`)
	f := s.fetched(t, "", `{"request":{"url":"`+linked.URL+`"},"response":{"format":"xml"},"pagination":{"kind":"nextUrl","path":{"xml":"/r/link[@rel='next']/@href"}}}`)
	if !strings.Contains(warns(f.Warnings), "left out: @base. Set") {
		t.Errorf("pages of XML warn with %q", warns(f.Warnings))
	}
	columns := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"path":"$.rates[*]","context":true}}`)
	if got := s.read(t, columns.ID, ""); got != "{\"_context.next\":null,\"_context.base\":\"EUR\",\"c\":\"USD\"}\n" {
		t.Errorf("pages are %q", got)
	}
	got := s.sendData(t, "POST", "/data_feeds?type=rest", "application/json", `{"request":{"url":"`+shop.URL+`"},"response":{"path":"$.rates[*]","context":true},"columns":[{"name":"c","path":"$.c"}]}`)
	if got.status != 400 || !strings.Contains(got.body, "/response/context") {
		t.Errorf("with columns: %d %s", got.status, got.body)
	}
}
