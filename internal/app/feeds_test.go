package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/worker"
)

var update = flag.Bool("update", false, "write the golden files")

// atOnce is how many parallel tests run at the same time unless -parallel sets
// another number: more than there are processors, because each often waits for
// its worker, its database or its disk.
const atOnce = "4"

// TestMain makes the test binary a worker, too, as the program is. Tests are
// parallel unless they count processes, set flags or race a clock.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := worker.Main(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Set("test.parallel", atOnce)
	os.Exit(m.Run())
}

// shownFeed is what tests read of a feed's record.
type shownFeed struct {
	Source                                    json.RawMessage
	ID, Name, Description, State, ContentHash string
	RowCount, Version                         int64
	Columns                                   []struct{ ID, Name, Type string }
	Warnings                                  []feedmill.Warning
	LastError                                 *struct{ Type, Detail string }
}

// types are the columns with their types, in one text.
func (f shownFeed) types() string {
	var all []string
	for _, c := range f.Columns {
		all = append(all, c.Name+" "+c.Type)
	}
	return strings.Join(all, ", ")
}

// sendData sends data as the media type says.
func (s *service) sendData(t testing.TB, method, path, mediaType, data string, header ...[2]string) reply {
	t.Helper()
	return s.send(t, request{method: method, path: path, body: data, header: append([][2]string{{"Content-Type", mediaType}}, header...)})
}

// upload makes a feed.
func (s *service) upload(t testing.TB, query, mediaType, data string) (f shownFeed) {
	t.Helper()
	s.sendData(t, "POST", "/data_feeds?type=dataUpload"+query, mediaType, data).data(t, &f)
	return f
}

// read reads rows of a feed as NDJSON.
func (s *service) read(t testing.TB, feed, query string) string {
	t.Helper()
	got := s.send(t, request{method: "GET", path: "/data_feeds/" + feed + "/data?format=ndjson" + query})
	if got.status != 200 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	return got.body
}

// files lists the files that are kept of feeds, those that are being written too.
func (s *service) files(t testing.TB) (names []string) {
	t.Helper()
	root := filepath.Join(s.app.config.Data, blobFolder)
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != ".store" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

const ordersCSV = "order,customer,total,placed,paid\n1,Ada,12.50,2026-11-01,true\n2,Max,7.00,2026-11-02,false\n3,\"Müller, Eva\",,2026-11-03,true\n"

// inRecords are what differs between any two records.
var inRecords = regexp.MustCompile(`"(byteSize)":[0-9.]+|sha256:[0-9a-f]{64}`)

// golden holds a text against a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; -update writes it (-want +got):\n%s", file, diff)
	}
}

func TestRecordOfAnUpload(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	got := s.sendData(t, "POST", "/data_feeds?type=dataUpload&name=Orders", "text/csv", "order,total,sold\n1,12.50,03/04/2026\n2,,05/06/2026,x\n")
	var f shownFeed
	got.data(t, &f)
	if got.status != 201 || got.header.Get("Location") != "/data_feeds/"+f.ID {
		t.Errorf("%d, Location %q", got.status, got.header.Get("Location"))
	}
	same := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID})
	if same.body != got.body {
		t.Errorf("the record reads\n%s\nand was\n%s", same.body, got.body)
	}
	list := s.send(t, request{method: "GET", path: "/data_feeds"})
	if !strings.Contains(got.body, strings.Trim(list.body, "[]")) {
		t.Errorf("the list has %s", list.body)
	}
	text := strings.ReplaceAll(inRecords.ReplaceAllString(got.anonymous().body, "*"), ",", ",\n")
	golden(t, "feed.golden", text)
}

func TestFeedsTellOfThemselves(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", ordersCSV)
	path := "/data_feeds/" + f.ID
	s.sendData(t, "PUT", path+"/data", "text/csv", ordersCSV+"4,Kim,many,2026-11-04,true\n").data(t, &f)
	if got := s.sendData(t, "PUT", path+"/data", "application/json", `{"a":`); got.status != 422 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	s.send(t, request{method: "PATCH", path: path, body: `{"name":"Orders of the shop"}`}).data(t, &f)
	if got := s.send(t, request{method: "DELETE", path: path}); got.status != 204 {
		t.Fatal(got)
	}
	type event struct {
		Type, ResourceID string
		Data             map[string]any
	}
	var types []string
	for _, e := range fetch[[]event](t, s, 200, request{method: "GET", path: "/events"}) {
		types = append(types, strings.TrimPrefix(e.Type, "datafeed.source."))
		if e.ResourceID != f.ID || e.Data["dataFeedId"] != f.ID {
			t.Errorf("%+v is of another feed", e)
		}
	}
	want := []string{"deleted", "updated", "refresh_failed", "updated", "refreshed", "refreshed", "created"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("events, newest first (-want +got):\n%s", diff)
	}
}
