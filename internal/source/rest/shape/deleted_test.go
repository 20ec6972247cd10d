package shape

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// TestDeletions reads records that are deleted, by a key of two columns, of which one has another
// name in the feed.
func TestDeletions(t *testing.T) {
	spool, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	feed := feedmill.Feed{Key: []string{"k", "line"}, Columns: []feedmill.Column{{Name: "k", SourceName: "k"}, {Name: "line", SourceName: "l"}, {Name: "n", SourceName: "n"}}}
	for _, test := range []struct {
		deleted, page string
		preview       bool
		want          string
		count, listed int64
	}{
		{deleted: `{"flag":"gone"}`, page: `{"a":[{"k":1,"l":"x","n":5,"gone":true},{"k":1,"l":"y","n":6,"gone":false},{"k":2,"l":"x","n":7},[3]]}`, want: `{"k":1,"l":"x","_feedmill_deleted":true} {"k":1,"l":"y","n":6,"gone":false} {"k":2,"l":"x","n":7} {"value":[3]}`, count: 1},
		{deleted: `{"flag":"gone"}`, page: `{"a":[{"k":1,"l":"x","gone":true},{"k":1,"l":"y"}]}`, preview: true, want: `{"k":1,"l":"y"}`},
		{deleted: `{"flag":"$.meta.state","equals":"void"}`, page: `{"a":[{"k":1,"l":"x","meta":{"state":"void"}},{"k":1,"l":"y","meta":{"state":"new"}},{"k":2,"l":"x"}]}`, want: `{"k":1,"l":"x","_feedmill_deleted":true} {"k":1,"l":"y","meta":{"state":"new"}} {"k":2,"l":"x"}`, count: 1},
		{deleted: `{"path":"$.removed[*]"}`, page: `{"a":[{"k":1,"l":"y","n":6}],"removed":[{"k":1,"l":"x","n":5},{"k":2,"l":"x"}]}`, want: `{"k":1,"l":"y","n":6} {"k":1,"l":"x","_feedmill_deleted":true} {"k":2,"l":"x","_feedmill_deleted":true}`, count: 2, listed: 2},
		{deleted: `{"path":"$.removed[*]"}`, page: `{"a":[],"removed":[{"k":1,"l":null}]}`, want: `deleted`},
		{deleted: `{"path":"$.removed[*]"}`, page: `{"a":[],"removed":[7]}`, want: `deleted`},
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://a.test/"},"response":{"path":"$.a[*]"},"mode":"merge","key":["k","line"],"deleted":`+test.deleted+`}`), 0)
		if err != nil {
			t.Fatalf("%s: %v", test.deleted, err)
		}
		f := feedmill.Fetch{Spool: spool, Close: new([]io.Closer)}
		if test.preview {
			f.Enough = 10
		}
		r, err := Reading(d.Spec, d.Response, new(spec.Cursor), f, feed, new(int64))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err = r.Reshape(t.Context(), feedmill.FetchedPage{Number: 1, Format: "json", Body: io.NewSectionReader(strings.NewReader(test.page), 0, int64(len(test.page)))}, &out)
		got := strings.Join(strings.Fields(out.String()), " ")
		if err != nil {
			got = failureOf(err)
		}
		if got != test.want || err == nil && (r.Deletes.Count() != test.count || r.Deletes.Listed() != test.listed) {
			t.Errorf("%s: %s\n%s, %d and %d deletions (%v), want\n%s", test.deleted, test.page, got, r.Deletes.Count(), r.Deletes.Listed(), err, test.want)
		}
		for _, c := range *f.Close {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
