package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

var makeStore = flag.String("make-store", "", "the program of a release, to make its testdata/store-*.tar.gz with")

// released is what a store of a release has, as its program said.
type released struct {
	// Answers are those of GET, by path, and Secrets those of subscriptions, by
	// their URL.
	Answers map[string]string
	Secrets map[string]string
	// IDs are by name.
	IDs map[string]string
	// Kept is the answer that is kept for the request that keptRequest is.
	Kept string
}

const (
	keptRequest = `{"url":"http://hooks.test/kept","events":["tag.deleted"]}`
	keptKey     = "the-key-of-a-release"
)

// TestMakeStore makes the archives that TestStoreOfARelease opens:
//
//	go test ./cmd/feedmill -run TestMakeStore -make-store=/path/to/feedmill
//
// They hold the data folder of that program, in PostgreSQL's case with a dump
// of the database, after it was stopped. By hand only the answer that is kept
// for an Idempotency-Key is made to be kept for ever.
func TestMakeStore(t *testing.T) {
	if *makeStore == "" {
		t.Skip("-make-store does not name the program of a release")
	}
	t.Run("sqlite", func(t *testing.T) {
		folder := t.TempDir()
		data := filepath.Join(folder, "data")
		fillStore(t, folder, nil)
		if err := changeFile(t.Context(), data, `UPDATE once SET expires_at = 32503680000000`, `VACUUM`); err != nil {
			t.Fatal(err)
		}
		pack(t, folder, "testdata/store-1-sqlite.tar.gz")
	})
	t.Run("postgres", func(t *testing.T) {
		folder, url := t.TempDir(), pgtest.New(t)
		fillStore(t, folder, []string{"FEEDMILL_DATABASE_URL=" + url})
		if err := changeDatabase(t.Context(), url, `UPDATE once SET expires_at = '3000-01-01'`); err != nil {
			t.Fatal(err)
		}
		dump, err := exec.CommandContext(t.Context(), "pg_dump", "--no-owner", "--no-privileges", "--inserts", url).Output()
		if err != nil {
			t.Fatal(err)
		}
		// What is left is SQL: no commands to psql.
		text := regexp.MustCompile(`(?m)^\\.*\n`).ReplaceAll(dump, nil)
		if err := os.WriteFile(filepath.Join(folder, "dump.sql"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		pack(t, folder, "testdata/store-1-postgres.tar.gz")
	})
}

// fillStore has the release make the data folder, and notes what it has in
// released.json beside it.
func fillStore(t *testing.T, folder string, env []string) {
	t.Helper()
	out := newOutside(t, "/failing", "/exhausted")
	env = append(append(out.env(), "FEEDMILL_BOOTSTRAP_KEY="+sharedFirstKey), env...)
	serve := func(env ...string) *process {
		cmd := exec.CommandContext(t.Context(), *makeStore, "serve", "--listen=127.0.0.1:0", "--data="+filepath.Join(folder, "data"))
		cmd.Env = append(os.Environ(), env...)
		p, err := start(cmd)
		return p.until(t, err)
	}
	m := maker{T: t, process: serve(append(env, "FEEDMILL_RETRY_SCHEDULE=10ms")...), made: released{Answers: make(map[string]string), Secrets: make(map[string]string), IDs: make(map[string]string)}}
	m.settings()
	m.feeds()
	m.event("order-1", "metric.created", "m_1")
	m.event("order-2", "metric.deleted", "m_1")
	out.await(t, "/hook", 2)
	m.event("", "dashboard.created", "d_1")
	out.await(t, "/exhausted", 2)
	eventually(t, "a delivery is given up", func() bool { return strings.Contains(m.get("/events/undelivered"), "exhausted") })
	m.mustStop(t)

	m.process = serve(append(env, "FEEDMILL_RETRY_SCHEDULE=60s,60s")...) // long enough to stop within it
	m.event("", "tag.created", "u_1")
	out.await(t, "/failing", 1)
	eventually(t, "an attempt is written", func() bool { return strings.Contains(m.get("/events?type=tag.created"), "retrying") })
	m.note()
	m.mustStop(t)
	text, err := json.MarshalIndent(m.made, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "released.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// maker fills a store.
type maker struct {
	*testing.T
	*process
	made released
}

func (m *maker) do(method, path, body string, status int) string {
	m.Helper()
	resp, answer, err := send(method, m.url+path, body)
	if err != nil || resp.StatusCode != status {
		m.Fatalf("%s %s: %v %s, %v", method, path, resp, answer, err)
	}
	return string(answer)
}

func (m *maker) get(path string) string {
	m.Helper()
	return m.do(http.MethodGet, path, "", http.StatusOK)
}

// settings makes a workspace, keys and subscriptions.
func (m *maker) settings() {
	m.Helper()
	m.do(http.MethodPost, "/workspaces", `{"name":"Other"}`, http.StatusCreated)
	m.do(http.MethodPost, "/keys", `{"name":"Reader","scopes":["api:read"]}`, http.StatusCreated)
	for name, body := range map[string]string{
		"rotated":   `{"name":"Rotated","url":"http://hooks.test/hook","events":["metric.*"],"delivery":{"timeout":"5s","rateLimit":100,"headers":{"X-Team":"blue","Authorization":"Bearer s3cret"}}}`,
		"paused":    `{"name":"Paused","url":"http://hooks.test/paused","events":["metric.*"],"httpOperation":"GET","delivery":{"ordered":true,"concurrency":2}}`,
		"failing":   `{"url":"http://hooks.test/failing","events":["tag.created"]}`,
		"exhausted": `{"url":"http://hooks.test/exhausted","events":["dashboard.*"],"filters":{"resourceId":"d_1"}}`,
		"disabled":  `{"url":"http://hooks.test/disabled","events":["metric.created"]}`,
	} {
		m.made.IDs[name], m.made.Secrets["/"+name] = m.secretOf(m.do(http.MethodPost, "/events/subscriptions", body, http.StatusCreated))
	}
	m.setState(m.T, m.made.IDs["paused"], "paused")
	m.setState(m.T, m.made.IDs["disabled"], "disabled")
	path := "/events/subscriptions/" + m.made.IDs["rotated"] + "/rotate_secret"
	_, m.made.Secrets["/hook"] = m.secretOf(m.do(http.MethodPost, path, `{"overlap":"24h"}`, http.StatusOK))
	m.made.Kept = m.keep(m.T)
}

func (m *maker) secretOf(answer string) (id, secret string) {
	m.Helper()
	var made struct {
		Data struct{ ID, SigningSecret string }
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		m.Fatal(err)
	}
	return made.Data.ID, made.Data.SigningSecret
}

// keep makes the request whose answer is kept.
func (p *process) keep(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/events/subscriptions", strings.NewReader(keptRequest))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+sharedFirstKey)
	req.Header.Set("Idempotency-Key", keptKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s, %v", resp.StatusCode, text, err)
	}
	return string(text)
}

// feeds makes one of each kind of feed.
func (m *maker) feeds() {
	m.Helper()
	c := m.client(sharedFirstKey)
	upload := func(feed string, u client.Upload) client.DataFeed {
		var f client.DataFeed
		var err error
		if feed == "" {
			f, err = c.CreateDataFeed(m.Context(), u)
		} else {
			f, err = c.ReplaceData(m.Context(), feed, u)
		}
		if err != nil {
			m.Fatal(err)
		}
		return f
	}
	csv := func(text string) client.Upload {
		return client.Upload{Format: "csv", Name: "Prices", Data: strings.NewReader(text)}
	}
	f := upload("", csv("day;price;paid\n01.02.2026;1.234,50 €;yes\n28.02.2026;-0,05 €;no\n"))
	upload(f.ID, csv("day;price;paid\n03.03.2026;7,00 €;yes\n"))
	m.made.IDs["prices"] = f.ID
	people := func(text string) client.Upload {
		return client.Upload{Format: "ndjson", Name: "People", Data: strings.NewReader(text), Mode: "merge", Key: []string{"id"}}
	}
	f = upload("", people(`{"id":1,"name":"Zoë","tags":["a"],"big":12345678901234567890.5}`+"\n"))
	upload(f.ID, people(`{"id":2,"name":"Ada","at":"2026-01-01T12:00:00Z"}`+"\n"+`{"id":1,"name":"Zoe"}`+"\n"))
	m.made.IDs["people"] = f.ID
	f, err := c.CreateRestFeed(m.Context(), client.RestFeed{Wait: time.Minute, Spec: []byte(`{
		"name":"Orders","request":{"url":"http://shop.test/orders"},"auth":{"kind":"bearer","token":"s3cret"},"key":["id"],
		"incremental":{"cursorPath":"$.at","param":{"in":"query","name":"since"},"start":"2026-01-01T00:00:00Z","lookback":"1h"}}`)})
	if err != nil || f.Version != 1 {
		m.Fatalf("%+v, %v", f, err)
	}
	m.made.IDs["orders"] = f.ID
}

func (m *maker) event(id, kind, resource string) {
	m.Helper()
	e := client.NewEvent{ID: id, Type: kind, ResourceID: resource, Data: map[string]any{"n": 1.5}}
	if _, err := m.client(sharedFirstKey).Publish(m.Context(), e); err != nil {
		m.Fatal(err)
	}
}

// note notes what a release says of all that does not change by itself.
func (m *maker) note() {
	m.Helper()
	paths := []string{"/workspaces", "/events/subscriptions", "/events/undelivered", "/events?type=metric.created", "/events?type=dashboard.created", "/data_feeds"}
	for _, name := range []string{"rotated", "paused", "exhausted", "disabled"} {
		path := "/events/subscriptions/" + m.made.IDs[name] + "/deliveries"
		paths = append(paths, path)
		for _, id := range regexp.MustCompile(`dlv_\w+`).FindAllString(m.get(path), -1) {
			paths = append(paths, "/events/deliveries/"+id)
		}
	}
	for name, versions := range map[string]int{"prices": 2, "people": 2, "orders": 1} {
		path := "/data_feeds/" + m.made.IDs[name]
		paths = append(paths, path+"/refreshes", path+"/data", path+"/data?format=csv")
		for v := range versions {
			paths = append(paths, fmt.Sprintf("%s/data?version=%d", path, v+1))
		}
		for _, id := range regexp.MustCompile(`rfr_\w+`).FindAllString(m.get(path+"/refreshes"), -1) {
			paths = append(paths, path+"/refreshes/"+id)
		}
	}
	for _, path := range paths {
		m.made.Answers[path] = m.get(path)
	}
}

// pack writes a folder to an archive.
func pack(t *testing.T, folder, name string) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(zipped)
	if err := archive.AddFS(os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
}
