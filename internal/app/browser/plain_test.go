package browser

import (
	"bytes"
	"compress/gzip"
	"html"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// plainVisitor is somebody whose browser runs no scripts, and who has signed in.
type plainVisitor struct {
	t    *testing.T
	http *http.Client
	// seen are the pages and forms that were visited, as a method and a path.
	seen []string
}

func plainly(t *testing.T, key string) *plainVisitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &plainVisitor{t: t, http: &http.Client{Jar: jar}}
	v.send("/ui/sign-in", url.Values{"key": {key}})
	return v
}

func (v *plainVisitor) read(resp *http.Response, err error) string {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	for r := resp.Request; r != nil; { // and what led there
		v.seen = append(v.seen, r.Method+" "+r.URL.Path)
		if r.Response == nil {
			break
		}
		r = r.Response.Request
	}
	if resp.StatusCode != http.StatusOK {
		v.t.Errorf("%s is answered %d: %s", resp.Request.URL.Path, resp.StatusCode, text)
	}
	return string(text)
}

func (v *plainVisitor) see(path string) string {
	v.t.Helper()
	return v.read(v.http.Get(server.url + path))
}

func (v *plainVisitor) send(path string, form url.Values) string {
	v.t.Helper()
	return v.read(v.http.PostForm(server.url+path, form))
}

// refused sends a form that is not valid and returns the page that shows why.
func (v *plainVisitor) refused(path string, form url.Values) string {
	v.t.Helper()
	resp, err := v.http.PostForm(server.url+path, form)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusUnprocessableEntity {
		v.t.Errorf("%s %v returns %d, %v", path, form, resp.StatusCode, err)
	}
	return string(page)
}

// besides are the parts that scripts ask for, and the link that signs in once.
var besides = []string{"GET /ui/plan", "GET /ui/feeds/{id}/heads", "GET /ui/first"}

// unvisited are the other pages and forms that a visitor has not been at.
func (v *plainVisitor) unvisited() (all []string) {
	v.t.Helper()
	source, err := os.ReadFile("../../ui/ui.go")
	if err != nil {
		v.t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"((?:GET|POST) /ui/[^"]*)":`).FindAllStringSubmatch(string(source), -1) {
		path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(strings.TrimSuffix(m[1], "{$}"), `[^/]+`)
		expr := regexp.MustCompile("^" + path + "$")
		if !slices.ContainsFunc(v.seen, expr.MatchString) && !slices.Contains(besides, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

// TestWithoutScripts reads every page and sends every plain form as a browser without scripts
// does.
func TestWithoutScripts(t *testing.T) {
	c, key := workspace(t)
	to := newEndpoint(t)
	f := upload(t, c, "Shop orders", "orders.csv", orders)
	v := plainly(t, key)
	if text := v.send("/ui/subscriptions/new", url.Values{"name": {"Plain"}, "url": {to.URL}, "httpOperation": {"POST"}, "events": {"metric.*", "tag.created"}}); !strings.Contains(text, "whsec_") {
		t.Error("no secret is shown")
	}
	if text := v.send("/ui/events/publish", url.Values{"type": {"metric.created"}, "data": {`{"value":1}`}}); !strings.Contains(text, "Plain") {
		t.Error("the event does not say where it went")
	}
	if text := v.send("/ui/keys", url.Values{"name": {"Plain"}, "scopes": {"api:read"}}); !strings.Contains(text, "fm_") {
		t.Error("no key is shown")
	}
	var sub, event string
	for s, err := range c.Subscriptions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		sub = s.ID
	}
	for e, err := range c.Events(t.Context(), client.EventQuery{Type: "metric.created"}) {
		if err != nil {
			t.Fatal(err)
		}
		event = e.ID
	}
	for path, want := range map[string]string{
		"/ui/feeds":                                            "Shop orders",
		"/ui/feeds/new":                                        "Upload a file",
		"/ui/feeds/new/upload":                                 "Create feed",
		"/ui/feeds/new/rest":                                   "Definition",
		"/ui/feeds/new/query?service=feeds":                    "Shop orders",
		"/ui/feeds/" + f.ID:                                    "98765",
		"/ui/feeds/" + f.ID + "/versions":                      "current",
		"/ui/feeds/" + f.ID + "/links":                         "New link",
		"/ui/feeds/" + f.ID + "/use":                           "DuckDB",
		"/ui/connections":                                      "feeds",
		"/ui/connections/new":                                  "PostgreSQL",
		"/ui/events":                                           "metric.created",
		"/ui/events/" + event:                                  `&#34;value&#34;</span>: <span class="json-value">1<`,
		"/ui/subscriptions":                                    "Plain",
		"/ui/subscriptions/" + sub:                             "metric.created",
		"/ui/subscriptions/" + sub + "/replay":                 "Count",
		"/ui/keys":                                             "Plain",
		"/ui/audit":                                            "subscription.create",
		"/ui/start":                                            "From a file to a webhook",
		"/ui/keyboard":                                         "search this page",
		"/ui/feeds/" + f.ID + "/chart?view=table":              "Copy link",
		"/ui/feeds/" + f.ID + "/lineage":                       "Lineage",
		"/ui/feeds/" + f.ID + "/profile":                       "98765",
		"/ui/feeds/" + f.ID + "/settings":                      "Delete feed",
		"/ui/feeds/" + f.ID + "/upload":                        "Upload again",
		"/ui/feeds/" + f.ID + "/columns":                       "Source name",
		"/ui/feeds/" + f.ID + "/checks":                        "Minimum rows",
		"/ui/feeds/" + f.ID + "/refreshes":                     "Succeeded",
		"/ui/feeds/" + f.ID + "/refreshes/" + f.LastRefresh.ID: "rows in",
		"/ui/feeds/" + f.ID + "/refreshes/" + f.LastRefresh.ID + "/rejects": "No row was rejected",
		"/ui/events/publish":                   "metric.created",
		"/ui/events/catalogue?q=revenue":       "metric.*",
		"/ui/events/catalogue/metric.created":  "Weekly revenue",
		"/ui/subscriptions/" + sub + "/edit":   "metric.*",
		"/ui/subscriptions/" + sub + "/rotate": "Rotate",
	} {
		if text := v.see(path); !strings.Contains(text, want) {
			t.Errorf("%s does not have %q", path, want)
		}
	}
	// Every plain form, and what it leads to; the last ones take away what the others made.
	rest := v.send("/ui/feeds/new/rest", url.Values{"name": {"Fetched"}, "method": {"GET"}, "url": {server.url + "/healthz"}, "auth": {"none"}, "paging": {"none"}, "mode": {"replace"}, "do": {"make"}})
	fetched := regexp.MustCompile(`/ui/feeds/(df_\w+)/settings`).FindStringSubmatch(rest)
	if fetched == nil {
		t.Fatal("the form made no feed")
	}
	schedule := url.Values{"name": {"Fetched"}, "when": {"cron"}, "cron": {"0 6 * * 1-5"}, "timezone": {"Europe/Paris"}}
	v.see("/ui/feeds/" + fetched[1] + "/source")
	v.see("/ui/feeds/" + fetched[1] + "/credential")
	for _, form := range []struct {
		path string
		form url.Values
		want string
	}{
		{"/ui/feeds/" + fetched[1] + "/settings", with(schedule, "do", "show"), "The next five, in Europe/Paris"},
		{"/ui/feeds/" + fetched[1] + "/settings", schedule, "Saved"},
		{"/ui/feeds/" + fetched[1] + "/source", url.Values{"do": {"save"}, "from": {"form"}, "name": {"Fetched again"}, "method": {"GET"}, "url": {server.url + "/healthz"}, "auth": {"none"}, "paging": {"none"}, "mode": {"replace"}}, "Saved"},
		{"/ui/feeds/" + fetched[1] + "/accept", nil, "Refresh started"},
		{"/ui/feeds/" + f.ID + "/columns", url.Values{"do": {"save"}, "column": {"c1"}, "name.c1": {"number"}, "type.c1": {"integer"}}, "Saved"},
		{"/ui/feeds/" + f.ID + "/columns", url.Values{"do": {"save"}, "column": {"c1"}, "name.c1": {"id"}, "type.c1": {"integer"}}, "Saved"},
		{"/ui/feeds/" + f.ID + "/checks", url.Values{"do": {"save"}, "minRows": {"1"}, "schemaPolicy": {"widen"}, "rules": {"2"}}, "Saved"},
		{"/ui/feeds/" + fetched[1] + "/pause", nil, "Paused"},
		{"/ui/feeds/" + fetched[1] + "/resume", nil, "Resumed"},
		{"/ui/feeds/" + fetched[1] + "/refresh", nil, "Refresh started"},
		{"/ui/feeds/" + f.ID + "/versions/1", url.Values{"do": {"pin"}}, "pinned"},
		{"/ui/feeds/" + f.ID + "/links", url.Values{"name": {"Plain link"}}, "/links/"},
		{"/ui/subscriptions/" + sub + "/test", nil, "The endpoint accepted the test"},
		{"/ui/subscriptions/" + sub + "/edit", url.Values{"name": {"Plainer"}, "url": {to.URL}, "httpOperation": {"POST"}, "events": {"metric.*"}}, "Plainer"},
		{"/ui/subscriptions/" + sub + "/rotate", url.Values{"overlap": {"24h"}}, "whsec_"},
		{"/ui/subscriptions/" + sub + "/replay", url.Values{"state": {"all"}}, "deliver"},
		{"/ui/subscriptions/" + sub + "/pause", nil, "Paused"},
		{"/ui/subscriptions/" + sub + "/activate", nil, "Activated"},
		{"/ui/theme", url.Values{"theme": {"dark"}, "back": {"/ui/feeds"}}, `data-theme="dark"`},
		{"/ui/connections/new", url.Values{"serviceName": {"warehouse"}, "connector": {"postgres"}, "host": {"127.0.0.1"}, "port": {"1"}, "database": {"shop"}, "user": {"reader"}, "password": {"s3cret"}}, "warehouse"},
	} {
		if text := v.send(form.path, form.form); !strings.Contains(text, form.want) {
			t.Errorf("%s leads to a page without %q", form.path, form.want)
		}
	}
	v.leaveNothingOut(c, f)
	v.alerts(c, f.ID)
	v.failures(c)
	v.catalogue(sub)
	v.deliverAgain(c, sub)
	// A query is built from the feed: the page names it and offers to delete the feed anyway.
	resp, err := v.http.PostForm(server.url+"/ui/feeds/"+f.ID+"/delete", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusConflict || !strings.Contains(string(text), "Asked plainly") || !strings.Contains(string(text), `name="force" value="true"`) {
		t.Errorf("the page must name the query that is built from the feed and offer to force its deletion: %d, %v, %s", resp.StatusCode, err, text)
	}
	for path, form := range map[string]url.Values{"/ui/subscriptions/" + sub + "/delete": nil, "/ui/feeds/" + f.ID + "/delete": {"force": {"true"}}} {
		if text := v.send(path, form); !strings.Contains(text, "Deleted") {
			t.Errorf("%s does not say that it was deleted", path)
		}
	}
	v.send("/ui/sign-out", nil)
	if left := v.unvisited(); len(left) > 0 {
		t.Errorf("no visitor without scripts was at %q", left)
	}
}

// leaveNothingOut visits what takes more than one step to come to: an older version, what is
// running, what was refused, and what only an operator sees.
func (v *plainVisitor) leaveNothingOut(c *client.Client, f client.DataFeed) {
	t := v.t
	t.Helper()
	want := func(page, text string) {
		t.Helper()
		if !strings.Contains(page, text) {
			t.Errorf("a page does not have %q", text)
		}
	}
	want(v.uploadPlainly("", "Sent plainly"), "Feed created")
	want(v.uploadTo("/ui/feeds/"+f.ID+"/upload", "", ""), "uploaded")
	changed, err := c.ReplaceData(t.Context(), f.ID, client.Upload{Data: strings.NewReader("id,name\n1,Ann\n3,Cleo\n"), Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	newest := strconv.FormatInt(changed.Version, 10)
	want(v.see("/ui/feeds/"+f.ID+"/compare?from=1&to="+newest), "inserted")
	want(v.see("/ui/feeds/"+f.ID+"?version=1"), "The current one is "+newest)
	want(v.send("/ui/feeds/"+f.ID+"/versions/1", url.Values{"do": {"unpin"}}), "Saved")
	want(v.send("/ui/feeds/"+f.ID+"/versions/1", url.Values{"do": {"restore"}}), "Restored as a new version")
	for link, err := range c.Links(t.Context(), f.ID) {
		if err != nil {
			t.Fatal(err)
		}
		want(v.send("/ui/feeds/"+f.ID+"/links/"+link.ID+"/revoke", nil), "Revoked")
	}
	want(v.send("/ui/feeds/new/query", url.Values{"service": {"feeds"}, "view": {f.ID}, "chosen": {"yes"}, "field": {"id"}, "name": {"Asked plainly"}}), "Feed created")
	// Errors of the query are at their fields.
	for pair, message := range map[string]string{
		"limit=many":                            `id="limit-message">The limit must be an integer`,
		"f.field=&f.op=eq&f.value=1":            `id="filter.0-message">Choose a field.`,
		"f.field=id&f.op=eq&f.value=x":          `id="filter.0-message">  Must be a number.`,
		"f.field=id&f.op=contains&f.value=1":    `id="filter.0-message"> The operator`,
		"field=name&as.name=id":                 `id="as.name-message">The field &#34;id&#34; is listed twice.`,
		"every=1s":                              `id="every-message">`,
		"timezone=Nowhere":                      `id="timezone-message">`,
		"j.view=df_missing":                     `id="join.0-message">`,
		"c.name=x&c.expression=id+%2B":          `id="computed.0-message">`,
		"h.field=id&h.fn=sum&h.op=gt&h.value=x": `id="having.0-message">`,
		"name=" + strings.Repeat("n", 300):      `id="name-message">The name must`,
	} {
		form, err := url.ParseQuery("service=feeds&view=" + f.ID + "&chosen=yes&field=id&" + pair)
		if err != nil {
			t.Fatal(err)
		}
		if page := v.refused("/ui/feeds/new/query", form); !strings.Contains(page, message) || strings.Count(page, `aria-invalid="true"`) != 1 {
			t.Errorf("%s does not have %s: %s", pair, message, page)
		}
	}
	want(v.refused("/ui/feeds/new/query", url.Values{"service": {"feeds"}, "view": {f.ID}, "chosen": {"yes"}}), "Choose at least one field.")

	// What takes as long as it likes can be cancelled.
	source := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer source.Close()
	slow, err := c.CreateRestFeed(t.Context(), client.RestFeed{Spec: []byte(`{"name":"Slow","request":{"url":"` + source.URL + `"}}`)})
	if err != nil || slow.LastRefresh == nil {
		t.Fatalf("the feed has no refresh: %v", err)
	}
	want(v.send("/ui/feeds/"+slow.ID+"/refreshes/"+slow.LastRefresh.ID+"/cancel", nil), "ancel")

	for connection, err := range c.Connections(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		path := "/ui/connections/" + connection.ID
		want(v.see(path), "warehouse")
		want(v.send(path, url.Values{"serviceName": {"warehouse"}, "connector": {"postgres"}, "host": {"127.0.0.1"}, "port": {"2"}, "database": {"shop"}, "user": {"reader"}, "password": {"s3cret"}}), "Saved")
		want(v.send(path+"/test", nil), "127.0.0.1")
		want(v.send(path+"/delete", nil), "Deleted")
	}
	for k, err := range c.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if k.Name == "Plain" {
			want(v.send("/ui/keys/"+k.ID+"/revoke", nil), "Revoked")
		}
	}
	want(v.send("/ui/start/sample", nil), "webhook")
	reader, err := c.CreateKey(t.Context(), client.NewKey{Name: "Reader", Scopes: []string{"api:read"}})
	if err != nil {
		t.Fatal(err)
	}
	refused, err := plainly(t, reader.Secret).http.Get(server.url + "/ui/keys")
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Body.Close()
	page, err := io.ReadAll(refused.Body)
	if err != nil || refused.StatusCode != http.StatusForbidden {
		t.Errorf("a page for others is answered %d (%v)", refused.StatusCode, err)
	}
	want(string(page), "Sign in with a key that has it")

	operator := plainly(t, server.key)
	want(operator.see("/ui/operate"), "Replicas and slots")
	want(operator.see("/ui/operate/replicas"), "Delivery slots")
	want(operator.see("/ui/workspaces"), "New workspace")
	want(operator.send("/ui/workspaces", url.Values{"name": {"Made plainly"}}), "Made plainly")
	short, err := admin().CreateWorkspace(t.Context(), "Short-lived")
	if err != nil {
		t.Fatal(err)
	}
	want(operator.see("/ui/workspaces/"+short.ID), "Short-lived")
	want(operator.send("/ui/workspaces/"+short.ID+"/change", url.Values{"name": {"Short-lived"}, "uploads": {"3"}}), "Saved")
	want(operator.send("/ui/workspaces/"+short.ID+"/portal", url.Values{"pages": {"subscriptions"}, "access": {"read"}, "expiresIn": {"1h"}}), "/portal/")
	for link, err := range admin().PortalLinks(t.Context(), short.ID) {
		if err != nil {
			t.Fatal(err)
		}
		want(operator.send("/ui/workspaces/"+short.ID+"/portal/"+link.ID+"/revoke", nil), "Revoked")
	}
	want(operator.send("/ui/workspaces/"+short.ID+"/delete", url.Values{"confirm": {"Short-lived"}}), "The server deletes this workspace")
	me, err := c.Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(operator.send("/ui/workspaces/"+me.Workspace.ID, nil), t.Name())
	v.seen = append(v.seen, operator.seen...)
}

// deliverAgain asks for deliveries once more in every way. What has arrived is refused, on a page
// that says so.
func (v *plainVisitor) deliverAgain(c *client.Client, sub string) {
	v.t.Helper()
	v.see("/ui/subscriptions/new")
	for d, err := range c.Deliveries(v.t.Context(), sub, client.DeliveryQuery{}) {
		if err != nil {
			v.t.Fatal(err)
		}
		v.see("/ui/deliveries/" + d.ID)
		v.sendOrBeRefused("/ui/deliveries/" + d.ID + "/retry")
		break
	}
	v.sendOrBeRefused("/ui/subscriptions/" + sub + "/retry")
	v.send("/ui/subscriptions/"+sub+"/replay", url.Values{"state": {"all"}, "go": {"yes"}})
	replay := v.seen[len(v.seen)-2] // the page that the form led to
	v.sendOrBeRefused(strings.TrimPrefix(replay, "GET ") + "/cancel")
}

func (v *plainVisitor) sendOrBeRefused(path string) {
	v.t.Helper()
	resp, err := v.http.PostForm(server.url+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	resp.Body.Close()
	v.seen = append(v.seen, "POST "+path)
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusConflict {
		v.t.Errorf("%s is answered %d", path, resp.StatusCode)
	}
}

// with is a form with another value.
func with(form url.Values, name, value string) url.Values {
	other := maps.Clone(form)
	other.Set(name, value)
	return other
}

// field is the value of a hidden field of a page.
func field(t *testing.T, page, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]+)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no field %s", name)
	}
	return m[1]
}

// TestFormSentTwice sends forms as somebody does who is not patient: one thing comes of each,
// and a second one of a form that was changed.
func TestFormSentTwice(t *testing.T) {
	c, key := workspace(t)
	f := upload(t, c, "Shop orders", "orders.csv", orders)
	v := plainly(t, key)
	rest := url.Values{"name": {"Fetched"}, "method": {"GET"}, "url": {server.url + "/healthz"}, "auth": {"none"}, "paging": {"none"}, "mode": {"replace"}, "do": {"make"}, "once": {field(t, v.see("/ui/feeds/new/rest"), "once")}}
	query := url.Values{"service": {"feeds"}, "view": {f.ID}, "chosen": {"yes"}, "field": {"id"}, "name": {"Asked"}, "once": {field(t, v.see("/ui/feeds/new/query?service=feeds&view="+f.ID), "once")}}
	for range 2 {
		v.send("/ui/feeds/new/rest", rest)
		v.send("/ui/feeds/new/query", query)
		v.uploadPlainly(field(t, v.see("/ui/feeds/new/upload"), "once"), "Sent")
	}
	again := field(t, v.see("/ui/feeds/new/upload"), "once")
	v.uploadPlainly(again, "Sent again")
	v.uploadPlainly(again, "Sent again")
	query.Set("name", "Asked otherwise")
	v.send("/ui/feeds/new/query", query)
	counts := make(map[string]int)
	for f, err := range c.DataFeeds(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		counts[f.Name]++
	}
	want := map[string]int{"Shop orders": 1, "Fetched": 1, "Asked": 1, "Asked otherwise": 1, "Sent": 2, "Sent again": 1}
	if !maps.Equal(counts, want) {
		t.Errorf("the forms made %v", counts)
	}
}

// uploadPlainly sends a file as a form does.
func (v *plainVisitor) uploadPlainly(once, name string) string {
	v.t.Helper()
	return v.uploadTo("/ui/feeds/new/upload", once, name)
}

// uploadTo sends a file to a form.
func (v *plainVisitor) uploadTo(path, once, name string) string {
	v.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	form.WriteField("once", once)
	form.WriteField("name", name)
	part, err := form.CreateFormFile("file", "orders.csv")
	if err != nil {
		v.t.Fatal(err)
	}
	io.WriteString(part, orders)
	form.Close()
	return v.read(v.http.Post(server.url+path, form.FormDataContentType(), &body))
}

// TestFirstPageIsLight holds what a browser loads for its first page against what was
// promised, as it goes over the wire.
func TestFirstPageIsLight(t *testing.T) {
	c, key := workspace(t)
	upload(t, c, "Shop orders", "orders.csv", orders)
	v := plainly(t, key)
	total := 0
	load := func(path string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		resp, err := v.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		sent, err := io.ReadAll(resp.Body)
		if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s comes as %q (%v)", path, resp.Header.Get("Content-Encoding"), err)
		}
		total += len(sent)
		zip, err := gzip.NewReader(strings.NewReader(string(sent)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := load("/ui/feeds")
	seen := make(map[string]bool)
	var follow func(path string)
	follow = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		text := load(path)
		for _, m := range regexp.MustCompile(`from '\./([a-z]+\.js)'`).FindAllStringSubmatch(text, -1) {
			follow(path[:strings.LastIndexByte(path, '/')+1] + m[1])
		}
	}
	for _, m := range regexp.MustCompile(`"(/ui/assets/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		follow(m[1])
	}
	if len(seen) < 5 || total > 80_000 {
		t.Errorf("the first page is %d bytes in %d files", total, len(seen)+1)
	}
	t.Logf("the first page is %d bytes in %d files", total, len(seen)+1)
}

// TestSnippetsReadAllRows asks for what the programs on the page of uses ask for: all rows of the
// version that was chosen, however many there are.
func TestSnippetsReadAllRows(t *testing.T) {
	c, key := workspace(t)
	f := upload(t, c, "Long", "long.csv", "id\n"+strings.Repeat("1\n", 1200))
	text := html.UnescapeString(plainly(t, key).see("/ui/feeds/" + f.ID + "/use?format=ndjson&version=1"))
	asked := regexp.MustCompile(`http://[^"'\s]+/data\?[^"'\s]+`).FindAllString(text, -1)
	for _, u := range asked {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK || !strings.HasSuffix(u, "&version=1") {
			t.Errorf("%s is answered %d (%v)", u, resp.StatusCode, err)
		}
		if strings.Contains(u, "parquet") {
			continue
		}
		if n := bytes.Count(rows, []byte("\n")); n < 1200 {
			t.Errorf("%s has %d lines", u, n)
		}
	}
	if len(asked) < 4 || !strings.Contains(text, `version = "1"`) {
		t.Errorf("the programs ask for %q", asked)
	}
}
