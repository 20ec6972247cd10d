package app

import (
	"strings"
	"testing"
)

// TestKeysKeepTheirType: data that changes how keys compare is refused until that is
// accepted. Decimals compare as whole numbers do.
func TestKeysKeepTheirType(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	csv := [][2]string{{"Content-Type", "text/csv"}}
	for _, key := range []string{"id", "id,n"} {
		var f restFeed
		s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload&name=Stock&mode=merge&key=" + key, body: "id,n\n7,1\n8,2\n", header: csv}).data(t, &f)
		put := func(body, more string) reply {
			return s.send(t, request{method: "PUT", path: "/data_feeds/" + f.ID + "/data?mode=merge&key=" + key + more, body: body, header: csv})
		}
		if got := put("id,n\n7.5,1\n", ""); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		before := s.read(t, f.ID, "")
		if got := put("id,n\nx9,3\n", ""); got.status != 422 || got.problem(t).Type != "/problems/type-changed" || !strings.Contains(got.body, "accept=true") || s.read(t, f.ID, "") != before {
			t.Errorf("%s: %d %s", key, got.status, got.body)
		}
		if got := put("id,n\nx9,3\n", "&accept=true"); got.status != 200 || !strings.Contains(got.body, `"code":"key-text","column":"id"`) {
			t.Errorf("%s: %d %s", key, got.status, got.body)
		}
		if got := put("id,n\n8,4\n", ""); got.status != 200 {
			t.Errorf("%s: %d %s", key, got.status, got.body)
		}
	}
}
