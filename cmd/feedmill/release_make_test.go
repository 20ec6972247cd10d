package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

var (
	makeStore  = flag.String("make-store", "", "the program of a release, to make its testdata/store-*.tar.gz with")
	storeOf    = flag.Int("store-of", lastRelease, "the number of that release")
	laterStore = flag.String("later-store", "", "the program of the last release, to note what it does with the store")
)

// released is what a store of a release has, as its program said.
type released struct {
	Release int
	// Through says that the last release has opened the store since.
	Through bool `json:"-"`
	// Answers are those of GET, by path, and Secrets those of subscriptions, by
	// their URL.
	Answers map[string]string
	Secrets map[string]string
	// IDs are by name.
	IDs map[string]string
	// Kept is the answer that is kept for the request that keptRequest is.
	Kept string
	// Keys are those of the workspaces that scenarios were played in.
	Keys   []string
	Played map[string]*played
}

const (
	keptRequest = `{"url":"http://hooks.test/kept","events":["tag.deleted"]}`
	keptKey     = "the-key-of-a-release"
	// lastSchedule is what a release had in the end: long enough to stop within it.
	lastSchedule = "FEEDMILL_RETRY_SCHEDULE=60s,60s"
)

// TestMakeStore makes the archives that TestStoreOfARelease opens:
//
//	go test ./cmd/feedmill -run TestMakeStore -make-store=/path/to/feedmill -store-of=2
//
// They hold the data folder of that program, in PostgreSQL's case with a dump
// of the database, after it was stopped. By hand only the answer that is kept
// for an Idempotency-Key is made to be kept for ever. What the release does with
// the further steps of the scenarios it does on a copy; for a release before the
// last, -later-store names the program of that one, which does the same on another.
func TestMakeStore(t *testing.T) {
	if *makeStore == "" {
		t.Skip("-make-store does not name the program of a release")
	}
	mariaDB := lazyMariaDB(t)
	t.Run("sqlite", func(t *testing.T) {
		m := newMaker(t, nil)
		m.fill(mariaDB)
		if err := changeFile(t.Context(), m.data(), `UPDATE once SET expires_at = 32503680000000`, `VACUUM`); err != nil {
			t.Fatal(err)
		}
		m.goOn(mariaDB, func(*testing.T) []string { return nil })
		m.pack("sqlite")
	})
	t.Run("postgres", func(t *testing.T) {
		url := pgtest.New(t)
		m := newMaker(t, []string{"FEEDMILL_DATABASE_URL=" + url})
		m.fill(mariaDB)
		if err := changeDatabase(t.Context(), url, `UPDATE once SET expires_at = '3000-01-01'`); err != nil {
			t.Fatal(err)
		}
		dump, err := exec.CommandContext(t.Context(), "pg_dump", "--no-owner", "--no-privileges", "--inserts", url).Output()
		if err != nil {
			t.Fatal(err)
		}
		// What is left is SQL: no commands to psql.
		text := regexp.MustCompile(`(?m)^\\.*\n`).ReplaceAll(dump, nil)
		if err := os.WriteFile(filepath.Join(m.folder, "dump.sql"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		m.goOn(mariaDB, func(t *testing.T) []string { return []string{"FEEDMILL_DATABASE_URL=" + pgtest.Copy(t, url)} })
		m.pack("postgres")
	})
}

// maker fills a store.
type maker struct {
	*testing.T
	*process
	folder    string // that is packed
	out       *outside
	databases databases
	env       []string
	made      released
}

func newMaker(t *testing.T, env []string) *maker {
	t.Helper()
	m := &maker{T: t, folder: t.TempDir(), out: newOutside(t, "/failing", "/exhausted"), env: env}
	m.made = released{Release: *storeOf, Answers: make(map[string]string), Secrets: make(map[string]string), IDs: make(map[string]string), Played: make(map[string]*played)}
	return m
}

func (m *maker) data() string { return filepath.Join(m.folder, "data") }

// serve starts the program of a release.
func (m *maker) serve(program, dir, data string, env ...string) {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), program, "serve", "--listen=127.0.0.1:0", "--data="+data)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), m.out.env(), []string{"FEEDMILL_BOOTSTRAP_KEY=" + sharedFirstKey}, sourcesEnv(*storeOf, m.folder), env)
	p, err := start(cmd)
	m.process = p.until(m.T, err)
}

// sourcesEnv allows the sources of a release's scenarios.
func sourcesEnv(release int, folder string) []string {
	if release < lastRelease {
		return nil
	}
	return []string{"FEEDMILL_EGRESS_ALLOW=*.test,127.0.0.0/8", "FEEDMILL_DATABASE_DIRS=" + here, "FEEDMILL_SERVICES_DIR=" + filepath.Join(folder, "services")}
}

// fill has the release make the data folder.
func (m *maker) fill(mariaDB func(*testing.T) int) {
	m.Helper()
	dir := m.TempDir()
	m.databases = newDatabases(m.T, *storeOf, dir, mariaDB)
	if err := os.MkdirAll(filepath.Join(m.folder, "services"), 0o700); err != nil {
		m.Fatal(err)
	}
	for name, text := range manifests {
		if err := os.WriteFile(filepath.Join(m.folder, "services", name), []byte(text), 0o600); err != nil {
			m.Fatal(err)
		}
	}
	m.serve(*makeStore, dir, m.data(), append(m.env, "FEEDMILL_RETRY_SCHEDULE=10ms")...)
	m.settings()
	m.feeds()
	m.event("order-1", "metric.created", "m_1")
	m.event("order-2", "metric.deleted", "m_1")
	m.out.await(m.T, "/hook", 2)
	m.event("", "dashboard.created", "d_1")
	m.out.await(m.T, "/exhausted", 2)
	eventually(m.T, "a delivery is given up", func() bool { return strings.Contains(m.get("/events/undelivered"), "exhausted") })
	for i := range 2 {
		id, _ := m.secretOf(m.do(http.MethodPost, "/workspaces", fmt.Sprintf(`{"name":"Scenarios %d"}`, i+1), http.StatusCreated))
		var made struct{ Data struct{ Key string } }
		text := m.do(http.MethodPost, "/keys", fmt.Sprintf(`{"name":"Scenarios","scopes":["api:read","api:write"],"workspaceId":%q}`, id), http.StatusCreated)
		if err := json.Unmarshal([]byte(text), &made); err != nil {
			m.Fatal(err)
		}
		m.made.Keys = append(m.made.Keys, made.Data.Key)
		m.databases.connect(m.T, m.process, made.Data.Key)
	}
	p := m.player()
	for _, s := range scenariosOf(*storeOf) {
		m.Run(s.name, func(t *testing.T) {
			made := p.create(t, s)
			m.made.Played[s.name] = &made
		})
	}
	if m.Failed() {
		m.FailNow()
	}
	m.mustStop(m.T)

	m.serve(*makeStore, dir, m.data(), append(m.env, lastSchedule)...)
	m.event("", "tag.created", "u_1")
	m.out.await(m.T, "/failing", 1)
	eventually(m.T, "an attempt is written", func() bool { return strings.Contains(m.get("/events?type=tag.created"), "retrying") })
	m.note()
	m.mustStop(m.T)
}

func (m *maker) player() *player {
	return &player{process: m.process, out: m.out, databases: m.databases, keys: m.made.Keys}
}

// goOn has the release take the further steps of the scenarios, on a copy of its
// store, and the last release too.
func (m *maker) goOn(mariaDB func(*testing.T) int, copyOf func(*testing.T) []string) {
	m.Helper()
	archive := filepath.Join(m.TempDir(), "copy.tar.gz")
	pack(m.T, m.folder, archive)
	for i, program := range []string{*makeStore, *laterStore} {
		if program == "" {
			continue
		}
		m.Run(fmt.Sprintf("steps %d", i+1), func(t *testing.T) {
			later := *m
			later.T, later.out, later.folder = t, newOutside(t), unpack(t, archive)
			dir := t.TempDir()
			later.databases = newDatabases(t, *storeOf, dir, mariaDB)
			later.serve(program, dir, later.data(), copyOf(t)...)
			p := later.player()
			p.reconnect(t)
			for _, s := range scenariosOf(*storeOf) {
				has := m.made.Played[s.name]
				p.again(t, s)
				after := p.goOn(t, s, *has)
				for j := range after {
					if i > 0 && difference(t, *storeOf, has.After[j], after[j]) != "" {
						has.Drifted = after
					}
				}
				if i == 0 {
					has.After = after
				}
			}
			later.mustStop(t)
		})
	}
}

func decoded(t *testing.T, v any) (value any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// pack writes the archive.
func (m *maker) pack(store string) {
	m.Helper()
	text, err := json.MarshalIndent(m.made, "", "\t")
	if err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.folder, "released.json"), text, 0o600); err != nil {
		m.Fatal(err)
	}
	pack(m.T, m.folder, fmt.Sprintf("testdata/store-%d-%s.tar.gz", *storeOf, store))
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
