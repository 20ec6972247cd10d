package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// icebergFault holds that a reply is an error of the catalogue in its shape.
func icebergFault(t *testing.T, q request, got reply, status int, kind string) {
	t.Helper()
	var body struct {
		Error struct {
			Message, Type string
			Code          int
		}
	}
	if q.method == http.MethodHead {
		if got.status != status || got.body != "" {
			t.Errorf("%s %s: %d %s, want %d", q.method, q.path, got.status, got.body, status)
		}
		return
	}
	err := json.Unmarshal([]byte(got.body), &body)
	if err != nil || got.status != status || body.Error.Code != status || body.Error.Type != kind || body.Error.Message == "" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s: %d %s, want %d %s", q.method, q.path, got.status, got.body, status, kind)
	}
}

// TestCatalogue walks all operations of the Iceberg catalogue with credentials that may use
// them, and with those that may not.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	s := start(t, withTables)
	one, two := s.newWorkspace(t, "one"), s.newWorkspace(t, "two")
	reader, stranger, publisher := s.newKey(t, one.ID, "api:read"), s.newKey(t, two.ID, everyScope...), s.newKey(t, one.ID, "events:publish")
	writer := s.newKey(t, one.ID, "api:write", "api:read")
	for _, key := range []string{writer.Key, stranger.Key} {
		for range 2 {
			got := s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload&name=Größe", key: key, body: "id\n1\n", header: [][2]string{{"Content-Type", "text/csv"}}})
			if got.status != 201 {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
	}
	base := "/iceberg/v1/namespaces"
	table := base + "/" + one.ID + "/tables/" + url.PathEscape("größe")
	eventually(t, func() bool {
		return s.send(t, request{method: "GET", path: table, key: reader.Key}).status == 200 && s.send(t, request{method: "GET", path: table + "_2", key: reader.Key}).status == 200
	})
	for _, path := range []string{"/iceberg/v1/config?warehouse=any", base, base + "/" + one.ID, base + "/" + one.ID + "/tables?unknown=1&unknown=2", table + "?snapshots=all"} {
		for _, method := range []string{"GET", "HEAD"} {
			q := request{method: method, path: path, key: reader.Key}
			if got := s.send(t, q); got.status != 200 && !(method == "HEAD" && got.status == 204) {
				t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
			}
			q.key = "-"
			icebergFault(t, q, s.send(t, q), 401, "NotAuthorizedException")
			q.key = "fm_wrong_wrong_wrong_wrong_wrong"
			got := s.send(t, q)
			icebergFault(t, q, got, 401, "NotAuthorizedException")
			if got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s asks for no credential", method, path)
			}
			q.key = publisher.Key
			icebergFault(t, q, s.send(t, q), 403, "ForbiddenException")
			q.key = stranger.Key
			if strings.Contains(path, one.ID) {
				icebergFault(t, q, s.send(t, q), 404, "NoSuchNamespaceException")
			} else if got := s.send(t, q); strings.Contains(got.body, one.ID) {
				t.Errorf("%s shows another workspace: %s", path, got.body)
			}
		}
	}
	for path, kind := range map[string]string{
		base + "/" + one.ID + "/tables/none": "NoSuchTableException", base + "/ws_none": "NoSuchNamespaceException", base + "?parent=" + two.ID: "NoSuchNamespaceException", "/iceberg/v1/none": "NoSuchEndpointException",
	} {
		q := request{method: "GET", path: path, key: reader.Key}
		icebergFault(t, q, s.send(t, q), 404, kind)
	}
	for _, q := range []request{{method: "POST", path: base}, {method: "DELETE", path: table}, {method: "POST", path: base + "/" + one.ID + "/tables"}} {
		q.key = writer.Key
		icebergFault(t, q, s.send(t, q), 405, "UnsupportedOperationException")
	}
	var list struct {
		Identifiers []struct {
			Namespace []string
			Name      string
		}
		Next string `json:"next-page-token"`
	}
	var names []string
	for token := ""; ; token = list.Next {
		list.Next = ""
		got := s.send(t, request{method: "GET", path: base + "/" + one.ID + "/tables?pageSize=1&pageToken=" + token, key: reader.Key})
		if err := json.Unmarshal([]byte(got.body), &list); err != nil {
			t.Fatal(err)
		}
		for _, id := range list.Identifiers {
			names = append(names, id.Name)
		}
		if list.Next == "" {
			break
		}
	}
	if strings.Join(names, " ") != "größe größe_2" {
		t.Errorf("listed %v", names)
	}
}

// TestCatalogueTokens has clients that only know OAuth 2.0 get a token for an API key.
func TestCatalogueTokens(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	form := func(body string, header ...[2]string) reply {
		return s.send(t, request{method: "POST", path: "/iceberg/v1/oauth/tokens", key: "-", body: body, header: append(header, [2]string{"Content-Type", "application/x-www-form-urlencoded"})})
	}
	got := form("grant_type=client_credentials&client_id=any&scope=catalog&client_secret=" + adminKey)
	var token struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
	}
	if err := json.Unmarshal([]byte(got.body), &token); err != nil || got.status != 200 || token.Type != "bearer" || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "GET", path: "/iceberg/v1/config", key: token.Token}); got.status != 200 {
		t.Errorf("with the token: %d %s", got.status, got.body)
	}
	for body, want := range map[string]string{
		"grant_type=client_credentials&client_secret=fm_wrong": "invalid_client", "grant_type=client_credentials": "invalid_client",
		"grant_type=password&client_secret=" + adminKey: "unsupported_grant_type", "": "unsupported_grant_type", "%zz": "invalid_request",
	} {
		if got := form(body); got.status < 400 || got.status > 401 || !strings.Contains(got.body, `"error":"`+want+`"`) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	// Without a bucket and without the setting there are no tables.
	f := s.upload(t, "", "text/csv", "id\n1\n")
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}); strings.Contains(got.body, `"table":`) {
		t.Errorf("%s", got.body)
	}
	q := request{method: "GET", path: "/iceberg/v1/namespaces/" + s.workspace(t) + "/tables/uploaded_data"}
	icebergFault(t, q, s.send(t, q), 404, "NoSuchTableException")
}

// TestCatalogueWithIcebergGo has the REST client of iceberg-go sign in, list the tables, load
// them and plan the scan of every version.
func TestCatalogueWithIcebergGo(t *testing.T) {
	if os.Getenv("FEEDMILL_LONG") == "" {
		t.Skip("this is for FEEDMILL_LONG=1; TestCatalogue runs every time")
	}
	t.Parallel()
	s := start(t, withTables)
	f := s.upload(t, "&mode=append&name=One", "text/csv", tableRows(0, 50))
	s.put(t, f.ID, "", tableRows(50, 60))
	two := s.upload(t, "&name=Two", "text/csv", "id\n1\n")
	s.table(t, f.ID)
	s.table(t, two.ID)
	program, err := filepath.Abs("../../bin/tools/iceberg")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, s.url+"/iceberg", adminKey)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run make iceberg first: %v", err)
	}
	var got map[string]map[string][]string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	rows := func(table, version string) (n int64) {
		for _, file := range got[table][version] {
			path, count, _ := strings.Cut(file, " ")
			var rows, bounds int64
			if _, err := fmt.Sscan(count, &rows, &bounds); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(strings.TrimPrefix(path, "file://")); err != nil {
				t.Error(err)
			}
			n += rows
		}
		return n
	}
	if len(got) != 2 || rows("one", "1") != 50 || rows("one", "2") != 60 || rows("two", "1") != 1 {
		t.Errorf("iceberg-go found %v", got)
	}
}
