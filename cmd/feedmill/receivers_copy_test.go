package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// mailbox keeps deliveries, so that they can be handed on in any order and again.
type mailbox struct {
	mu  sync.Mutex
	all []letter
}

type letter struct {
	header http.Header
	body   string
	kind   string
	data   struct {
		Version int64
		Fields  []string
	}
}

func (m *mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	l := letter{header: r.Header.Clone(), body: string(body), kind: r.Header.Get("x-service-event")}
	var event struct{ Data json.RawMessage }
	if json.Unmarshal(body, &event) == nil {
		_ = json.Unmarshal(event.Data, &l.data) // other events have other data
	}
	m.mu.Lock()
	m.all = append(m.all, l)
	m.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// find waits for a delivery.
func (m *mailbox) find(t *testing.T, what string, is func(letter) bool) letter {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		m.mu.Lock()
		for _, l := range m.all {
			if is(l) {
				m.mu.Unlock()
				return l
			}
		}
		m.mu.Unlock()
	}
	t.Fatalf("%s was not delivered", what)
	return letter{}
}

// TestACopyStaysInStep runs the receiver of the documentation that keeps a copy of a feed.
func TestACopyStaysInStep(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, table := filepath.Join(folder, "keep_copy.py"), filepath.Join(folder, "copy.db")
	if err := os.WriteFile(file, []byte(documentedReceivers(t, "../../docs/how-to/keep-a-copy.md")["copy"]), 0o600); err != nil {
		t.Fatal(err)
	}
	program := interpreted("python3")(t, file)
	server := serve(t, filepath.Join(folder, "data"), "FEEDMILL_BOOTSTRAP_KEY="+sharedFirstKey, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_LOG_LEVEL=error")
	c := server.client(sharedFirstKey)
	upload := func(mode feedmill.FeedMode, text string) client.Upload {
		u := client.Upload{Data: strings.NewReader(text), Format: "csv", Mode: mode}
		if mode == feedmill.ModeMerge {
			u.Key = []string{"id"}
		}
		return u
	}
	feed, err := c.CreateDataFeed(t.Context(), upload(feedmill.ModeMerge, "id,total\n1,1.5\n2,2.25\n3,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	box := &mailbox{}
	sink := httptest.NewServer(box)
	defer sink.Close()
	made := must(t, http.StatusCreated, sharedFirstKey, server.url+"/events/subscriptions",
		fmt.Sprintf(`{"url":%q,"events":["datafeed.source.*"],"filters":{"resourceId":%q}}`, sink.URL, feed.ID))

	cmd := exec.Command(program[0], program[1:]...)
	cmd.Env = append(os.Environ(), "PORT=0", "COPY="+table, "FEEDMILL_SERVER="+server.url, "FEEDMILL_API_KEY="+sharedFirstKey, "FEEDMILL_FEED="+feed.ID, "FEEDMILL_SECRET="+made["signingSecret"].(string))
	p, err := begin(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p.until(t, nil)
	hook, err := p.find(`listening on (http://\S+)`)
	if err != nil {
		t.Fatal(err)
	}
	send := func(l letter, wanted int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hook, strings.NewReader(l.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = l.header
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != wanted {
			t.Fatalf("answered with %d", resp.StatusCode)
		}
	}
	refreshed := func(version int64) letter {
		t.Helper()
		return box.find(t, fmt.Sprint("version ", version), func(l letter) bool {
			return l.kind == "datafeed.source.refreshed" && l.data.Version == version
		})
	}
	replace := func(mode feedmill.FeedMode, text string) {
		t.Helper()
		if _, err := c.ReplaceData(t.Context(), feed.ID, upload(mode, text)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(version int64) {
		t.Helper()
		rows, err := c.ReadData(t.Context(), feed.ID, client.RowQuery{Format: "ndjson", Version: version})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		wanted := make(map[string]map[string]any)
		for d := json.NewDecoder(rows); d.More(); {
			var row map[string]any
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			wanted[fmt.Sprint(row["id"])] = row
		}
		if got, at := readCopy(t, table); at != version || !reflect.DeepEqual(got, wanted) {
			t.Fatalf("the copy is at %d: %v, and version %d is %v", at, got, version, wanted)
		}
	}

	check(1)
	replace(feedmill.ModeMerge, "id,total\n2,2.5\n4,4\n")
	replace(feedmill.ModeReplace, "id,total\n2,2.5\n4,5\n6,6\n")
	replace(feedmill.ModeMerge, "id,total\n6,6.25\n7,7\n")
	late := refreshed(2)
	send(refreshed(3), http.StatusNoContent)
	check(3)
	send(late, http.StatusNoContent)
	send(refreshed(3), http.StatusNoContent)
	check(3)
	forged := refreshed(4)
	forged.body = strings.Replace(forged.body, `"changed":true`, `"changed":null`, 1)
	send(forged, http.StatusUnauthorized)
	check(3)
	send(refreshed(4), http.StatusNoContent)
	check(4)

	// The columns change, and what they are called.
	replace(feedmill.ModeMerge, "id,total,note\n7,7,x\n")
	send(refreshed(5), http.StatusNoContent)
	check(5)
	if _, err := c.ChangeColumns(t.Context(), feed.ID, []client.ColumnChange{{ID: "c2", Name: client.To("sum")}}); err != nil {
		t.Fatal(err)
	}
	send(box.find(t, "the change of columns", func(l letter) bool {
		return l.kind == "datafeed.source.updated" && strings.Contains(fmt.Sprint(l.data.Fields), "columns")
	}), http.StatusNoContent)
	check(5)

	// Versions that the copy never saw are not kept any more.
	if _, err := c.ChangeDataFeed(t.Context(), feed.ID, client.DataFeedChange{Keep: client.To(client.Keep{Versions: 1})}); err != nil {
		t.Fatal(err)
	}
	replace(feedmill.ModeMerge, "id,total,note\n7,8,y\n")
	replace(feedmill.ModeReplace, "id,total,note\n9,9,y\n")
	send(refreshed(6), http.StatusNoContent)
	check(7)
	send(refreshed(7), http.StatusNoContent)
	check(7)
}

// readCopy reads the rows of a copy, and the version that it has.
func readCopy(t *testing.T, table string) (rows map[string]map[string]any, version int64) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+table+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), `SELECT version FROM state`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	found, err := db.QueryContext(t.Context(), `SELECT key, row FROM rows`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	rows = make(map[string]map[string]any)
	for found.Next() {
		var key, text string
		var row map[string]any
		if err := found.Scan(&key, &text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			t.Fatal(err)
		}
		rows[key] = row
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows, version
}
