package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/blob/s3test"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestReplicasShareABucket has two replicas without state of their own: what one stores the
// other reads and extends, also after its data folder was deleted. During an outage of the
// bucket cached data stays readable. A copy of the database is refused.
func TestReplicasShareABucket(t *testing.T) {
	s, url, folder := s3test.New(t), pgtest.New(t), t.TempDir()
	bucket := []string{"FEEDMILL_BLOB_URL=" + s.URL("feedmill"), "FEEDMILL_BLOB_ACCESS_KEY=" + s.AccessKey, "FEEDMILL_BLOB_SECRET_KEY=" + s.SecretKey}
	env := append(append(onPostgres(url), onLoopback...), bucket...)
	data := func(name string) string { return filepath.Join(folder, name) }
	begin := func(name string) *process {
		p, err := launch(folder, env, "--data="+data(name))
		return p.until(t, err)
	}
	one, two := begin("one"), begin("two")
	put := func(p *process, feed, body string, want int) string {
		t.Helper()
		status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPut, p.url+"/data_feeds/"+feed+"/data?mode=append", map[string]string{"Content-Type": "text/csv"}, strings.NewReader(body))
		if status != want || err != nil {
			t.Fatalf("%d %s, %v; want %d", status, answer, err, want)
		}
		return answer
	}
	var feeds [2]string
	for i, p := range []*process{one, two} {
		made, err := p.client(sharedFirstKey).CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader("id,v\n1,a\n"), Format: "csv"})
		if err != nil {
			t.Fatal(err)
		}
		feeds[i] = made.ID
	}
	for _, feed := range feeds {
		put(two, feed, "id,v\n2,b\n", http.StatusOK)
		put(one, feed, "id,v\n3,c\n", http.StatusOK)
	}
	same := func(p *process, want ...string) {
		t.Helper()
		for _, feed := range feeds {
			if got := storedRows(t, p, feed); !slices.Equal(got, want) {
				t.Fatalf("%s has %q, want %q", feed, got, want)
			}
		}
	}
	same(one, "1,a", "2,b", "3,c")
	same(two, "1,a", "2,b", "3,c")
	// What a preview holds can be used through the other replica, once.
	post := func(p *process, path, body string) (int, string) {
		t.Helper()
		status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+path, map[string]string{"Content-Type": "text/csv"}, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return status, answer
	}
	_, preview := post(one, "/data_feeds/preview?type=dataUpload", "id,v\n9,z\n")
	handle := regexp.MustCompile(`prv_[0-9a-z]{26}`).FindString(preview)
	for _, want := range []int{http.StatusCreated, http.StatusNotFound} {
		if status, answer := post(two, "/data_feeds?type=dataUpload&preview="+handle, ""); status != want {
			t.Fatalf("created from %q: %d %s; want %d", handle, status, answer, want)
		}
	}
	if _, err := os.Stat(filepath.Join(data("one"), "files")); err == nil {
		t.Error("a replica has a folder for files")
	}
	one.mustStop(t)
	if err := os.RemoveAll(data("one")); err != nil {
		t.Fatal(err)
	}
	one = begin("one")
	same(one, "1,a", "2,b", "3,c")

	s.Kill()
	same(one, "1,a", "2,b", "3,c")
	if answer := put(one, feeds[0], "id,v\n4,d\n", http.StatusServiceUnavailable); !strings.Contains(answer, "/problems/storage-unavailable") {
		t.Errorf("during an outage: %s", answer)
	}
	reports := func(files string) bool {
		status, body, err := request(t.Context(), sharedFirstKey, http.MethodGet, one.url+"/readyz", nil, nil)
		return status == http.StatusOK && strings.Contains(body, `"files":"`+files+`"`) && err == nil
	}
	if !reports("unavailable") {
		t.Error("readyz does not report the outage")
	}
	two.kill()
	two = begin("two") // which starts without the bucket
	s.Start(t)
	eventually(t, "readyz reports the end of the outage", func() bool { return reports("ready") })
	for _, feed := range feeds {
		put(two, feed, "id,v\n4,d\n", http.StatusOK)
	}
	same(one, "1,a", "2,b", "3,c", "4,d")
	one.mustStop(t)
	two.mustStop(t)

	copied := append(append(onPostgres(pgtest.Copy(t, url)), onLoopback...), bucket...)
	p, err := launch(folder, copied, "--data="+data("copy"))
	if err == nil {
		p.kill()
		t.Fatal("a copy of the database uses the bucket of the original")
	}
	if !strings.Contains(err.Error(), "the bucket has the files of another store") {
		t.Error(err)
	}
}
