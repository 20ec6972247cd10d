package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// portalSessions has sessions of the portal alone: the token names the pages and the access.
type portalSessions struct {
	Sessions
	workspace feedmill.ID
}

func (p portalSessions) AuthenticatePortal(_ context.Context, token string) (feedmill.Principal, error) {
	access, pages, _ := strings.Cut(token, " ")
	l := feedmill.PortalLink{ID: feedmill.NewID(feedmill.PrefixPortalLink), Access: feedmill.PortalAccess(access)}
	for page := range strings.FieldsSeq(pages) {
		l.Pages = append(l.Pages, feedmill.PortalPage(page))
	}
	// More scopes than any session has: the pages alone must keep it from what is not theirs.
	return feedmill.Principal{Workspace: p.workspace, Subject: string(l.ID), Scopes: feedmill.Scopes, Portal: &l}, nil
}

// portalOperations are all operations that a page of the portal can use. A new one needs a line.
var portalOperations = map[string][]string{
	"subscriptions": {
		"DELETE /events/subscriptions/{id}", "DELETE /events/subscriptions/{id}/replays/{rid}", "GET /events/deliveries/{id}", "GET /events/subscriptions",
		"GET /events/subscriptions/{id}", "GET /events/subscriptions/{id}/deliveries", "GET /events/subscriptions/{id}/replays/{rid}", "GET /events/subscriptions/{id}/stats",
		"GET /events/types", "PATCH /events/subscriptions/{id}", "POST /events/deliveries/{id}/retry", "POST /events/subscriptions", "POST /events/subscriptions/preview",
		"POST /events/subscriptions/{id}/replay", "POST /events/subscriptions/{id}/retry", "POST /events/subscriptions/{id}/rotate_secret", "POST /events/subscriptions/{id}/test",
	},
	"events": {"GET /events", "GET /events/types", "GET /events/{id}"},
	"feeds":  {"GET /data_feeds", "GET /data_feeds/{id}", "GET /data_feeds/{id}/data"},
}

// TestPortalOperations sends every operation in the session of a page of the portal. All but those
// of the page are refused, whatever the scopes.
func TestPortalOperations(t *testing.T) {
	w := newWorld(t)
	w.Sessions = portalSessions{workspace: w.workspace}
	for page, want := range portalOperations {
		var got []string
		for _, rt := range append(w.routes(), w.icebergRoutes()...) {
			if rt.scope == "" {
				continue
			}
			path := inBraces.ReplaceAllString(rt.path, "x")
			r := httptest.NewRequest(rt.method, path, strings.NewReader("{}"))
			r = r.WithContext(feedmill.WithPortalSession(r.Context(), "write "+page))
			answer := httptest.NewRecorder()
			w.ServeHTTP(answer, r)
			if answer.Code != http.StatusForbidden {
				got = append(got, rt.method+" "+rt.path)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("operations of the page %s (-want +got):\n%s", page, diff)
		}
	}
}
