package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestReplacedData(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,total\n1,2\n")
	first := f
	path := "/data_feeds/" + f.ID
	s.sendData(t, "PUT", path+"/data?mode=replace", "application/json", `[{"total":2.5,"id":7,"note":"x"}]`).data(t, &f)
	if f.Version != 2 || f.types() != "id integer, total decimal, note text" || f.Columns[0].ID != first.Columns[0].ID {
		t.Errorf("%+v", f)
	}
	var codes []string
	for _, w := range f.Warnings {
		codes = append(codes, w.Code+" "+w.Column)
	}
	if got := strings.Join(codes, ", "); got != "widened-column total, added-column note" {
		t.Errorf("warnings: %s", got)
	}
	if got := s.read(t, f.ID, "") + s.read(t, f.ID, "&version=1"); got != "{\"id\":7,\"total\":2.5,\"note\":\"x\"}\n{\"id\":1,\"total\":2}\n" {
		t.Error(got)
	}
	// What cannot be modelled leaves all as it is, and is written down.
	if got := s.sendData(t, "PUT", path+"/data", "application/json", `[{"id":1},]`); got.status != 422 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	s.send(t, request{method: "GET", path: path}).data(t, &f)
	if f.State != "failed" || f.Version != 2 || f.LastError == nil || !strings.Contains(f.LastError.Detail, "column 11") {
		t.Errorf("%+v", f)
	}
	if got := s.read(t, f.ID, ""); got != "{\"id\":7,\"total\":2.5,\"note\":\"x\"}\n" {
		t.Error(got)
	}
	type refresh struct {
		ID, State    string
		RowsIn       int64
		RowsStored   int64
		RowsRejected int64
		Version      *int64
	}
	all := fetch[[]refresh](t, s, 200, request{method: "GET", path: path + "/refreshes"})
	if len(all) != 3 || all[0].State != "failed" || all[0].Version != nil || all[1].RowsIn != 1 || *all[1].Version != 2 {
		t.Errorf("%+v", all)
	}
	var one refresh
	s.send(t, request{method: "GET", path: path + "/refreshes/" + all[1].ID}).data(t, &one)
	if one.ID != all[1].ID || one.RowsStored != 1 {
		t.Errorf("%+v", one)
	}
	if got := s.send(t, request{method: "GET", path: path + "/refreshes/" + all[1].ID + "/rejects"}); got.status != 200 || got.body != "[]" {
		t.Errorf("%d %s", got.status, got.body)
	}
	// Good data makes it ready again, and no rows at all are good data.
	s.sendData(t, "PUT", path+"/data", "application/json", "[]").data(t, &f)
	if f.State != "ready" || f.RowCount != 0 || f.types() != "id integer, total decimal, note text" || f.LastError != nil {
		t.Errorf("%+v", f)
	}
	for query, status := range map[string]int{"?mode=merge": 400, "?mode=replace&key=id": 400, "?mode=x": 400, "?name=x": 400, "?path=$": 400} {
		if got := s.sendData(t, "PUT", path+"/data"+query, "text/csv", "id\n1\n"); got.status != status {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

func TestRenamedAndDeletedFeed(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", ordersCSV)
	path := "/data_feeds/" + f.ID
	s.send(t, request{method: "PATCH", path: path, body: `{"name":"New","description":"Two\nlines"}`}).data(t, &f)
	s.send(t, request{method: "PATCH", path: path, body: `{}`}).data(t, &f)
	if f.Name != "New" || f.Description != "Two\nlines" || f.Version != 1 || f.RowCount != 3 {
		t.Errorf("%+v", f)
	}
	s.send(t, request{method: "PATCH", path: path, body: `{"description":null}`}).data(t, &f)
	if f.Description != "" {
		t.Errorf("%+v", f)
	}
	got := s.send(t, request{method: "PATCH", path: path, body: `{"name":"","description":"` + strings.Repeat("x", 2001) + `","columns":[]}`})
	if got.status != 400 || len(got.problem(t).Errors) != 3 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "DELETE", path: path}); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, q := range []request{
		{method: "GET", path: path},
		{method: "DELETE", path: path},
		{method: "GET", path: path + "/data"},
		{method: "GET", path: path + "/refreshes"},
		{method: "PATCH", path: path, body: "{}"},
		{method: "PUT", path: path + "/data", body: "[{}]"},
		{method: "POST", path: path + "/query", body: "{}"},
	} {
		if got := s.send(t, q); got.status != 404 {
			t.Errorf("%s %s: %d", q.method, q.path, got.status)
		}
	}
}

// bigCSV has enough rows that reading them takes more than the buffers hold.
func bigCSV(rows int, word string) string {
	var b strings.Builder
	b.WriteString("n,word\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%s %d\n", i, word, i*7919)
	}
	return b.String()
}

// TestReadersAreNotDisturbed deletes and replaces while somebody reads.
func TestReadersAreNotDisturbed(t *testing.T) {
	t.Parallel()
	const rows = 60_000 // more bytes than wait between the server and its client
	s := start(t, setup{})
	data := bigCSV(rows, strings.Repeat("first ", 20)+".")
	f := s.upload(t, "", "text/csv", data)
	path := "/data_feeds/" + f.ID
	begin := func() *http.Response {
		r, err := http.NewRequest("GET", s.url+path+"/data?format=csv", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+adminKey)
		answer, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	finish := func(r *http.Response) {
		t.Helper()
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || strings.ReplaceAll(string(text), "\r\n", "\n") != data {
			t.Errorf("%d bytes of %d, %v", len(text), len(data), err)
		}
	}
	reading := begin()
	s.sendData(t, "PUT", path+"/data", "text/csv", "n,word\n1,second\n").data(t, &f)
	finish(reading)
	if got := s.read(t, f.ID, ""); got != "{\"n\":1,\"word\":\"second\"}\n" {
		t.Error(got)
	}
	s.sendData(t, "PUT", path+"/data", "text/csv", data).data(t, &f)
	reading = begin()
	if got := s.send(t, request{method: "DELETE", path: path}); got.status != 204 {
		t.Fatal(got)
	}
	if err := s.feeds(t).SweepFiles(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	finish(reading)
}

// TestUploadsAtOnce holds that of uploads at the same time each wins whole or not at all.
func TestUploadsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "who,n\nnobody,0\n")
	path := "/data_feeds/" + f.ID
	var mu sync.Mutex
	won := []string{"nobody"}
	var uploads sync.WaitGroup
	for i := range 6 {
		uploads.Go(func() {
			who := fmt.Sprint("upload", i)
			got := s.sendData(t, "PUT", path+"/data", "text/csv", "who,n\n"+strings.Repeat(who+",1\n", 1000+i))
			switch got.status {
			case 200:
				mu.Lock()
				defer mu.Unlock()
				won = append(won, who)
			case 409:
				if !strings.Contains(got.body, "concurrent-upload") {
					t.Error(got.body)
				}
			default:
				t.Errorf("%d: %s", got.status, got.body)
			}
		})
	}
	uploads.Wait()
	s.send(t, request{method: "GET", path: path}).data(t, &f)
	if len(won) < 2 || int(f.Version) != len(won) {
		t.Errorf("%d won, and the version is %d", len(won), f.Version)
	}
	for v := range f.Version {
		got := s.send(t, request{
			method: "POST", path: fmt.Sprintf("%s/query?version=%d", path, v+1),
			body: `{"fields":[{"field":"who","aggregate":"min"}]}`,
		}).body
		mixed := s.send(t, request{
			method: "POST", path: fmt.Sprintf("%s/query?version=%d", path, v+1),
			body: `{"fields":[{"field":"who","aggregate":"countDistinct"}]}`,
		}).body
		if strings.TrimSpace(mixed) != `[{"who":1}]` || strings.TrimSpace(got) == "" {
			t.Errorf("version %d has %s of %s", v+1, mixed, got)
		}
	}
	if n := len(s.files(t)); n != 2*len(won) {
		t.Errorf("%d files for %d versions", n, len(won))
	}
}
