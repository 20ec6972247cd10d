package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// whole is a definition with everything in it.
const whole = `{"name":"Orders","description":"d","request":{"method":"POST","url":"https://api.test:8443/{{today-7d}}/x?since={{now|unix}}&api_key=SECRET1",
	"query":{"a":1,"b":[true,"x"],"token":"SECRET2"},"headers":{"X-Key":"SECRET3","Accept":"text/csv"},"body":{"kind":"json","value":{"from":"{{cursor}}","password":"SECRET4"}},"timeout":"1m"},
	"auth":{"kind":"login","request":{"url":"https://id.test/login","body":{"kind":"form","value":{"user":"SECRET5","pass":"SECRET6"}}},"tokenPath":"$..token","header":"X-Auth","prefix":""},
	"response":{"format":"json","path":"$.data[*]","explode":"lines[*]","types":"text"},
	"pagination":{"kind":"cursor","path":"$.next","param":"/page/after","in":"body","maxPages":5,"maxBytes":1000},
	"incremental":{"cursorPath":"$.meta.updated","param":{"in":"header","name":"X-Since"},"start":"{{today-30d}}","lookback":"1h"},
	"retry":{"maxAttempts":3},"rateLimit":{"requests":5,"per":"1s"},
	"errors":[{"status":[404,410],"action":"ignore"},{"bodyPath":"$.error","action":"fail"}],
	"schedule":{"cron":"0 6 * * 1-5","timezone":"Europe/Paris"},"mode":"merge","key":["id"]}`

func TestParseWhole(t *testing.T) {
	d, err := Parse([]byte(whole), 0)
	if err != nil {
		t.Fatalf("%v %+v", err, err.(*feedmill.Error).Faults)
	}
	if d.Name != "Orders" || d.Mode != feedmill.ModeMerge || !slices.Equal(d.Key, []string{"id"}) || d.Host() != "api.test:8443" || d.Schedule.Cron == "" {
		t.Errorf("%+v", d)
	}
	if want := (Response{Format: "json", Path: "$.data[*]", Explode: "lines[*]", Types: "text", Rules: feedmill.RulesCurrent}); d.Response != want {
		t.Errorf("%+v", d.Response)
	}
	if column, ok := d.Spec.CursorColumn(); !ok || column != "meta.updated" || d.Spec.Pagination.MaxBytes != 1000 {
		t.Error(column, ok)
	}
	var urls []string
	for _, u := range d.URLs() {
		urls = append(urls, u.Pointer+" "+u.URL.String())
	}
	if want := []string{"/request/url https://api.test:8443", "/auth/request/url https://id.test"}; !slices.Equal(urls, want) {
		t.Error(urls)
	}
	if strings.Contains(string(d.Public()), "SECRET") || strings.Contains(string(d.SourceSpec()), "SECRET") {
		t.Errorf("a secret is seen in %s", d.Public())
	}
	for i := range 6 {
		if !strings.Contains(string(d.Secrets()), fmt.Sprintf("SECRET%d", i+1)) {
			t.Errorf("secret %d is lost: %s", i+1, d.Secrets())
		}
	}
	spec, err := Restore(d.SourceSpec(), d.Secrets(), feedmill.RulesCurrent)
	if err != nil {
		t.Fatal(err)
	}
	if spec.CredentialHash() != d.Spec.CredentialHash() || spec.Request.url.Text != d.Spec.Request.url.Text {
		t.Error("what is restored is something else")
	}
}

func TestParseDefaults(t *testing.T) {
	d, err := Parse([]byte(`{"request":{"url":"https://api.test/x"}}`), 1000)
	if err != nil {
		t.Fatal(err)
	}
	s := d.Spec
	if d.Name != "api.test" || d.Mode != feedmill.ModeReplace || d.Response != (Response{Format: "auto", Types: "auto", Rules: feedmill.RulesCurrent}) || !d.Schedule.IsZero() ||
		s.Request.Method != "GET" || s.Request.Timeout != defaultTimeout || s.MaxAttempts != 5 || s.Pagination.MaxPages != 1000 || s.Pagination.MaxBytes != 1000 {
		t.Errorf("%+v %+v", d, s)
	}
}

func TestParseFaults(t *testing.T) {
	const url = `"request":{"url":"https://a.test/"}`
	for _, test := range []struct {
		body string
		want []string
	}{
		{`{`, []string{""}},
		{`[]`, []string{""}},
		{`{"request":{"url":"https://a.test/","url":"x"}}`, []string{"/request/url"}},
		{`{}`, []string{"/request"}},
		{`{"request":{}}`, []string{"/request/url"}},
		{`{"request":{"url":1,"method":"DELETE","timeout":"11m","headers":[],"body":{"kind":"xml"},"nope":1}}`, []string{
			"/request/body/kind", "/request/body/value", "/request/headers", "/request/method", "/request/nope", "/request/timeout", "/request/url",
		}},
		{`{"request":{"url":"ftp://a.test/"}}`, []string{"/request/url"}},
		{`{"request":{"url":"/x"}}`, []string{"/request/url"}},
		{`{"request":{"url":"https://me:pass@a.test/"}}`, []string{"/request/url"}},
		{`{"request":{"url":"https://{{today}}.test/"}}`, []string{"/request/url"}},
		{`{"request":{"url":"https://a.test/{{tomorrow}}"}}`, []string{"/request/url"}},
		{`{"request":{"url":"https://a.test/#x"}}`, []string{"/request/url"}},
		{`{"request":{"url":"https://a.test/{{cursor}}"}}`, []string{"/request/url"}},
		{`{"request":{"url":"https://a.test/?token=a&token=b"}}`, []string{"/request/url"}},
		{`{"request":{"url":"https://a.test/","headers":{"Host":"x","a b":"x","X":"a\nb","Y":{}},"query":{"a":{},"":1}}}`, []string{
			"/request/headers/Host", "/request/headers/X", "/request/headers/Y", "/request/headers/a b", "/request/query/", "/request/query/a",
		}},
		{`{` + url + `,"naem":"x","name":"","mode":"merge","schedule":{"every":"1s"},"key":[1,"a","a"]}`, []string{"/key/0", "/key/2", "/naem", "/name", "/schedule/every"}},
		{`{` + url + `,"mode":"merge"}`, []string{"/key"}},
		{`{` + url + `,"response":{"format":"pdf","path":"","sheet":0,"types":"x","more":1}}`, []string{
			"/response/format", "/response/more", "/response/path", "/response/sheet", "/response/types",
		}},
		{`{` + url + `,"response":{"format":"xlsx","path":"","explode":"b","sheet":0}}`, []string{"/response/explode", "/response/path", "/response/sheet"}},
		{`{` + url + `,"response":{"format":"csv","path":"$.a","explode":"b","sheet":1}}`, []string{"/response/explode", "/response/path", "/response/sheet"}},
		{`{` + url + `,"response":{"path":"data"}}`, []string{"/response/path"}},
		{`{` + url + `,"auth":{}}`, []string{"/auth/kind"}},
		{`{` + url + `,"auth":{"kind":"kerberos"}}`, []string{"/auth/kind"}},
		{`{` + url + `,"auth":{"kind":"basic","username":"a:b","token":"x"}}`, []string{"/auth/password", "/auth/token", "/auth/username"}},
		{`{` + url + `,"auth":{"kind":"bearer","token":"a\nb"}}`, []string{"/auth/token"}},
		{`{` + url + `,"auth":{"kind":"apiKey","in":"body"}}`, []string{"/auth/in", "/auth/name", "/auth/value"}},
		{`{` + url + `,"auth":{"kind":"oauth2ClientCredentials","tokenUrl":"https://x.test/{{now}}"}}`, []string{"/auth/clientId", "/auth/clientSecret", "/auth/tokenUrl"}},
		{`{` + url + `,"auth":{"kind":"login","request":{"url":"x"},"tokenPath":"a","header":"a b"}}`, []string{"/auth/header", "/auth/request/url", "/auth/tokenPath"}},
		{`{` + url + `,"pagination":{"kind":"cursor"}}`, []string{"/pagination/param", "/pagination/path"}},
		{`{` + url + `,"pagination":{"kind":"nextUrl","path":"$.n","param":"x","size":1}}`, []string{"/pagination/param", "/pagination/size"}},
		{`{` + url + `,"pagination":{"kind":"page","in":"body","sizeParam":"n","maxPages":0,"maxBytes":9999999999}}`, []string{
			"/pagination/maxBytes", "/pagination/maxPages", "/pagination/param", "/pagination/size", "/pagination/sizeParam",
		}},
		{`{` + url + `,"incremental":{"cursorPath":"$.a[*]","lookback":"x"}}`, []string{"/incremental/cursorPath", "/incremental/lookback", "/incremental/param"}},
		{`{"request":{"url":"https://a.test/?a={{cursor}}"},"incremental":{"cursorPath":"$.a"}}`, []string{"/incremental/start"}},
		{`{` + url + `,"retry":{"maxAttempts":11},"rateLimit":{"requests":0},"errors":[{},{"status":[99,"x"],"action":"stop"},1]}`, []string{
			"/errors/0", "/errors/0/action", "/errors/1/action", "/errors/1/status/0", "/errors/1/status/1", "/errors/2", "/rateLimit/per", "/rateLimit/requests", "/retry/maxAttempts",
		}},
	} {
		d, err := Parse([]byte(test.body), 0)
		refusal, ok := errors.AsType[*feedmill.Error](err)
		if !ok || !errors.Is(err, feedmill.ErrInvalid) {
			t.Errorf("%s: %v", test.body, err)
			continue
		}
		for _, place := range d.URLs() {
			if place.URL.Host == "" {
				t.Errorf("%s: %s has no host", test.body, place.Pointer)
			}
		}
		var got []string
		for _, f := range refusal.Faults {
			got = append(got, f.Pointer)
			if !strings.HasSuffix(f.Detail, ".") && !strings.HasSuffix(f.Detail, "?") {
				t.Errorf("%s: %s: %q", test.body, f.Pointer, f.Detail)
			}
		}
		if got = slices.Compact(got); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%q\nwant\n%q", test.body, got, test.want)
		}
	}
}

func TestParseFeed(t *testing.T) {
	d, err := ParseFeed([]byte(`{"name":"Lines","response":{"path":"$.lines[*]"},"mode":"merge","key":["id"]}`))
	if err != nil || d.Name != "Lines" || d.Spec != nil || d.Response.Path != "$.lines[*]" {
		t.Fatal(d, err)
	}
	source, err := Parse([]byte(whole), 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Overlay(d.Public(), source.SourceSpec())
	if err != nil || !strings.Contains(string(text), `"path":"$.lines[*]"`) || !strings.Contains(string(text), `"cursorPath":"$.meta.updated"`) || strings.Contains(string(text), "$.data") {
		t.Errorf("%s %v", text, err)
	}
	_, err = ParseFeed([]byte(`{"request":{"url":"x"},"schedule":{"every":"1h"},"nope":1}`))
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok || len(refusal.Faults) != 3 {
		t.Error(err)
	}
}

func TestIncrementalMode(t *testing.T) {
	const start = `{"request":{"url":"https://a.test/"},"incremental":{"cursorPath":"$.at","param":{"name":"since"}}`
	for _, test := range []struct {
		more string
		want feedmill.FeedMode
	}{
		{``, feedmill.ModeAppend}, {`,"key":["id"]`, feedmill.ModeMerge}, {`,"mode":"replace"`, feedmill.ModeAppend}, {`,"mode":"append","key":["id"]`, feedmill.ModeAppend},
	} {
		d, err := Parse([]byte(start+test.more+`}`), 0)
		if err != nil || d.Mode != test.want {
			t.Error(test.more, d, err)
		}
	}
}

func TestMerge(t *testing.T) {
	d, err := Parse([]byte(whole), 0)
	if err != nil {
		t.Fatal(err)
	}
	merge := func(patch string) (*Definition, error) {
		return Merge(d.Public(), d.Secrets(), []byte(patch), feedmill.RulesCurrent, 0)
	}
	t.Run("nothing", func(t *testing.T) {
		got, err := merge(`{}`)
		if err != nil || string(got.Public()) != string(d.Public()) || string(got.Secrets()) != string(d.Secrets()) || got.Name != "" {
			t.Errorf("%v\n%s\n%s", err, got.Public(), d.Public())
		}
	})
	t.Run("members are replaced and taken away", func(t *testing.T) {
		got, err := merge(`{"pagination":{"kind":"none"},"rateLimit":null,"schedule":null,"auth":{"kind":"bearer","token":"NEW"}}`)
		if err != nil || got.Spec.Rate != nil || got.Spec.Pagination.Kind != PagesNone || !got.Schedule.IsZero() || got.Spec.Auth.(*Bearer).Token != "NEW" {
			t.Error(got, err)
		}
		if strings.Contains(string(got.Secrets()), "SECRET6") {
			t.Error("a secret of the old login stays")
		}
	})
	t.Run("what is hidden stays", func(t *testing.T) {
		got, err := merge(`{"auth":{"kind":"login","request":{"url":"https://id.test/other","body":{"kind":"form","value":"***"}},"tokenPath":"$.token"}}`)
		if err != nil || len(got.Spec.Auth.(*Login).Request.Body.form) != 2 {
			t.Error(got, err)
		}
	})
	for _, test := range []struct{ name, patch, pointer string }{
		{"there is nothing that could stay", `{"auth":{"kind":"bearer","token":"***"}}`, "/auth/token"},
		{"required", `{"request":null}`, "/request"},
		{"secrets go nowhere new", `{"request":{"url":"https://evil.test/"},"incremental":null}`, "/auth/request/body/value"},
		{"not by a login either", `{"auth":{"kind":"login","request":{"url":"https://evil.test/","body":{"kind":"form","value":"***"}},"tokenPath":"$.t"}}`, "/auth/request/body/value"},
		{"wrong", `{"retry":{"maxAttempts":0}}`, "/retry/maxAttempts"},
	} {
		_, err := merge(test.patch)
		refusal, ok := errors.AsType[*feedmill.Error](err)
		if !ok || !slices.ContainsFunc(refusal.Faults, func(f feedmill.Fault) bool { return f.Pointer == test.pointer }) {
			t.Errorf("%s: %v %+v", test.name, err, refusal)
		}
	}
}

// What looks like a secret is nowhere to be seen, in whatever form it is given.
func TestNamesOfSecrets(t *testing.T) {
	d, err := Parse([]byte(`{"request":{"method":"POST","url":"https://api.test/rows?sig=planted1&code=planted2&pwd=planted3&page=2",
		"headers":{"X-Auth":"planted4","Accept":"text/csv"},
		"body":{"kind":"json","value":{"credentials":{"user":"planted5","pass":"planted6"},"token":70007,"tokens":["planted8"],"shown":"seen"}}}}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	public := string(d.Public())
	for _, hidden := range []string{"planted", "70007"} {
		if strings.Contains(public, hidden) {
			t.Errorf("%s shows %s", public, hidden)
		}
	}
	for _, shown := range []string{"page=2", "text/csv", "seen"} {
		if !strings.Contains(public, shown) {
			t.Errorf("%s lacks %s", public, shown)
		}
	}
	if _, err := Restore(d.SourceSpec(), d.Secrets(), feedmill.RulesCurrent); err != nil {
		t.Error(err)
	}
}
