package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill/internal/connect/connecttest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// personal is a service whose people connect Ledgerly, which is a provider of the test.
func personal(t *testing.T) (*service, *connecttest.Provider) {
	t.Helper()
	p := connecttest.New()
	t.Cleanup(p.Close)
	manifests := map[string]string{}
	for _, name := range []string{"ledgerly", "otherly", "unready"} {
		manifests[name] = p.Manifest(name)
	}
	return connectable(t, manifests, "unready"), p
}

// connectable is a service with manifests whose providers know the client of the tests,
// all but one.
func connectable(t *testing.T, manifests map[string]string, except string) *service {
	t.Helper()
	folder := t.TempDir()
	var clients []string
	for name, text := range manifests {
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if name != except {
			clients = append(clients, name+"="+connecttest.ClientID+":"+connecttest.ClientSecret)
		}
	}
	address := fmt.Sprint("127.0.0.1:", pgtest.FreePort())
	return start(t, setup{env: append(slices.Clone(webhooks.env),
		"FEEDMILL_LISTEN="+address, "FEEDMILL_PUBLIC_URL=http://"+address, "FEEDMILL_SERVICES_DIR="+folder,
		"FEEDMILL_SERVICE_CLIENTS="+strings.Join(clients, ","), "FEEDMILL_CONNECT_REDIRECTS=https://app.example",
	)})
}

// person is somebody with a browser.
type person struct {
	*http.Client
	t *testing.T
	s *service
}

func newPerson(t *testing.T, s *service) *person {
	jar, _ := cookiejar.New(nil)
	return &person{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t, s}
}

// send makes a request as a browser does, with a form where one is given.
func (p *person) send(address string, form url.Values, header ...string) reply {
	p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = p.s.url + address
	}
	method, body := "GET", io.Reader(nil)
	if form != nil {
		method, body = "POST", strings.NewReader(form.Encode())
	}
	r, err := http.NewRequest(method, address, body)
	if err != nil {
		p.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := p.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, string(text)}
}

// creationLink asks for a link.
func (s *service) creationLink(t *testing.T, key, query string) string {
	t.Helper()
	var link struct{ ServiceName, URL, ExpiresAt string }
	s.send(t, request{method: "GET", path: "/data_feeds/creation_url?" + query, key: key}).data(t, &link)
	if !strings.HasPrefix(link.URL, s.url+"/ui/connect/") || link.ExpiresAt == "" {
		t.Fatalf("%+v", link)
	}
	return link.URL
}

// goes follows a link to the provider and says yes there. It returns the address to
// which the provider sends the browser back.
func (p *person) goes(link string) string {
	p.t.Helper()
	if page := p.send(link, nil); page.status != 200 || !strings.Contains(page.body, "<h1>Connect ") {
		p.t.Fatalf("%d %s", page.status, page.body)
	}
	begun := p.send(link, url.Values{})
	if begun.status != http.StatusSeeOther {
		p.t.Fatalf("%d %s", begun.status, begun.body)
	}
	back := p.send(begun.header.Get("Location"), url.Values{"answer": {"yes"}})
	if back.status != http.StatusFound {
		p.t.Fatalf("%d %s", back.status, back.body)
	}
	return back.header.Get("Location")
}

var contactsChoice = url.Values{"do": {"make"}, "view": {"contacts"}, "shown": {"contacts"}, "field": {"id", "city"}, "setting.team": {"north"}, "every": {"1h"}, "name": {"My contacts"}}

// connects goes all the way, and returns the feed.
func (p *person) connects(link string) (f restFeed) {
	p.t.Helper()
	if back := p.send(p.goes(link), nil); back.status != http.StatusSeeOther || back.header.Get("Location") != "/ui/connect/choose" {
		p.t.Fatalf("%d %s", back.status, back.body)
	}
	if page := p.send("/ui/connect/choose", nil); page.status != 200 || !strings.Contains(page.body, "Choose a location first") {
		p.t.Fatalf("%d %s", page.status, page.body)
	}
	preview := url.Values{"do": {"preview"}, "view": {"contacts"}, "shown": {"contacts"}, "field": {"id", "city"}, "setting.team": {"north"}, "filterField": {"city"}, "filterOp": {"eq"}, "filterValue": {"Oslo"}}
	if page := p.send("/ui/connect/choose", preview); page.status != 200 || !strings.Contains(page.body, "The first 3 rows") || strings.Contains(page.body, "Bergen") {
		p.t.Fatalf("%d %s", page.status, page.body)
	}
	made := p.send("/ui/connect/choose", contactsChoice)
	if made.status == http.StatusOK {
		i := strings.Index(made.body, "df_")
		f.ID = made.body[i : i+29]
	} else {
		u, err := url.Parse(made.header.Get("Location"))
		if err != nil || made.status != http.StatusSeeOther || u.Host != "app.example" || u.Query().Get("x") != "1" {
			p.t.Fatalf("%d %s %v", made.status, made.body, made.header)
		}
		f.ID = u.Query().Get("dataFeedId")
	}
	eventually(p.t, func() bool {
		p.s.send(p.t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(p.t, &f)
		return f.State != "refreshing"
	})
	return f
}

// TestPersonalService goes the way of somebody who connects a service, from the link to
// a feed whose creation is delivered, and to its end.
func TestPersonalService(t *testing.T) {
	t.Parallel()
	s, provider := personal(t)
	hook := newSink(t)
	s.send(t, request{method: "POST", path: "/events/subscriptions", body: toJSON(map[string]any{"url": hook.URL, "events": []string{"datafeed.source.created"}})})
	refused := s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: `{"serviceName":"ledgerly","viewName":"contacts","query":{"fields":[{"field":"id"}]}}`})
	if p := refused.problem(t); refused.status != 409 || p.Type != "/problems/personal-service" || !strings.HasPrefix(p.CreationURL, s.url+"/ui/connect/") {
		t.Fatalf("%d %s", refused.status, refused.body)
	}
	f := newPerson(t, s).connects(s.creationLink(t, "", "serviceName=ledgerly&redirectUri="+url.QueryEscape("https://app.example/done?x=1")))
	if f.State != "ready" || f.RowCount != 7 || f.Name != "My contacts" || f.types() != "id integer, city text" {
		t.Fatalf("%+v %+v", f, f.LastError)
	}
	if got := hook.wait(t, 1); !strings.Contains(got[0].body, f.ID) {
		t.Errorf("%s", got[0].body)
	}
	// Without a redirect there is a page, and the second connection has the next name.
	second := newPerson(t, s).connects(s.creationLink(t, "", "serviceName=ledgerly"))
	if second.State != "ready" {
		t.Fatalf("%+v", second)
	}
	services := s.send(t, request{method: "GET", path: "/query_builder/services"}).body
	if !strings.Contains(services, `"serviceName":"ledgerly-1"`) || !strings.Contains(services, `"serviceName":"ledgerly-2"`) || !strings.Contains(services, `"serviceName":"ledgerly","title":"Ledgerly","connector":"ledgerly","status":"personal"`) {
		t.Error(services)
	}
	// The grant goes, and comes again with another link.
	provider.Lock()
	provider.Gone = true
	provider.Unlock()
	provider.Forget()
	if f, _ = s.refreshed(t, f.ID); f.State != "auth_required" || f.Version != 1 {
		t.Fatalf("%+v %+v", f, f.LastError)
	}
	provider.Lock()
	provider.Gone = false
	clear(provider.Refresh)
	provider.Unlock()
	again := newPerson(t, s)
	if done := again.send(again.goes(s.creationLink(t, "", "serviceName=ledgerly-1")), nil); done.status != 200 || !strings.Contains(done.body, "Connected again") {
		t.Fatalf("%d %s", done.status, done.body)
	}
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(t, &f)
		return f.State == "ready"
	})
	// A deleted connection gives its grant back; one that is in use stays.
	var all []shownConnection
	list := s.send(t, request{method: "GET", path: "/connections"})
	if err := json.Unmarshal([]byte(list.body), &all); err != nil || len(all) != 2 || strings.Contains(list.body, connecttest.ClientSecret) || all[0].Config["refreshToken"] != "***" {
		t.Fatalf("%v %s", err, list.body)
	}
	first := all[1].ID
	if used := s.send(t, request{method: "DELETE", path: "/connections/" + first}); used.status != 409 || len(provider.GivenBack()) != 0 {
		t.Errorf("%d %s", used.status, used.body)
	}
	if changed := s.send(t, request{method: "PATCH", path: "/connections/" + first, body: `{"config":{"refreshToken":"mine"}}`}); changed.status != 400 {
		t.Errorf("%d %s", changed.status, changed.body)
	}
	good := provider.Good()
	s.send(t, request{method: "DELETE", path: "/data_feeds/" + f.ID})
	if gone := s.send(t, request{method: "DELETE", path: "/connections/" + first}); gone.status != 204 {
		t.Errorf("%d %s", gone.status, gone.body)
	}
	if revoked := provider.GivenBack(); len(revoked) != 1 || !slices.Contains(good, revoked[0]) {
		t.Errorf("%q was given back, of %q", revoked, good)
	}
	s.stop()
	for _, secret := range append(good, connecttest.ClientSecret) {
		if strings.Contains(s.log.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

// TestAttacksOnPages tries what others could do with links, answers and forms.
func TestAttacksOnPages(t *testing.T) {
	t.Parallel()
	s, provider := personal(t)
	over := func(name string, got reply, want string) {
		t.Helper()
		if got.status < 400 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for query, want := range map[string]string{
		"serviceName=ledgerly&redirectUri=https://evil.example/":                "400 /problems/invalid-request",
		"serviceName=ledgerly&redirectUri=https://app.example.evil.example/":    "400 /problems/invalid-request",
		"serviceName=ledgerly&redirectUri=https://app.example%5C@evil.example/": "400 /problems/invalid-request",
		"serviceName=nothing":     "400 /problems/invalid-request",
		"":                        "400 /problems/invalid-request",
		"serviceName=frankfurter": "409 /problems/no-personal-service",
		"serviceName=feeds":       "409 /problems/no-personal-service",
		"serviceName=unready":     "409 /problems/service-not-configured",
	} {
		got := s.send(t, request{method: "GET", path: "/data_feeds/creation_url?" + query})
		if p := got.problem(t); fmt.Sprintf("%d %s", got.status, p.Type) != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	reader := s.newKey(t, "", "api:read")
	if got := s.send(t, request{method: "GET", path: "/data_feeds/creation_url?serviceName=ledgerly", key: reader.Key}); got.status != 403 {
		t.Errorf("a key that reads makes a link: %d %s", got.status, got.body)
	}
	link := s.creationLink(t, "", "serviceName=ledgerly")
	visitor := newPerson(t, s)
	page := visitor.send(link, nil)
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store"} {
		if got := page.header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if csp := page.header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "form-action 'self' "+provider.URL+";") {
		t.Errorf("%s", csp)
	}
	if forged := visitor.send(link, url.Values{}, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); forged.status != 403 {
		t.Errorf("a form of another site begins a sign-in: %d", forged.status)
	}
	// A visit that somebody else has put into the browser is not taken over.
	fixed := s.visitOf(t, visitor, link, "feedmill_connect=attacker")
	if fixed == "attacker" || fixed == "" {
		t.Errorf("the visit is %q", fixed)
	}
	over("a reused link", newPerson(t, s).send(link, url.Values{}), "The link was already used")
	over("a look at a reused link", newPerson(t, s).send(link, nil), "The link was already used")
	over("a link that is none", newPerson(t, s).send("/ui/connect/abc", nil), "link is unknown")

	for name, spoil := range map[string]func(q url.Values){
		"tampered state": func(q url.Values) { q.Set("state", "x"+q.Get("state")) },
		"no state":       func(q url.Values) { q.Del("state") },
		"an injected code": func(q url.Values) {
			q.Set("code", provider.Code(url.Values{"redirect_uri": {s.url + "/ui/connect/callback/ledgerly"}, "code_challenge": {"of somebody else"}}))
		},
		"another issuer":  func(q url.Values) { q.Set("iss", "https://evil.example") },
		"consent denied":  func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") },
		"provider error":  func(q url.Values) { q.Del("code"); q.Set("error", "server_error<script>") },
		"another service": nil,
		"token endpoint down": func(url.Values) {
			provider.Lock()
			provider.Down = true
			provider.Unlock()
		},
		"another browser": nil,
	} {
		victim := newPerson(t, s)
		back, _ := url.Parse(victim.goes(s.creationLink(t, "", "serviceName=ledgerly")))
		q := back.Query()
		sender := victim
		switch name {
		case "another service":
			back.Path = "/ui/connect/callback/otherly"
		case "another browser":
			sender = newPerson(t, s)
		default:
			spoil(q)
		}
		back.RawQuery = q.Encode()
		got := sender.send(back.String(), nil)
		if got.status < 400 || strings.Contains(got.body, "<script>") && strings.Contains(got.body, "server_error<") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if choose := sender.send("/ui/connect/choose", nil); choose.status < 400 {
			t.Errorf("%s: there is something to choose", name)
		}
		provider.Lock()
		provider.Down = false
		provider.Unlock()
	}
	if list := s.send(t, request{method: "GET", path: "/connections"}); list.body != "[]" {
		t.Errorf("something was connected: %s", list.body)
	}
	// What is connected by a link is the workspace's that asked for it, and no other's.
	w := s.newWorkspace(t, "another")
	k := s.newKey(t, w.ID, everyScope...)
	mine := newPerson(t, s)
	mine.send(mine.goes(s.creationLink(t, k.Key, "serviceName=ledgerly")), nil)
	if list := s.send(t, request{method: "GET", path: "/connections"}); list.body != "[]" {
		t.Errorf("%s", list.body)
	}
	if list := s.send(t, request{method: "GET", path: "/connections", key: k.Key}); !strings.Contains(list.body, "ledgerly-1") {
		t.Errorf("%s", list.body)
	}
	// The form of what is shared is no other site's either, and giving up gives back.
	if forged := mine.send("/ui/connect/choose", contactsChoice, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); forged.status != 403 {
		t.Errorf("%d %s", forged.status, forged.body)
	}
	if ended := mine.send("/ui/connect/choose", url.Values{"do": {"cancel"}}); !strings.Contains(ended.body, "was revoked") || len(provider.GivenBack()) != 1 {
		t.Errorf("%d %s", ended.status, ended.body)
	}
	over("a choice after the end", mine.send("/ui/connect/choose", contactsChoice), "The sign-in has ended")
	// Without PKCE the provider gives nothing out, and nothing is ever asked without.
	to, _ := url.Parse(newPerson(t, s).send(s.creationLink(t, "", "serviceName=ledgerly"), url.Values{}).header.Get("Location"))
	q := to.Query()
	q.Del("code_challenge")
	to.RawQuery = q.Encode()
	if got := newPerson(t, s).send(to.String(), nil); got.status != 400 {
		t.Errorf("the provider of the tests takes requests without PKCE: %d", got.status)
	}
}

// TestChoices is what the form of a choice can say, and that it makes one feed however
// often it is sent.
func TestChoices(t *testing.T) {
	t.Parallel()
	s, _ := personal(t)
	p := newPerson(t, s)
	p.send(p.goes(s.creationLink(t, "", "serviceName=ledgerly")), nil)
	choice := func(more ...string) url.Values {
		form := url.Values{"view": {"contacts"}, "shown": {"contacts"}, "field": {"id", "since"}, "setting.team": {"north"}, "every": {"1h"}}
		for i := 0; i < len(more); i += 2 {
			form.Add(more[i], more[i+1])
		}
		return form
	}
	for value, want := range map[string]string{"9999 days": "The first 5 rows", "1 day": "The first 0 rows", "some time": "is not valid"} {
		op := "last"
		if value == "1 day" {
			op = "next"
		}
		if page := p.send("/ui/connect/choose", choice("filterField", "since", "filterOp", op, "filterValue", value)); !strings.Contains(page.body, want) {
			t.Errorf("%s %s: %d %s", op, value, page.status, page.body)
		}
	}
	// Errors are at their fields.
	wrong := url.Values{"do": {"make"}, "view": {"contacts"}, "shown": {"contacts"}, "setting.team": {"north"}, "every": {"1s"}}
	long := choice("name", "Long")
	long.Set("setting.team", strings.Repeat("n", 4097))
	number := choice("filterField", "id", "filterOp", "eq", "filterValue", "1", "filterField", "since", "filterOp", "eq", "filterValue", "soon")
	for _, c := range []struct {
		form url.Values
		want []string
	}{
		{wrong, []string{`data-field="fields"`, "Choose at least one field.", `id="every-message">`}},
		{choice("do", "make", "name", strings.Repeat("n", 300)), []string{`id="name-message">The name must`}},
		{long, []string{`id="setting-team-message">This field must have at most 4096 bytes; got 4097.`}},
		{number, []string{`id="filter-1-message">`}},
	} {
		page := p.send("/ui/connect/choose", c.form)
		for _, want := range c.want {
			if page.status != http.StatusUnprocessableEntity || !strings.Contains(page.body, want) || strings.Contains(page.body, `role="alert"`) {
				t.Errorf("%v does not have %s: %d %s", c.form, want, page.status, page.body)
			}
		}
	}
	var sent sync.WaitGroup
	var made atomic.Int32
	for range 4 {
		sent.Go(func() {
			if page := p.send("/ui/connect/choose", choice("do", "make", "onlyNew", "yes", "name", "Once")); page.status == http.StatusOK {
				made.Add(1)
			}
		})
	}
	sent.Wait()
	list := s.send(t, request{method: "GET", path: "/data_feeds"})
	var feeds []struct {
		Mode   string
		Key    []string
		Source struct{ Incremental map[string]string }
	}
	if err := json.Unmarshal([]byte(list.body), &feeds); err != nil || len(feeds) != 1 || made.Load() != 1 {
		t.Fatalf("%d forms of 4 made a feed: %v %s", made.Load(), err, list.body)
	}
	if f := feeds[0]; f.Mode != "merge" || !slices.Equal(f.Key, []string{"id"}) || f.Source.Incremental["field"] != "since" {
		t.Errorf("%s", list.body)
	}
}

// visitOf begins a sign-in with a cookie in the browser, and returns the visit that it
// holds then.
func (s *service) visitOf(t *testing.T, p *person, link, cookie string) string {
	t.Helper()
	begun := p.send(link, url.Values{}, "Cookie", cookie)
	for _, c := range (&http.Response{Header: begun.header}).Cookies() {
		if c.Name == "feedmill_connect" {
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
				t.Errorf("%+v", c)
			}
			return c.Value
		}
	}
	return ""
}
