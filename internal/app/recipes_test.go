package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// recipes are the examples of docs/how-to/rest-recipes.md, by their headings.
func recipes(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/how-to/rest-recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for section := range strings.SplitSeq(string(text), "\n## ") {
		heading, rest, _ := strings.Cut(section, "\n")
		if _, example, ok := strings.Cut(rest, "```yaml\n"); ok {
			found[heading], _, _ = strings.Cut(example, "```")
		}
	}
	return found
}

// lookalike is a server that behaves as an API's documentation says.
type lookalike struct {
	// records are what the API has at first, and more what comes before the
	// second run: some are new, and some are changes.
	records, more []item
	// serve answers with what it has. A panic with a status answers that.
	serve func(a *imitation, w http.ResponseWriter, r *http.Request)
	// id is the column that tells rows apart.
	id string
}

// item is a record of an API's records: an id, and when it was changed.
type item struct {
	ID   int
	Text string
	At   time.Time
}

// imitation is a lookalike under way, with faults.
type imitation struct {
	lookalike
	mu      sync.Mutex
	records []item
	faults  *rand.Rand
	left    int
	asked   int
	state   map[string]int
	url     string
}

// found are the records from a time on, in the order of their changes.
func (a *imitation) found(since time.Time) []item {
	var found []item
	for _, r := range a.records {
		if !r.At.Before(since) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(x, y item) int { return x.At.Compare(y.At)*1000 + (x.ID - y.ID) })
	return found
}

// ServeHTTP answers, sometimes with a fault.
func (a *imitation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if a.left > 0 && a.faults.IntN(3) == 0 {
		a.left--
		switch a.faults.IntN(5) {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
		case 1:
			w.Header().Set("Retry-After", "0.1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusForbidden)
		case 3:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":[{"id":1},`)
		default:
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"data":[`)
		}
		return
	}
	answer := httptest.NewRecorder()
	answer.Header().Set("Content-Type", "application/json")
	func() {
		defer func() {
			if status, ok := recover().(int); ok {
				answer = httptest.NewRecorder()
				answer.WriteHeader(status)
				fmt.Fprintf(answer, `{"message":"no: %d"}`, status)
			}
		}()
		a.serve(a, answer, r)
	}()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// respond answers with JSON.
func (a *imitation) respond(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

// page is the part of records from an index on, and what the index is after it.
func page(all []item, from, size int) (some []item, next int, more bool) {
	from = min(max(from, 0), len(all))
	end := min(from+size, len(all))
	return all[from:end], end, end < len(all)
}

var hosts = regexp.MustCompile(`https://[a-z0-9.-]+`)

// Every example of the documentation brings everything, and the second time what is
// new: nothing twice, and nothing left out, whatever goes wrong on the way.
func TestRecipes(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	s := start(t, webhooks)
	examples := recipes(t)
	for name := range examples {
		if _, ok := lookalikes[name]; !ok {
			t.Errorf("the example %q has no lookalike", name)
		}
	}
	for name, like := range lookalikes {
		example, ok := examples[name]
		if !ok {
			t.Errorf("there is no example %q", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &imitation{lookalike: like, records: like.records, faults: rand.New(rand.NewPCG(seed, uint64(len(name)))), left: 3, state: map[string]int{}}
			server := httptest.NewServer(a)
			t.Cleanup(server.Close)
			a.url = server.URL
			spec := hosts.ReplaceAllString(example, server.URL)
			spec = strings.ReplaceAll(spec, `privateKey: "…"`, "privateKey: "+string(quotedKey))
			spec = strings.ReplaceAll(strings.ReplaceAll(spec, `"…"`, `"s3cret"`), "ApiKey …", "ApiKey s3cret")
			if strings.Contains(spec, "df_…") {
				parents := s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload", body: `[{"id":1,"title":"one"},{"id":2,"title":"two"}]`})
				var f shownFeed
				parents.data(t, &f)
				spec = strings.ReplaceAll(spec, "df_…", f.ID)
			}
			made := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: spec, header: [][2]string{{"Content-Type", "application/yaml"}, {"Prefer", "wait=60"}}})
			if made.status != 201 {
				t.Fatalf("%d %s", made.status, made.body)
			}
			var f restFeed
			made.data(t, &f)
			a.check(t, s, f, like.records)
			a.mu.Lock()
			a.records, a.left = changed(like.records, like.more), 3
			a.mu.Unlock()
			f, _ = s.refreshed(t, f.ID)
			a.check(t, s, f, a.records)
			f, r := s.refreshed(t, f.ID)
			a.check(t, s, f, a.records)
			if r.Outcome == nil || *r.Outcome != "unchanged" {
				t.Errorf("the third run: %+v", r)
			}
		})
	}
}

// changed are records after others have come or taken their places.
func changed(records, more []item) []item {
	all := slices.Clone(records)
	for _, m := range more {
		if i := slices.IndexFunc(all, func(r item) bool { return r.ID == m.ID }); i >= 0 {
			all[i] = m
		} else {
			all = append(all, m)
		}
	}
	return all
}

// check holds the rows of a feed against the records.
func (a *imitation) check(t *testing.T, s *service, f restFeed, records []item) {
	t.Helper()
	if f.State != "ready" {
		t.Fatalf("%s: %+v", f.State, f.LastError)
	}
	var got, want []string
	for line := range strings.Lines(s.read(t, f.ID, "")) {
		var row map[string]any
		if err := json.NewDecoder(bytes.NewReader([]byte(line))).Decode(&row); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(row[a.id]))
	}
	for _, r := range records {
		want = append(want, a.name(r))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("has %v, want %v", got, want)
	}
}

// name is what the column of the id has of a item.
func (a *imitation) name(r item) string {
	if a.id == "text" || a.id == "title" || a.id == "Title" || a.id == "day" || a.id == "date" {
		return r.Text
	}
	return fmt.Sprint(r.ID)
}
