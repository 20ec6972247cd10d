package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// ownWorkspace is the workspace of the first key.
func (s *service) ownWorkspace(t *testing.T) string {
	t.Helper()
	var me struct{ Workspace made }
	s.send(t, request{method: "GET", path: "/me"}).data(t, &me)
	return me.Workspace.ID
}

// portalLink is a portal link as the API returns it.
type portalLink struct{ ID, URL, State, Access, OpenedAt, ExpiresAt string }

// portalLink creates a link and returns it with the path of its page.
func (s *service) portalLink(t *testing.T, workspace, body string) (l portalLink, path string) {
	t.Helper()
	s.send(t, request{method: "POST", path: "/workspaces/" + workspace + "/portal_links", body: body}).data(t, &l)
	u, err := url.Parse(l.URL)
	if err != nil || !strings.HasPrefix(u.Path, "/portal/links/") {
		t.Fatalf("the URL is %q, %v", l.URL, err)
	}
	return l, u.Path
}

// openPortal starts the session of a link and returns its token.
func (s *service) openPortal(t *testing.T, path string) string {
	t.Helper()
	got := s.send(t, request{method: "POST", path: path, key: "-"})
	cookie, err := http.ParseSetCookie(got.header.Get("Set-Cookie"))
	if err != nil || got.status != http.StatusSeeOther {
		t.Fatalf("opening a link returns %d, %v: %s", got.status, err, got.body)
	}
	if cookie.Name != "feedmill_portal" || cookie.Path != "/portal/" || !cookie.Secure || !cookie.HttpOnly || !cookie.Partitioned || cookie.SameSite != http.SameSiteNoneMode || cookie.MaxAge > 24*3600 {
		t.Errorf("the cookie is %s", got.header.Get("Set-Cookie"))
	}
	return cookie.Value
}

// inPortal sends a request with the cookie of a session of the portal.
func (s *service) inPortal(t *testing.T, token, method, path, form string) reply {
	t.Helper()
	q := request{method: method, path: path, key: "-", body: form, header: [][2]string{{"Cookie", "feedmill_portal=" + token}}}
	if form != "" {
		q.header = append(q.header, [2]string{"Content-Type", urlencoded})
	}
	return s.send(t, q)
}

// pagePatterns lists the pages of the server as their tables in the source do, so that a new page
// is walked without a change here.
func pagePatterns(t *testing.T) (patterns []string) {
	t.Helper()
	files, err := filepath.Glob("../ui/*.go")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`"((?:GET|POST) /(?:ui|portal)/[^"]*)"`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
			patterns = append(patterns, m[1])
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// pagePaths are the paths of a page for the ids of a tenant: one for each id that its parameter
// can have.
func pagePaths(pattern string, ids []string) (method string, paths []string) {
	method, path, _ := strings.Cut(pattern, " ")
	path = strings.ReplaceAll(path, "{$}", "")
	if !strings.Contains(path, "{") {
		return method, []string{path}
	}
	for _, id := range ids {
		paths = append(paths, inBraces.ReplaceAllString(path, id))
	}
	return method, paths
}

// wantNoIDs checks that a response contains no id that only the path of the request names.
func wantNoIDs(t *testing.T, what string, got reply, ids []string) {
	t.Helper()
	for _, id := range ids {
		if strings.Contains(got.body, id) && !strings.Contains(what, id) {
			t.Errorf("%s returns %d and shows %s: %.500s", what, got.status, id, got.body)
		}
	}
}

// TestPortalWalk attacks everything that the server has with sessions of the portal of one of two
// workspaces: every operation of the API, every page of the console, and the pages of the portal
// with the ids of the other workspace.
func TestPortalWalk(t *testing.T) {
	for _, store := range []string{"sqlite", "postgres"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			o := setup{env: []string{"FEEDMILL_RETRY_SCHEDULE=24h"}}
			if store == "postgres" {
				o.env = append(o.env, "FEEDMILL_DATABASE_URL="+pgtest.New(t), "FEEDMILL_VAULT_KEY=a key that all replicas of the test share")
			}
			walkPortal(t, start(t, o))
		})
	}
}

func walkPortal(t *testing.T, s *service) {
	d := readDocument(t)
	one, two := newTenant(t, s, d, "one"), newTenant(t, s, d, "two")
	number := func(id string) bool { return !anyID.MatchString(id) } // of a version
	mine, theirs := slices.DeleteFunc(one.idsByPrefix(), number), slices.DeleteFunc(two.idsByPrefix(), number)
	all := `{"pages":["feeds","events","subscriptions"],"access":"write","expiresIn":"24h"}`
	writer, path := s.portalLink(t, one.key.WorkspaceID, all)
	for range 3 { // reading the page uses nothing up
		if got := s.send(t, request{method: "GET", path: path, key: "-"}); got.status != 200 || got.header.Get("Set-Cookie") != "" {
			t.Fatalf("the page of the link returns %d: %s", got.status, got.body)
		}
	}
	write := s.openPortal(t, path)
	for _, method := range []string{"GET", "POST"} {
		if got := s.send(t, request{method: method, path: path, key: "-"}); got.status != 401 || got.header.Get("Set-Cookie") != "" || !strings.Contains(got.body, "already used") {
			t.Errorf("the used link returns %d to %s: %s", got.status, method, got.body)
		}
	}
	reader, path := s.portalLink(t, two.key.WorkspaceID, strings.Replace(all, "write", "read", 1))
	read := s.openPortal(t, path)
	records := func() string {
		text := ""
		for _, list := range []string{"/data_feeds", "/connections", "/keys", "/workspaces", "/query_builder/services"} {
			for _, key := range []string{one.key.Key, two.key.Key, adminKey} {
				text += strings.Join(identity.FindAllString(s.send(t, request{method: "GET", path: list, key: key}).body, -1), " ") + "\n"
			}
		}
		return text + strings.Join(identity.FindAllString(s.send(t, request{method: "GET", path: "/events/subscriptions", key: two.key.Key}).body, -1), " ")
	}
	before := records()

	// The API and the console accept the token nowhere.
	for _, op := range d.operations {
		for _, header := range [][2]string{
			{"Authorization", "Bearer " + write},
			{"Authorization", "Bearer " + writer.ID},
			{"Cookie", "feedmill_session=" + write + "; __Host-feedmill_session=" + write + "; feedmill_portal=" + write + "; __Secure-feedmill_portal=" + write},
		} {
			if op.scope == "" {
				continue
			}
			got := s.send(t, request{method: op.method, path: op.plainPath(), key: "-", header: [][2]string{header}})
			if got.status != 401 {
				t.Errorf("%s with %s returns %d: %s", op.id, header[0], got.status, got.body)
			}
		}
	}
	for _, body := range []string{`{"key":"` + write + `"}`, `{"link":"` + write + `"}`, `{"link":"` + strings.TrimPrefix(path, "/portal/links/") + `"}`} {
		if got := s.send(t, request{method: "POST", path: "/sessions", key: "-", body: body}); got.status != 401 {
			t.Errorf("signing in with %s returns %d: %s", body[:8], got.status, got.body)
		}
	}
	walkPages(t, s, write, read, writer.ID, mine, theirs)
	if after := records(); after != before {
		t.Errorf("records changed, from\n%s\nto\n%s", before, after)
	}

	// What the link is for works.
	const endpoint = "name=Support+desk&url=https%3A%2F%2Fdesk.example%2Fin&events=metric.created&session="
	created := s.inPortal(t, write, "POST", "/portal/subscriptions", endpoint+writer.ID)
	if created.status != 200 || !strings.Contains(created.body, "whsec_") {
		t.Fatalf("creating an endpoint returns %d: %s", created.status, created.body)
	}
	if got := s.inPortal(t, write, "POST", "/portal/subscriptions", "name=x&url=https%3A%2F%2Fdesk.example%2Fin&events=nothing.created&session="+writer.ID); got.status != 422 || !strings.Contains(got.body, "events-message") {
		t.Errorf("an unknown event returns %d: %s", got.status, got.body)
	}
	// A form of a page that another session has shown changes nothing.
	for _, session := range []string{"", reader.ID} {
		if got := s.inPortal(t, write, "POST", "/portal/subscriptions", endpoint+session); got.status != 409 || strings.Contains(got.body, "whsec_") {
			t.Errorf("a form of the session %q returns %d: %s", session, got.status, got.body)
		}
	}
	var actors []string
	for _, e := range s.audit(t, one.key.Key, "?limit=500") {
		actors = append(actors, e.Actor.Subject+" "+e.Action)
	}
	for _, want := range []string{writer.ID + " portal_link.open", writer.ID + " subscription.create", "operator portal_link.create"} {
		if !slices.Contains(actors, want) {
			t.Errorf("the audit log lacks %q: %q", want, actors)
		}
	}
	if strings.Contains(s.log.String(), write) || strings.Contains(s.log.String(), strings.TrimPrefix(path, "/portal/links/")) {
		t.Error("the log contains a secret")
	}
	// Revoking the link ends its session immediately, and no other.
	if got := s.send(t, request{method: "DELETE", path: "/workspaces/" + one.key.WorkspaceID + "/portal_links/" + writer.ID}); got.status != 204 {
		t.Fatalf("revoking returns %d: %s", got.status, got.body)
	}
	for _, q := range [][2]string{{"GET", "/portal/subscriptions"}, {"POST", "/portal/subscriptions"}, {"GET", "/portal/"}, {"GET", "/portal/nothing"}} {
		if got := s.inPortal(t, write, q[0], q[1], ""); got.status != 401 || !strings.Contains(got.body, "This session has ended.") {
			t.Errorf("%s %s after the end returns %d: %s", q[0], q[1], got.status, got.body)
		}
	}
	if got := s.inPortal(t, read, "GET", "/portal/events", ""); got.status != 200 {
		t.Errorf("the other session returns %d: %s", got.status, got.body)
	}
	two.holds(t)
}

// identity are the members of records that only requests change.
var identity = regexp.MustCompile(`"(id|name|url|serviceName|externalId)":"[^"]*"|"quotas":\{[^}]*\}`)

// walkPages opens every page and sends every form with sessions of the portal.
func walkPages(t *testing.T, s *service, write, read, session string, mine, theirs []string) {
	t.Helper()
	walked, portals := 0, 0
	for _, pattern := range pagePatterns(t) {
		method, paths := pagePaths(pattern, append(slices.Clone(mine), theirs...))
		if strings.Contains(pattern, " /portal/links/") || strings.Contains(pattern, "/assets/") {
			continue
		}
		for _, path := range paths {
			form := ""
			if method == "POST" {
				form = "name=x&state=all&span=7d&events=metric.created&session=" + session
			}
			if strings.HasPrefix(path, "/ui/") {
				walked++
				got := s.inPortal(t, write, method, path, form)
				wantNoIDs(t, pattern+" "+path, got, append(slices.Clone(mine), theirs...))
				if got.status < 300 && !publicPage(path) {
					t.Errorf("%s %s returns %d to a session of the portal: %.300s", method, path, got.status, got.body)
				}
				continue
			}
			portals++
			foreign := slices.ContainsFunc(theirs, func(id string) bool { return strings.Contains(path, id) })
			if foreign || method == "GET" {
				got := s.inPortal(t, write, method, path, form)
				wantNoIDs(t, pattern+" "+path, got, theirs)
				if foreign && got.status != 404 || got.status >= 500 {
					t.Errorf("%s %s returns %d: %.300s", method, path, got.status, got.body)
				}
			}
			if got := s.inPortal(t, read, method, path, form); method == "POST" && got.status != 403 {
				t.Errorf("%s %s returns %d to a session that can only read: %.300s", method, path, got.status, got.body)
			}
			if got := s.send(t, request{method: method, path: path, key: adminKey}); got.status != 401 {
				t.Errorf("%s %s returns %d without a session: %.300s", method, path, got.status, got.body)
			}
			cross := request{method: "POST", path: path, key: "-", body: "x=1", header: [][2]string{{"Content-Type", urlencoded}, {"Cookie", "feedmill_portal=" + write}, {"Sec-Fetch-Site", "cross-site"}}}
			if got := s.send(t, cross); got.status != 403 {
				t.Errorf("POST %s from another site returns %d", path, got.status)
			}
		}
	}
	if walked < 200 || portals < 50 {
		t.Errorf("only %d pages of the console and %d of the portal were walked", walked, portals)
	}
}

// publicPage reports whether a page of the console is for visitors who have not signed in.
func publicPage(path string) bool {
	return path == "/ui/sign-in" || strings.HasPrefix(path, "/ui/first") || strings.HasPrefix(path, "/ui/sign-in/")
}

// TestPortalPagesAreThoseOfTheLink opens only the pages that a link names.
func TestPortalPagesAreThoseOfTheLink(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	w := s.newWorkspace(t, "one")
	for _, page := range feedmill.PortalPages {
		_, path := s.portalLink(t, w.ID, `{"pages":["`+string(page)+`"],"access":"write"}`)
		token := s.openPortal(t, path)
		for _, other := range feedmill.PortalPages {
			status := 404
			if other == page {
				status = 200
			}
			if got := s.inPortal(t, token, "GET", "/portal/"+string(other), ""); got.status != status {
				t.Errorf("a session for %s gets %d from %s", page, got.status, other)
			}
		}
	}
}

// TestPortalLinksAreForOperators lets only admins of the workspace default manage links, and lists
// them without their URLs.
func TestPortalLinksAreForOperators(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_PORTAL_ORIGINS=https://App.example.com,https://other.example:8443", `FEEDMILL_PORTAL={"name":"Nordlicht","accent":"#0b6e5a"}`, "FEEDMILL_PUBLIC_URL=https://feeds.example.com"}})
	one, two := s.newWorkspace(t, "one"), s.newWorkspace(t, "two")
	key := s.newKey(t, one.ID, everyScope...).Key
	l, path := s.portalLink(t, one.ID, `{"returnUrl":"https://app.example.com/settings?a=1"}`)
	if !strings.HasPrefix(l.URL, "https://feeds.example.com/portal/links/") || l.State != "unused" || l.Access != "read" {
		t.Errorf("the link is %+v", l)
	}
	links := "/workspaces/" + one.ID + "/portal_links"
	for _, q := range []request{
		{method: "POST", path: links, body: "{}"}, {method: "GET", path: links}, {method: "GET", path: links + "/" + l.ID}, {method: "DELETE", path: links + "/" + l.ID},
	} {
		for _, of := range []struct {
			key    string
			path   string
			status int
		}{
			{key, q.path, 403}, {key, strings.Replace(q.path, one.ID, two.ID, 1), 404}, {s.newKey(t, one.ID, "api:read", "api:write", "events:publish").Key, q.path, 403},
		} {
			r := q
			r.key, r.path = of.key, of.path
			if got := s.send(t, r); got.status != of.status {
				t.Errorf("%s %s returns %d, want %d: %s", r.method, r.path, got.status, of.status, got.body)
			}
		}
	}
	for _, wrong := range []string{
		`{"pages":[]}`, `{"pages":["keys"]}`, `{"access":"admin"}`, `{"expiresIn":"59s"}`, `{"expiresIn":"25h"}`, `{"expiresIn":3600}`, `{"returnUrl":"https://evil.example/"}`,
		`{"returnUrl":"https://app.example.com.evil.example/"}`, `{"returnUrl":"https://app.example.com@evil.example/"}`, `{"returnUrl":"javascript:alert(1)"}`, `{"returnUrl":"//app.example.com/"}`, `{"name":"x"}`,
	} {
		got := s.send(t, request{method: "POST", path: links, body: wrong})
		if got.status != 400 || len(got.problem(t).Errors) == 0 {
			t.Errorf("%s returns %d: %s", wrong, got.status, got.body)
		}
	}
	token := s.openPortal(t, path)
	page := s.inPortal(t, token, "GET", "/portal/subscriptions", "")
	for _, part := range []string{"Nordlicht", "one</span>", `href="https://app.example.com/settings?a=1" target="_top"`, "#0b6e5a", "Session ends at"} {
		if !strings.Contains(page.body, part) {
			t.Errorf("the page lacks %s: %s", part, page.body)
		}
	}
	if strings.Contains(page.body, "Add endpoint") || strings.Contains(page.body, "Feedmill") {
		t.Errorf("a page that can only be read has a form, or names the server: %s", page.body)
	}
	list := s.send(t, request{method: "GET", path: links})
	if !strings.Contains(list.body, `"state":"inUse"`) || strings.Contains(list.body, `"url"`) {
		t.Errorf("the list is %s", list.body)
	}
	// Only the portal can be framed, and only by the origins.
	for path, ancestors := range map[string]string{
		"/portal/subscriptions": "frame-ancestors https://app.example.com https://other.example:8443", "/portal/nothing": "frame-ancestors https://app.example.com https://other.example:8443",
		"/ui/sign-in": "frame-ancestors 'none'", "/ui/feeds": "frame-ancestors 'none'",
	} {
		got := s.inPortal(t, token, "GET", path, "")
		if policy := got.header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, ancestors) {
			t.Errorf("the policy of %s is %s", path, policy)
		}
		if (got.header.Get("X-Frame-Options") == "DENY") != strings.HasPrefix(path, "/ui/") {
			t.Errorf("X-Frame-Options of %s is %q", path, got.header.Get("X-Frame-Options"))
		}
	}
}

// TestPortalSessionsEnd ends sessions with their time, with the key that created the link, and
// with the workspace. Without origins no page can frame the portal.
func TestPortalSessionsEnd(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	one, two := s.newWorkspace(t, "one"), s.newWorkspace(t, "two")
	if got := s.send(t, request{method: "POST", path: "/workspaces/" + one.ID + "/portal_links", body: `{"returnUrl":"https://app.example.com/"}`}); got.status != 400 || !strings.Contains(got.body, "portalOrigins") {
		t.Errorf("a return URL without origins is answered %d: %s", got.status, got.body)
	}
	operator := s.newKey(t, "", everyScope...)
	var l portalLink
	s.send(t, request{method: "POST", path: "/workspaces/" + one.ID + "/portal_links", key: operator.Key, body: "{}"}).data(t, &l)
	u, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	ofKey := s.openPortal(t, u.Path)
	_, path := s.portalLink(t, two.ID, "{}")
	ofWorkspace := s.openPortal(t, path)
	// The shortest link lives for a minute, so this one is put into the store.
	now := time.Now().UTC().Truncate(time.Millisecond)
	short := feedmill.PortalLink{
		ID: feedmill.NewID(feedmill.PrefixPortalLink), Workspace: feedmill.ID(one.ID), Link: feedmill.HashKey("short"), Pages: feedmill.PortalPages, Access: feedmill.PortalRead,
		ReturnURL: "https://app.example.com/back", CreatedAt: now, ExpiresAt: now.Add(2 * time.Second),
	}
	if err := s.app.store.CreatePortalLink(t.Context(), short, nil); err != nil {
		t.Fatal(err)
	}
	ofTime := s.openPortal(t, "/portal/links/short")
	ended := func(token string) bool { return s.inPortal(t, token, "GET", "/portal/", "").status == 401 }
	for name, token := range map[string]string{"key": ofKey, "workspace": ofWorkspace} {
		got := s.inPortal(t, token, "GET", "/portal/subscriptions", "")
		if got.status != 200 || got.header.Get("X-Frame-Options") != "DENY" || !strings.HasSuffix(got.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Fatalf("the session of the %s returns %d with %v", name, got.status, got.header)
		}
	}
	eventually(t, func() bool { return ended(ofTime) })
	if got := s.inPortal(t, ofTime, "GET", "/portal/", ""); !strings.Contains(got.body, "https://app.example.com/back") {
		t.Errorf("the page of an ended session has no way back: %s", got.body)
	}
	s.send(t, request{method: "DELETE", path: "/keys/" + operator.ID})
	if !ended(ofKey) || ended(ofWorkspace) {
		t.Errorf("after the key was revoked its session has ended: %v, and the other one: %v", ended(ofKey), ended(ofWorkspace))
	}
	s.send(t, request{method: "DELETE", path: "/workspaces/" + two.ID + "?confirm=two"})
	if !ended(ofWorkspace) {
		t.Error("the session of a deleted workspace goes on")
	}
	var states []portalLink
	if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: "/workspaces/" + one.ID + "/portal_links"}).body), &states); err != nil || len(states) != 2 || states[0].State != "expired" {
		t.Errorf("the links are %+v, %v", states, err)
	}
}
