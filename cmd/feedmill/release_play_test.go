package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// player plays scenarios on a server.
type player struct {
	*process
	out       *outside
	databases databases
	keys      []string // of the workspaces
}

// played is what became of a scenario.
type played struct {
	ID, Parent string
	// Before is the feed as its release left it, and After as the same release saw it
	// after each further step.
	Before seen
	After  []seen
	// Drifted is After of the last release, where that is something else.
	Drifted []seen `json:",omitempty"`
}

// seen is a look at a feed. Where the wording may change it has the codes alone.
type seen struct {
	// Step is what came of the step: the status of an upload, or the refresh.
	Step     any
	Record   map[string]any
	Warnings []warning
	Rows     string
	Reads    map[string]string `json:",omitempty"`
	// Requests are those that the source got in this step, sorted.
	Requests []string `json:",omitempty"`
}

// warning is what a warning says besides its wording.
type warning struct {
	Code     string
	Column   string
	Count    int64
	FirstRow int64
	Examples []any `json:",omitempty"`
}

// create creates the feed of a scenario and its parent.
func (p *player) create(t *testing.T, s scenario) (made played) {
	t.Helper()
	if first := s.steps[0]; s.parentDefinition != "" {
		p.prepare(t, s, first, "")
		made.Parent = p.created(t, s, "?type=rest", strings.ReplaceAll(s.parentDefinition, "HOST", s.host()), http.StatusCreated)
	} else if first.parent != "" {
		made.Parent = p.created(t, s, "?type=dataUpload&format=csv&name=parent", first.parent, http.StatusCreated)
	}
	made.ID = p.begin(t, s, made.Parent)
	p.change(t, s, s.steps[0], made.ID)
	made.Before = p.look(t, s, made.ID)
	return made
}

// begin is the first step.
func (p *player) begin(t *testing.T, s scenario, parent string) (id string) {
	t.Helper()
	first := s.steps[0]
	p.prepare(t, s, first, "")
	if s.definition == "" {
		return p.created(t, s, "?type=dataUpload&name="+s.name+"&"+first.params, p.dataOf(t, s, first, parent), http.StatusCreated)
	}
	query := "?type=" + s.kind()
	if s.parentDefinition != "" {
		query += "&sourceOf=" + parent
	}
	id = p.created(t, s, query, p.defined(s, parent), http.StatusCreated)
	p.awaitReady(t, s, id)
	return id
}

func (p *player) defined(s scenario, parent string) string {
	return strings.NewReplacer("HOST", s.host(), "PARENT", parent, "@T", s.table()).Replace(s.definition)
}

// dataOf is the data of an upload. What begins with export: is the parent in that
// format.
func (p *player) dataOf(t *testing.T, s scenario, st step, parent string) string {
	t.Helper()
	if format, ok := strings.CutPrefix(st.data, "export:"); ok {
		_, data := p.call(t, s, http.MethodGet, "/data_feeds/"+parent+"/data?format="+format, "")
		return data
	}
	return st.data
}

// prepare makes the sources have what a step wants them to have.
func (p *player) prepare(t *testing.T, s scenario, st step, parent string) {
	t.Helper()
	if st.source != nil {
		p.out.serve(s.host(), st.source)
	}
	p.out.asked(s.host()) // forget what it was asked so far
	for _, statement := range st.sql {
		p.databases.run(t, s.service, strings.ReplaceAll(statement, "@T", s.table()))
	}
	if parent != "" && st.parent != "" {
		if status, text := p.call(t, s, http.MethodPut, "/data_feeds/"+parent+"/data?format=csv", st.parent); status != http.StatusOK {
			t.Fatalf("the parent: %d %s", status, text)
		}
	}
}

// reconnect makes the connections of both workspaces lead to the databases.
func (p *player) reconnect(t *testing.T) {
	t.Helper()
	for _, key := range p.keys {
		p.databases.reconnect(t, p.process, key)
	}
}

// again gives the sources of a scenario what they had when it was created.
func (p *player) again(t *testing.T, s scenario) {
	t.Helper()
	first := s.steps[0]
	first.parent = ""
	p.prepare(t, s, first, "")
}

// goOn takes all steps after the first.
func (p *player) goOn(t *testing.T, s scenario, has played) (after []seen) {
	t.Helper()
	for _, st := range s.steps[1:] {
		p.prepare(t, s, st, has.Parent)
		path := "/data_feeds/" + has.ID
		p.change(t, s, st, has.ID)
		var came any
		if s.definition == "" {
			status, text := p.call(t, s, http.MethodPut, path+"/data?"+st.params, p.dataOf(t, s, st, has.Parent))
			came = map[string]any{"status": status, "type": problemType(text)}
		} else {
			came = p.refresh(t, s, has.ID)
			if st.parent != "" {
				// What the parent got has started a refresh by itself, which may be the one
				// that was awaited. The next one finds what there is in any case.
				p.refresh(t, s, has.ID)
				came = nil
			}
		}
		look := p.look(t, s, has.ID)
		look.Step = came
		after = append(after, look)
	}
	return after
}

// change changes the record of a feed as a step says.
func (p *player) change(t *testing.T, s scenario, st step, id string) {
	t.Helper()
	path := "/data_feeds/" + id
	if st.patch != "" {
		if strings.HasPrefix(st.patch, "[") {
			path += "/columns"
		}
		if status, text := p.call(t, s, http.MethodPatch, path, st.patch); status != http.StatusOK {
			t.Fatalf("%s: %d %s", st.patch, status, text)
		}
	}
	if st.post != "" {
		if status, text := p.call(t, s, http.MethodPost, "/data_feeds/"+id+"/"+st.post, ""); status/100 != 2 {
			t.Fatalf("%s: %d %s", st.post, status, text)
		}
	}
}

func problemType(text string) string {
	var problem struct{ Type string }
	_ = json.Unmarshal([]byte(text), &problem) // a record has none
	if !strings.HasPrefix(problem.Type, "/problems/") {
		return ""
	}
	return problem.Type
}

// refresh runs a refresh and returns what is said of it.
func (p *player) refresh(t *testing.T, s scenario, id string) map[string]any {
	t.Helper()
	path := "/data_feeds/" + id + "/refresh"
	status, text := p.call(t, s, http.MethodPost, path, "")
	if status != http.StatusAccepted {
		return map[string]any{"status": status, "type": problemType(text)}
	}
	var envelope struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(text), &envelope); err != nil {
		t.Fatal(err)
	}
	path += "es/" + envelope.Data["id"].(string)
	eventually(t, path+" ends", func() bool {
		_, text := p.call(t, s, http.MethodGet, path, "")
		envelope.Data = nil
		if err := json.Unmarshal([]byte(text), &envelope); err != nil {
			t.Fatal(err)
		}
		return envelope.Data["state"] == "succeeded" || envelope.Data["state"] == "failed"
	})
	kept := pick(envelope.Data, "state", "outcome", "requests", "pages", "rowsIn", "rowsStored", "rowsRejected", "error")
	// Releases counted among the rows stored those that are counted apart now.
	for _, name := range []string{"rowsSuperseded", "rowsKnown"} {
		if n, ok := envelope.Data[name].(float64); ok {
			kept["rowsStored"] = kept["rowsStored"].(float64) + n
		}
	}
	kept["warnings"] = warningsOf(t, envelope.Data["warnings"])
	return kept
}

// awaitReady waits until the first refresh of a feed has ended.
func (p *player) awaitReady(t *testing.T, s scenario, id string) {
	t.Helper()
	eventually(t, s.name+" is ready", func() bool {
		record := p.record(t, s, id)
		if record["state"] == "failed" || record["state"] == "auth_required" {
			t.Fatalf("%v after %q", record["lastError"], p.out.asked(s.host()))
		}
		return record["state"] == "ready"
	})
}

func (p *player) record(t *testing.T, s scenario, id string) map[string]any {
	t.Helper()
	status, text := p.call(t, s, http.MethodGet, "/data_feeds/"+id, "")
	var envelope struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(text), &envelope); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", s.name, status, text, err)
	}
	return envelope.Data
}

// look looks at a feed.
func (p *player) look(t *testing.T, s scenario, id string) seen {
	t.Helper()
	record := p.record(t, s, id)
	view := seen{
		Record:   pick(record, "name", "type", "state", "columns", "rowCount", "version", "mode", "key", "schemaPolicy", "source", "lastError"),
		Warnings: warningsOf(t, record["warnings"]),
		Reads:    make(map[string]string),
		Requests: p.out.asked(s.host()),
	}
	path := "/data_feeds/" + id
	_, view.Rows = p.call(t, s, http.MethodGet, path+"/data?format=ndjson", "")
	for _, read := range s.reads {
		if strings.HasPrefix(read, "{") {
			_, view.Reads[read] = p.call(t, s, http.MethodPost, path+"/query?format=ndjson", read)
		} else {
			_, view.Reads[read] = p.call(t, s, http.MethodGet, path+"/data?"+read, "")
		}
	}
	return view
}

// pick is the part of a record that says the same for ever. Of an error it is the
// type.
func pick(record map[string]any, names ...string) map[string]any {
	picked := make(map[string]any)
	for _, name := range names {
		value, ok := record[name]
		if problem, isObject := value.(map[string]any); isObject && strings.HasSuffix(strings.ToLower(name), "error") {
			value = problem["type"]
		}
		if ok {
			picked[name] = value
		}
	}
	return picked
}

func warningsOf(t *testing.T, list any) []warning {
	t.Helper()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var warnings []warning
	if err := json.Unmarshal(text, &warnings); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(warnings, func(a, b warning) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	return warnings
}

// created creates something and returns its id.
func (p *player) created(t *testing.T, s scenario, query, body string, want int) string {
	t.Helper()
	status, text := p.call(t, s, http.MethodPost, "/data_feeds"+query, body)
	var envelope struct{ Data struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &envelope); err != nil || status != want {
		t.Fatalf("%s: %d %s, %v", s.name, status, text, err)
	}
	return envelope.Data.ID
}

func (p *player) call(t *testing.T, s scenario, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.keys[s.workspace()])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
