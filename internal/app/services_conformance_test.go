package app

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/connect/connecttest"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// conformance is what a built-in service is held to, against an API that answers as
// its documentation says.
type conformance struct {
	fake   func(testing.TB) *fakeAPI
	config map[string]any // besides the address of the API
	apiURL string         // what follows the address of the fake
	// more makes a further record of a view for the next fetch of what is new.
	more map[string]func(i int) apiRecord
	// counts are those of views whose rows are not one for each record.
	counts map[string]int64
}

var conformances = map[string]conformance{
	"github":      {fake: fakeGitHub, config: map[string]any{"repository": "acme/shop", "token": "ghp_secret"}, more: githubRecords},
	"stripe":      {fake: fakeStripe, config: map[string]any{"secretKey": "sk_test"}, apiURL: "/v1", more: stripeRecords},
	"frankfurter": {fake: fakeFrankfurter, config: map[string]any{}, apiURL: "/v1", more: map[string]func(int) apiRecord{"rates": rateOf}, counts: map[string]int64{"latest": 1}},
}

// serviceField is a field as it is listed.
type serviceField struct {
	Name, Type          string
	Operators, Pushdown []string
}

// TestServicesConform runs every view of every service that comes with the program:
// all its records over all pages, every filter that is passed on against the same
// filter on what was fetched, a refused credential, a wait, and what is new.
func TestServicesConform(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	for service, c := range conformances {
		t.Run(service, func(t *testing.T) {
			fake := c.fake(t)
			c.config["apiUrl"] = fake.URL + c.apiURL
			connection := s.connected(t, toJSON(map[string]any{"serviceName": service + " of a test", "connector": service, "config": c.config}))
			fake.set(false, 10)
			test := s.send(t, request{method: "POST", path: "/connections/" + connection.ID + "/test"})
			if asked := fake.requests(); !strings.HasPrefix(test.body, `{"ok":false`) || len(asked) != 1 {
				t.Errorf("a test of a busy service asked %q: %s", asked, test.body)
			}
			fake.set(false, 0)
			s.conforms(t, service+" of a test", c, fake)
		})
	}
}

// TestPersonalServicesConform is TestServicesConform for services that people connect:
// their manifests, with the addresses of a provider and an API of the test.
func TestPersonalServicesConform(t *testing.T) {
	t.Parallel()
	provider := connecttest.New()
	t.Cleanup(provider.Close)
	fakes, manifests := map[string]*fakeAPI{}, map[string]string{}
	for service, c := range personalConformances {
		text, err := os.ReadFile("../source/manifest/builtin/" + service + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		fakes[service] = c.fake(t)
		own := regexp.MustCompile(`(?m)^  (authorize|token|revoke)Url: .*$`).ReplaceAllString(string(text), "  ${1}Url: "+provider.URL+"/$1")
		own = regexp.MustCompile(`(apiUrl: .*default: )"[^"]*"`).ReplaceAllString(own, "${1}"+fakes[service].URL)
		// The pages are smaller here, and nobody has to wait between requests.
		manifests[service] = strings.NewReplacer("size: 10000", "size: 20", "rateLimit: {requests: 4, per: 1s}", "").Replace(own)
	}
	s := connectable(t, manifests, "")
	for service, c := range personalConformances {
		t.Run(service, func(t *testing.T) {
			p := newPerson(t, s)
			p.send(p.goes(s.creationLink(t, "", "serviceName="+service)), nil)
			settings := url.Values{"do": {"preview"}}
			for name, text := range c.config {
				settings.Set("setting."+name, fmt.Sprint(text))
			}
			if chosen := p.send("/ui/connect/choose", settings); chosen.status != 200 {
				t.Fatalf("%d %s", chosen.status, chosen.body)
			}
			s.conforms(t, service+"-1", c, fakes[service])
		})
	}
}

func (s *service) conforms(t *testing.T, service string, c conformance, fake *fakeAPI) {
	base := "/query_builder/services/" + strings.ReplaceAll(service, " ", "%20") + "/views"
	var views []struct{ Name string }
	if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: base}).body), &views); err != nil || len(views) == 0 {
		t.Fatal(err, views)
	}
	for i, v := range views {
		t.Run(v.Name, func(t *testing.T) {
			var fields []serviceField
			if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: base + "/" + v.Name + "/fields"}).body), &fields); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				fake.set(false, 1) // the first request has to wait
			}
			f := s.queried(t, serviceQuery(service, v.Name, fields, nil, ""))
			want, other := c.counts[v.Name]
			if !other {
				want = int64(len(fake.records[v.Name]))
			}
			if f.State != "ready" || f.RowCount != want || len(f.Columns) != len(fields) {
				t.Fatalf("%s %+v, %d rows of %d, %d columns of %d", f.State, f.LastError, f.RowCount, want, len(f.Columns), len(fields))
			}
			for i, field := range fields {
				if got := f.Columns[i]; got.Name != field.Name || got.Type != field.Type {
					t.Errorf("the column %+v is to be %+v", got, field)
				}
			}
			s.pushesDown(t, service, v.Name, f.ID, fields)
			s.fetchesNews(t, service, v.Name, c, fake, fields)
			if i > 0 {
				return
			}
			fake.set(true, 0)
			if f, _ = s.refreshed(t, f.ID); f.State != "auth_required" || f.Version != 1 {
				t.Errorf("%s %+v", f.State, f.LastError)
			}
			fake.set(false, 0)
		})
	}
}

// serviceQuery is a query for all fields, with a filter on one.
func serviceQuery(service, view string, fields []serviceField, filter map[string]any, more string) string {
	var asked []map[string]any
	for _, f := range fields {
		field := map[string]any{"field": f.Name}
		if filter != nil && filter["field"] == f.Name {
			field["filters"] = []any{filter["filter"]}
		}
		asked = append(asked, field)
	}
	return fmt.Sprintf(`{"serviceName":%q,"viewName":%q,"query":{"fields":%s}%s}`, service, view, toJSON(asked), more)
}

// pushesDown holds every filter that is passed on against the same filter on the data
// of a feed.
func (s *service) pushesDown(t *testing.T, service, view, feed string, fields []serviceField) {
	var rows []map[string]any
	d := json.NewDecoder(strings.NewReader(s.send(t, request{method: "GET", path: "/data_feeds/" + feed + "/data?limit=1000"}).body))
	d.UseNumber()
	if err := d.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		for _, op := range field.Pushdown {
			if !slices.Contains([]string{"eq", "gte", "between"}, op) && !decodetest.Long() {
				continue
			}
			var values []any
			low, high := rows[len(rows)/3][field.Name], rows[len(rows)/2][field.Name]
			if fmt.Sprint(low) > fmt.Sprint(high) {
				low, high = high, low
			}
			switch op {
			case "eq", "gt", "gte", "lt", "lte":
				values = []any{low}
			case "between":
				values = []any{low, high}
			case "last", "next":
				values = []any{map[string]any{"n": 30, "unit": "day"}}
			case "current", "toDate":
				values = []any{map[string]any{"unit": "month"}}
			}
			for _, inverted := range []bool{false, true} {
				if inverted && op != "eq" && !decodetest.Long() {
					continue
				}
				filter := map[string]any{"field": field.Name, "filter": map[string]any{"op": op, "values": values, "inverted": inverted}}
				spec := serviceQuery(service, view, fields[:0], nil, "")
				counted := fmt.Sprintf(`{"fields":[{"field":%q,"aggregate":"count","as":"n","filters":[%s]}]}`, field.Name, toJSON(filter["filter"]))
				spec = strings.Replace(spec, `{"fields":null}`, counted, 1)
				var passed struct{ Rows []map[string]int64 }
				s.send(t, request{method: "POST", path: "/query_builder/preview", body: spec}).data(t, &passed)
				var here []map[string]int64
				got := s.send(t, request{method: "POST", path: "/data_feeds/" + feed + "/query", body: counted})
				if err := json.Unmarshal([]byte(got.body), &here); err != nil || len(passed.Rows) != 1 {
					t.Fatal(err, got.body)
				}
				if passed.Rows[0]["n"] != here[0]["n"] {
					t.Errorf("%s %s %v inverted %v: %d rows of the API, %d of the feed", field.Name, op, values, inverted, passed.Rows[0]["n"], here[0]["n"])
				}
			}
		}
	}
}

// fetchesNews makes a feed that fetches what is new, twice.
func (s *service) fetchesNews(t *testing.T, service, view string, c conformance, fake *fakeAPI, fields []serviceField) {
	make := c.more[view]
	i := slices.IndexFunc(fields, func(f serviceField) bool { return slices.Contains(f.Pushdown, "gte") })
	if i < 0 || make == nil {
		return
	}
	f := s.queried(t, serviceQuery(service, view, fields, nil, fmt.Sprintf(`,"incremental":{"field":%q}`, fields[i].Name)))
	n := len(fake.records[view])
	if f.State != "ready" || f.RowCount != int64(n) || f.Mode != "append" {
		t.Fatalf("%+v %+v", f, f.LastError)
	}
	fake.add(view, make(n+1), make(n+2))
	fake.set(false, 0)
	f, r := s.refreshed(t, f.ID)
	if f.State != "ready" || f.RowCount != int64(n+2) || r.RowsIn > 5 {
		t.Errorf("%d rows, %d came, %+v; it was asked for %q", f.RowCount, r.RowsIn, f.LastError, fake.requests())
	}
	if f, r = s.refreshed(t, f.ID); *r.Outcome != "unchanged" || f.RowCount != int64(n+2) {
		t.Errorf("%d rows, %s", f.RowCount, *r.Outcome)
	}
	fake.mu.Lock()
	fake.records[view] = fake.records[view][:n]
	fake.mu.Unlock()
}

// TestServiceOfAnOperator: a manifest in the operator's folder takes the place of one
// that comes with the program, and is a service at once.
func TestServiceOfAnOperator(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	fake := fakeFrankfurter(t)
	text, err := os.ReadFile("../source/manifest/builtin/frankfurter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	own := strings.ReplaceAll(string(text), "https://api.frankfurter.dev", fake.URL)
	if err := os.WriteFile(filepath.Join(folder, "rates.yaml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_SERVICES_DIR="+folder)})
	services := s.send(t, request{method: "GET", path: "/query_builder/services"}).body
	for _, want := range []string{
		`{"serviceName":"frankfurter","title":"Frankfurter exchange rates","connector":"frankfurter","status":"connected"}`,
		`{"serviceName":"github","title":"GitHub","connector":"github","status":"notConfigured"}`,
		`{"serviceName":"hubspot","title":"HubSpot","connector":"hubspot","status":"personal"}`,
	} {
		if !strings.Contains(services, want) {
			t.Errorf("%s lacks %s", services, want)
		}
	}
	preview := s.send(t, request{method: "POST", path: "/query_builder/preview", body: `{"serviceName":"frankfurter","viewName":"rates","query":{"fields":[
		{"field":"date","filters":[{"op":"gte","values":["` + fakeDay.AddDate(0, 0, 52).Format("2006-01-02") + `"]}]},{"field":"USD"}],"sort":[{"field":"date","order":"desc"}]}}`})
	if !strings.Contains(preview.body, `"rows":[{"date":"`+fakeDay.AddDate(0, 0, 54).Format("2006-01-02")+`","USD":1.104},`) || !strings.Contains(preview.body, `"parameters":["from=`) || !strings.Contains(preview.body, `"url":"`+fake.URL) ||
		!strings.Contains(preview.body, `"filters":[{"field":"date","op":"gte","inverted":false,"ranIn":"both"}],"groupedHere":false`) {
		t.Errorf("%d %s", preview.status, preview.body)
	}
	for spec, want := range map[string]string{
		`{"serviceName":"github","viewName":"issues","query":{"fields":[{"field":"id"}]}}`:       "pointer /serviceName",
		`{"serviceName":"frankfurter","viewName":"rate","query":{"fields":[{"field":"date"}]}}`:  "pointer /viewName",
		`{"serviceName":"frankfurter","viewName":"rates","query":{"fields":[{"field":"days"}]}}`: "pointer /query/fields/0/field",
	} {
		if got := s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: spec}); got.status != 400 || got.problem(t).places()[0] != want {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	c := s.connected(t, `{"serviceName":"our rates","connector":"frankfurter","config":{"base":"USD"}}`)
	if test := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/test"}); !strings.HasPrefix(test.body, `{"ok":true`) {
		t.Errorf("%d %s", test.status, test.body)
	}
	personal := s.send(t, request{method: "POST", path: "/connections", body: `{"serviceName":"x","connector":"hubspot","config":{}}`})
	if personal.status != 400 || personal.problem(t).places()[0] != "pointer /connector" {
		t.Errorf("%d %s", personal.status, personal.body)
	}
	if moved := s.send(t, request{method: "POST", path: "/connections", body: `{"serviceName":"s","connector":"stripe","config":{"secretKey":"sk_test"}}`}); moved.status == 201 {
		var stripe shownConnection
		moved.data(t, &stripe)
		if got := s.send(t, request{method: "PATCH", path: "/connections/" + stripe.ID, body: `{"config":{"apiUrl":"https://elsewhere.example"}}`}); got.status != 400 || got.problem(t).places()[0] != "pointer /config/secretKey" {
			t.Errorf("a secret goes elsewhere: %d %s", got.status, got.body)
		}
	} else {
		t.Errorf("%d %s", moved.status, moved.body)
	}
}
