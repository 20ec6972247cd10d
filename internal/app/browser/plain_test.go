package browser

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// plainVisitor is somebody whose browser runs no scripts, and who has signed in.
type plainVisitor struct {
	t    *testing.T
	http *http.Client
}

func plainly(t *testing.T, key string) *plainVisitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &plainVisitor{t, &http.Client{Jar: jar}}
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

// TestWithoutScripts reads every page and sends plain forms as a browser without scripts
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
		"/ui/feeds":                            "Shop orders",
		"/ui/feeds/new":                        "Upload a file",
		"/ui/feeds/new/upload":                 "Make feed",
		"/ui/feeds/new/rest":                   "Definition",
		"/ui/feeds/new/query?service=feeds":    "Shop orders",
		"/ui/feeds/" + f.ID:                    "98765",
		"/ui/feeds/" + f.ID + "/versions":      "current",
		"/ui/feeds/" + f.ID + "/links":         "New link",
		"/ui/feeds/" + f.ID + "/use":           "DuckDB",
		"/ui/connections":                      "feeds",
		"/ui/connections/new":                  "PostgreSQL",
		"/ui/events":                           "metric.created",
		"/ui/events/" + event:                  `&#34;value&#34;</span>: <span class="json-value">1<`,
		"/ui/subscriptions":                    "Plain",
		"/ui/subscriptions/" + sub:             "metric.created",
		"/ui/subscriptions/" + sub + "/replay": "Count",
		"/ui/keys":                             "Plain",
		"/ui/audit":                            "subscription.create",
		"/ui/start":                            "From a file to a webhook",
		"/ui/keyboard":                         "search this page",
		"/ui/feeds/" + f.ID + "/profile":       "98765",
		"/ui/feeds/" + f.ID + "/settings":      "Delete feed",
		"/ui/feeds/" + f.ID + "/upload":        "Upload again",
		"/ui/feeds/" + f.ID + "/refreshes":     "Succeeded",
		"/ui/feeds/" + f.ID + "/refreshes/" + f.LastRefresh.ID:              "rows in",
		"/ui/feeds/" + f.ID + "/refreshes/" + f.LastRefresh.ID + "/rejects": "No row was rejected",
		"/ui/events/publish":                   "metric.created",
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
	for _, form := range []struct {
		path string
		form url.Values
		want string
	}{
		{"/ui/feeds/" + fetched[1] + "/settings", with(schedule, "do", "show"), "The next five, in Europe/Paris"},
		{"/ui/feeds/" + fetched[1] + "/settings", schedule, "Saved"},
		{"/ui/feeds/" + fetched[1] + "/pause", nil, "Paused"},
		{"/ui/feeds/" + fetched[1] + "/resume", nil, "Resumed"},
		{"/ui/feeds/" + fetched[1] + "/refresh", nil, "Refresh started"},
		{"/ui/feeds/" + f.ID + "/versions/1", url.Values{"do": {"pin"}}, "pinned"},
		{"/ui/feeds/" + f.ID + "/links", url.Values{"name": {"Plain link"}}, "/links/"},
		{"/ui/subscriptions/" + sub + "/test", nil, "The endpoint took the test"},
		{"/ui/subscriptions/" + sub + "/edit", url.Values{"name": {"Plainer"}, "url": {to.URL}, "httpOperation": {"POST"}, "events": {"metric.*"}}, "Plainer"},
		{"/ui/subscriptions/" + sub + "/rotate", url.Values{"overlap": {"24h"}}, "whsec_"},
		{"/ui/subscriptions/" + sub + "/replay", url.Values{"state": {"all"}}, "deliver"},
		{"/ui/subscriptions/" + sub + "/pause", nil, "Paused"},
		{"/ui/subscriptions/" + sub + "/activate", nil, "Activated"},
		{"/ui/theme", url.Values{"theme": {"dark"}, "back": {"/ui/feeds"}}, `data-theme="dark"`},
		{"/ui/connections/new", url.Values{"serviceName": {"warehouse"}, "connector": {"postgres"}, "host": {"127.0.0.1"}, "port": {"1"}, "database": {"shop"}, "user": {"reader"}, "password": {"s3cret"}}, "warehouse"},
		{"/ui/subscriptions/" + sub + "/delete", nil, "Deleted"},
		{"/ui/feeds/" + f.ID + "/delete", nil, "Deleted"},
	} {
		if text := v.send(form.path, form.form); !strings.Contains(text, form.want) {
			t.Errorf("%s leads to a page without %q", form.path, form.want)
		}
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
func (v *plainVisitor) uploadPlainly(once, name string) {
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
	v.read(v.http.Post(server.url+"/ui/feeds/new/upload", form.FormDataContentType(), &body))
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
