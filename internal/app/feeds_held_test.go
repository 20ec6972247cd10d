package app

import (
	"encoding/json"
	"strings"
	"testing"
)

// What was previewed is previewed otherwise, and made a feed of, without being sent
// again.
func TestPreviewIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	type shown struct {
		Columns []struct{ Name, Type string }
		Handle  *struct{ ID, ExpiresAt string }
	}
	preview := func(query, mediaType, data string, key string) (p shown, got reply) {
		t.Helper()
		got = s.send(t, request{method: "POST", path: "/data_feeds/preview?type=dataUpload" + query, key: key, body: data, header: [][2]string{
			{"Content-Type", mediaType}, {"Content-Disposition", `attachment; filename="q 3.csv"`},
		}})
		if got.status == 200 {
			got.data(t, &p)
		}
		return p, got
	}
	form := "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"q 3.csv\"\r\n\r\na,b;c\n1,2;3\n\r\n--b--\r\n"
	for mediaType, data := range map[string]string{"text/csv": "a,b;c\n1,2;3\n", "multipart/form-data; boundary=b": form} {
		first, got := preview("", mediaType, data, "")
		if first.Handle == nil || len(first.Columns) != 2 {
			t.Fatalf("the preview is %s", got.body)
		}
		handle := "&preview=" + first.Handle.ID
		second, got := preview(handle+"&delimiter=%3B", "", "", "")
		if len(second.Columns) != 2 || second.Columns[0].Name != "a,b" || second.Handle == nil || *second.Handle != *first.Handle {
			t.Errorf("with another delimiter it is %s", got.body)
		}
		other := s.newKey(t, "", everyScope...)
		if _, got := preview(handle, "", "", other.Key); got.status != 404 || got.problem(t).Type != "/problems/no-preview" {
			t.Errorf("another key is answered %s", got.body)
		}
		if _, got := preview(handle, "text/csv", "x\n1\n", ""); got.status != 400 {
			t.Errorf("both a handle and data are answered %s", got.body)
		}
		if _, got := preview(handle+"&delimiter=no", "", "", ""); got.status != 400 {
			t.Errorf("a wrong option is answered %s", got.body)
		}
		refused, problem := "&delimiter=,&types=text&columns=%5B%7B%22sourceName%22:%22b;c%22,%22type%22:%22integer%22%7D%5D", struct {
			Handle *struct{ ID, ExpiresAt string }
		}{}
		_, got = preview(refused, mediaType, data, "")
		if err := json.Unmarshal([]byte(got.body), &problem); err != nil || got.status != 422 || problem.Handle == nil || problem.Handle.ID == first.Handle.ID {
			t.Fatalf("data that does not fit is answered %s", got.body)
		}
		if _, again := preview(refused+"&preview="+problem.Handle.ID, "", "", ""); again.body != got.body {
			t.Errorf("looked at again, it is answered %s", again.body)
		}
		create := request{method: "POST", path: "/data_feeds?type=dataUpload&delimiter=%3B" + handle, header: [][2]string{{"Idempotency-Key", first.Handle.ID}}}
		made := s.send(t, create)
		var f struct{ ID, Name, SourceLabel string }
		if made.data(t, &f); made.status != 201 || f.Name != "q 3.csv" || f.SourceLabel != "q 3.csv" || !strings.Contains(s.read(t, f.ID, ""), `"a,b":`) {
			t.Errorf("the feed is %s", made.body)
		}
		put := request{method: "PUT", path: "/data_feeds/" + f.ID + "/data?delimiter=,&preview=" + problem.Handle.ID}
		if put := s.send(t, put); put.status != 200 || !strings.Contains(s.read(t, f.ID, ""), `"b;c":"2;3"`) {
			t.Errorf("replaced by what is held, it is answered %s", put.body)
		}
		if put := s.send(t, put); put.status != 404 {
			t.Errorf("replaced by what was used, it is answered %s", put.body)
		}
		if again := s.send(t, create); again.body != made.body {
			t.Errorf("the same request again is answered %s", again.body)
		}
		if _, got := preview(handle, "", "", ""); got.status != 404 {
			t.Errorf("what was used is answered %s", got.body)
		}
	}
}
