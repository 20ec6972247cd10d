package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// route is an operation of the API.
type route struct {
	method string
	path   string
	// scope is what the credential must hold.
	scope feedmill.Scope
	// action is what the audit log calls the change that the operation makes.
	action string
	// reads says that the operation changes nothing although it is a POST, so
	// that no answer of it has to be kept.
	reads bool
	// query names the parameters that the operation takes.
	query []string
	// repeats names those of them that may be given several times.
	repeats []string
	// body is how many bytes the body may have; zero where none is taken.
	body int64
	// formats are the media types of the body; empty means JSON.
	formats string
	// long says that the body or the answer can be so large that only the
	// time for each part of it is bounded, and not that for the whole.
	long bool
	// queries says that the operation reads rows, which the quota of concurrent queries limits.
	queries bool
	// iceberg says that the operation is one of the catalogue: its errors have another shape,
	// and it ignores unknown parameters.
	iceberg bool
	// portal names the pages of the portal that use the operation; sessions of the portal can
	// use no other.
	portal []feedmill.PortalPage
	handle func(*call) (answer, error)
}

// problem renders a problem in the shape of the operation.
func (r route) problem(p problem) answer {
	if r.iceberg {
		return p.icebergAnswer()
	}
	return p.answer()
}

// repeatable reports whether an Idempotency-Key makes the operation happen once.
func (r route) repeatable() bool { return r.method == http.MethodPost || r.method == http.MethodPut }

// smallBody is the limit of a body that describes one resource.
const smallBody = 1 << 20

// strangerBody is the limit of a body that is read before anything is known of its sender.
const strangerBody = 16 << 10

// The operations of the pages of the portal. Those of subscriptions that change something need
// a link with the access to write.
var (
	ofSubscriptions = []feedmill.PortalPage{feedmill.PortalSubscriptions}
	ofEvents        = []feedmill.PortalPage{feedmill.PortalEvents}
	ofFeeds         = []feedmill.PortalPage{feedmill.PortalFeeds}
	ofTypes         = []feedmill.PortalPage{feedmill.PortalSubscriptions, feedmill.PortalEvents}
)

// paged are the query parameters of every list.
var paged = []string{"limit", "cursor"}

// adminRoutes are the operations on workspaces, keys and the audit log.
func (s *Server) adminRoutes() []route {
	return []route{
		{method: "POST", path: "/workspaces", scope: feedmill.ScopeAdmin, action: "workspace.create", body: smallBody, handle: s.createWorkspace},
		{method: "GET", path: "/workspaces", scope: feedmill.ScopeAdmin, query: paged, handle: s.listWorkspaces},
		{method: "GET", path: "/workspaces/{id}", scope: feedmill.ScopeAdmin, handle: s.getWorkspace},
		{method: "PATCH", path: "/workspaces/{id}", scope: feedmill.ScopeAdmin, action: "workspace.update", body: smallBody, handle: s.changeWorkspace},
		{method: "DELETE", path: "/workspaces/{id}", scope: feedmill.ScopeAdmin, action: "workspace.delete", query: []string{"confirm"}, handle: s.deleteWorkspace},

		{method: "POST", path: "/keys", scope: feedmill.ScopeAdmin, action: "key.create", body: smallBody, handle: s.createKey},
		{method: "GET", path: "/keys", scope: feedmill.ScopeAdmin, query: append([]string{"workspaceId", "revoked"}, paged...), handle: s.listKeys},
		{method: "GET", path: "/keys/{id}", scope: feedmill.ScopeAdmin, handle: s.getKey},
		{method: "DELETE", path: "/keys/{id}", scope: feedmill.ScopeAdmin, action: "key.revoke", handle: s.revokeKey},

		{method: "GET", path: "/audit", scope: feedmill.ScopeAdmin, query: append([]string{"actor", "action", "resource", "since", "workspaceId"}, paged...), handle: s.listAudit},
	}
}

// routes is the table of operations. The OpenAPI document has the same.
func (s *Server) routes() []route {
	return append(s.adminRoutes(), []route{
		{method: "POST", path: "/workspaces/{id}/portal_links", scope: feedmill.ScopeAdmin, action: "portal_link.create", body: smallBody, handle: s.createPortalLink},
		{method: "GET", path: "/workspaces/{id}/portal_links", scope: feedmill.ScopeAdmin, query: paged, handle: s.listPortalLinks},
		{method: "GET", path: "/workspaces/{id}/portal_links/{ptl}", scope: feedmill.ScopeAdmin, handle: s.getPortalLink},
		{method: "DELETE", path: "/workspaces/{id}/portal_links/{ptl}", scope: feedmill.ScopeAdmin, action: "portal_link.delete", handle: s.deletePortalLink},

		{method: "POST", path: "/sessions", action: "session.create", body: strangerBody, handle: s.createSession},
		{method: "PATCH", path: "/sessions/current", scope: anyScope, action: "session.move", body: smallBody, handle: s.moveSession},
		{method: "DELETE", path: "/sessions/current", scope: anyScope, action: "session.delete", handle: s.endSession},
		{method: "GET", path: "/me", scope: anyScope, handle: s.getMe},

		{method: "GET", path: "/operate", scope: feedmill.ScopeAdmin, handle: s.operate},

		{method: "POST", path: "/events", scope: feedmill.ScopePublish, body: feedmill.MaxPublishBytes, formats: publishFormats, handle: s.publishEvents},
		{method: "GET", path: "/events", portal: ofEvents, scope: feedmill.ScopeRead, query: append([]string{"type", "resourceId", "since"}, paged...), handle: s.listEvents},
		{method: "GET", path: "/events/{id}", portal: ofEvents, scope: feedmill.ScopeRead, query: []string{"subscriptionId"}, handle: s.getEvent},
		{method: "GET", path: "/events/stream", scope: feedmill.ScopeRead, query: []string{"type", "resourceId", "since"}, handle: s.streamEvents},
		{method: "GET", path: "/events/types", portal: ofTypes, scope: feedmill.ScopeRead, query: paged, handle: s.listEventTypes},

		{method: "POST", path: "/events/subscriptions", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "subscription.create", body: smallBody, handle: s.createSubscriptions},
		{method: "GET", path: "/events/subscriptions", portal: ofSubscriptions, scope: feedmill.ScopeRead, query: append([]string{"counts"}, paged...), handle: s.listSubscriptions},
		{method: "POST", path: "/events/subscriptions/preview", portal: ofSubscriptions, scope: feedmill.ScopeWrite, body: smallBody, reads: true, handle: s.previewSubscription},
		{method: "GET", path: "/events/subscriptions/{id}", portal: ofSubscriptions, scope: feedmill.ScopeRead, handle: s.getSubscription},
		{method: "PATCH", path: "/events/subscriptions/{id}", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "subscription.update", body: smallBody, handle: s.changeSubscription},
		{method: "DELETE", path: "/events/subscriptions/{id}", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "subscription.delete", handle: s.deleteSubscription},
		{method: "POST", path: "/events/subscriptions/{id}/test", portal: ofSubscriptions, scope: feedmill.ScopeWrite, body: smallBody, handle: s.testSubscription},
		{method: "POST", path: "/events/subscriptions/{id}/rotate_secret", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "subscription.rotate_secret", body: smallBody, handle: s.rotateSecret},
		{method: "POST", path: "/events/subscriptions/{id}/retry", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "subscription.retry", handle: s.retrySubscription},
		{method: "POST", path: "/events/subscriptions/{id}/replay", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "subscription.replay", body: smallBody, handle: s.replaySubscription},
		{method: "GET", path: "/events/subscriptions/{id}/replays/{rid}", portal: ofSubscriptions, scope: feedmill.ScopeRead, handle: s.getReplay},
		{method: "DELETE", path: "/events/subscriptions/{id}/replays/{rid}", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "replay.cancel", handle: s.cancelReplay},
		{method: "GET", path: "/events/subscriptions/{id}/stats", portal: ofSubscriptions, scope: feedmill.ScopeRead, query: []string{"since"}, handle: s.subscriptionStats},
		{method: "GET", path: "/events/subscriptions/{id}/deliveries", portal: ofSubscriptions, scope: feedmill.ScopeRead, query: append([]string{"state", "type", "since", "until", "counts"}, paged...), handle: s.listDeliveries},

		{method: "POST", path: "/events/listeners", scope: feedmill.ScopeWrite, action: "listener.create", body: smallBody, handle: s.createListener},
		{method: "GET", path: "/events/listeners/{id}", scope: feedmill.ScopeWrite, handle: s.getListener},
		{method: "GET", path: "/events/listeners/{id}/stream", scope: feedmill.ScopeWrite, handle: s.streamListener},
		{method: "POST", path: "/events/listeners/{id}/answers", scope: feedmill.ScopeWrite, body: smallBody, handle: s.answerListener},
		{method: "POST", path: "/events/listeners/{id}/test", scope: feedmill.ScopeWrite, body: smallBody, handle: s.testListener},
		{method: "DELETE", path: "/events/listeners/{id}", scope: feedmill.ScopeWrite, action: "listener.delete", handle: s.deleteListener},

		{method: "POST", path: "/connections", scope: feedmill.ScopeWrite, action: "connection.create", body: smallBody, handle: s.createConnection},
		{method: "GET", path: "/connections", scope: feedmill.ScopeRead, query: paged, handle: s.listConnections},
		{method: "GET", path: "/connections/{id}", scope: feedmill.ScopeRead, handle: s.getConnection},
		{method: "PATCH", path: "/connections/{id}", scope: feedmill.ScopeWrite, action: "connection.update", body: smallBody, handle: s.changeConnection},
		{method: "DELETE", path: "/connections/{id}", scope: feedmill.ScopeWrite, action: "connection.delete", handle: s.deleteConnection},
		{method: "POST", path: "/connections/{id}/test", scope: feedmill.ScopeWrite, reads: true, handle: s.testConnection},

		{method: "POST", path: "/connections/{id}/views", scope: feedmill.ScopeWrite, action: "sql_view.create", body: smallBody, handle: s.createSQLView},
		{method: "GET", path: "/connections/{id}/views", scope: feedmill.ScopeRead, query: paged, handle: s.listSQLViews},
		{method: "GET", path: "/connections/{id}/views/{name}", scope: feedmill.ScopeRead, handle: s.getSQLView},
		{method: "PUT", path: "/connections/{id}/views/{name}", scope: feedmill.ScopeWrite, action: "sql_view.update", body: smallBody, handle: s.changeSQLView},
		{method: "DELETE", path: "/connections/{id}/views/{name}", scope: feedmill.ScopeWrite, action: "sql_view.delete", handle: s.deleteSQLView},

		{method: "GET", path: "/definitions", scope: feedmill.ScopeRead, query: append([]string{"kind"}, paged...), handle: s.listDefinitions},
		{method: "PATCH", path: "/definitions/{id}", scope: feedmill.ScopeWrite, action: "definition.update", body: smallBody, handle: s.setDefinition},
		{method: "POST", path: "/definitions/compare", scope: feedmill.ScopeWrite, reads: true, body: smallBody, handle: s.compareDefinitions},
		{method: "POST", path: "/definitions/apply", scope: feedmill.ScopeWrite, reads: true, body: smallBody, handle: s.beginApply},
		{method: "DELETE", path: "/definitions/apply", scope: feedmill.ScopeWrite, query: []string{"holder"}, handle: s.endApply},

		{method: "GET", path: "/data_feeds/creation_url", scope: feedmill.ScopeWrite, query: []string{"serviceName", "redirectUri"}, handle: s.creationURL},
		{method: "GET", path: "/query_builder/services", scope: feedmill.ScopeRead, query: paged, handle: s.listServices},
		{method: "GET", path: "/query_builder/services/{serviceName}/views", scope: feedmill.ScopeRead, query: append([]string{"q", "refresh"}, paged...), handle: s.listViews},
		{method: "GET", path: "/query_builder/services/{serviceName}/views/{viewName}/fields", scope: feedmill.ScopeRead, query: append([]string{"refresh"}, paged...), handle: s.listFields},
		{method: "GET", path: "/query_builder/services/{serviceName}/views/{viewName}/fields/{field}/values", scope: feedmill.ScopeRead, query: []string{"q", "limit"}, handle: s.listValues},
		{method: "POST", path: "/query_builder/preview", scope: feedmill.ScopeWrite, reads: true, body: smallBody, formats: definitionTypes, long: true, queries: true, handle: s.previewQuery},

		{method: "POST", path: "/data_feeds", scope: feedmill.ScopeWrite, action: "feed.create", query: slices.Concat([]string{"type", "sourceOf", "name", "preview"}, modeParameters, s.uploads.parameters), body: s.MaxUpload, formats: s.uploads.accepted, long: true, handle: s.createFeed},
		{method: "GET", path: "/data_feeds", portal: ofFeeds, scope: feedmill.ScopeRead, query: append([]string{"state", "q", "sort", "counts"}, paged...), handle: s.listFeeds},
		{method: "POST", path: "/data_feeds/preview", scope: feedmill.ScopeWrite, reads: true, query: append([]string{"type", "name", "preview", "compare"}, s.uploads.parameters...), body: s.MaxUpload, formats: s.uploads.accepted, long: true, handle: s.previewFeed},
		{method: "GET", path: "/data_feeds/{id}", portal: ofFeeds, scope: feedmill.ScopeRead, handle: s.getFeed},
		{method: "PATCH", path: "/data_feeds/{id}", scope: feedmill.ScopeWrite, action: "feed.update", body: smallBody, handle: s.changeFeed},
		{method: "DELETE", path: "/data_feeds/{id}", scope: feedmill.ScopeWrite, action: "feed.delete", query: []string{"force"}, handle: s.deleteFeed},
		{method: "PATCH", path: "/data_feeds/{id}/columns", scope: feedmill.ScopeWrite, action: "feed.columns", query: []string{"dryRun"}, body: smallBody, long: true, handle: s.changeColumns},
		{method: "GET", path: "/data_feeds/{id}/data", portal: ofFeeds, scope: feedmill.ScopeRead, query: rowParameters, repeats: []string{"filter"}, long: true, queries: true, handle: s.readFeedData},
		{method: "PUT", path: "/data_feeds/{id}/data", scope: feedmill.ScopeWrite, action: "feed.upload", query: slices.Concat([]string{"accept", "preview"}, modeParameters, s.uploads.parameters), body: s.MaxUpload, formats: s.uploads.accepted, long: true, handle: s.replaceFeed},
		{method: "POST", path: "/data_feeds/{id}/query", scope: feedmill.ScopeRead, reads: true, query: []string{"cursor", "version", "format", "csv", "numbers"}, body: smallBody, long: true, queries: true, handle: s.queryFeed},
		{method: "GET", path: "/data_feeds/{id}/changes", scope: feedmill.ScopeRead, query: changeParameters, repeats: []string{"filter"}, long: true, queries: true, handle: s.readChanges},
		{method: "GET", path: "/data_feeds/{id}/profile", scope: feedmill.ScopeRead, query: []string{"filter", "version"}, repeats: []string{"filter"}, long: true, queries: true, handle: s.readProfile},
		{method: "GET", path: "/data_feeds/{id}/lineage", scope: feedmill.ScopeRead, long: true, handle: s.readLineage},
		{method: "GET", path: "/data_feeds/{id}/chart", scope: feedmill.ScopeRead, query: chartParameters, repeats: []string{"filter"}, long: true, queries: true, handle: s.readChart},
		{method: "GET", path: "/data_feeds/{id}/checks", scope: feedmill.ScopeRead, long: true, handle: s.readChecks},
		{method: "GET", path: "/data_feeds/{id}/versions", scope: feedmill.ScopeRead, query: paged, handle: s.listVersions},
		{method: "GET", path: "/data_feeds/{id}/versions/{version}", scope: feedmill.ScopeRead, handle: s.getVersion},
		{method: "PATCH", path: "/data_feeds/{id}/versions/{version}", scope: feedmill.ScopeWrite, action: "version.update", body: smallBody, handle: s.changeVersion},
		{method: "POST", path: "/data_feeds/{id}/versions/{version}/restore", scope: feedmill.ScopeWrite, action: "version.restore", handle: s.restoreVersion},
		{method: "POST", path: "/data_feeds/{id}/refresh", scope: feedmill.ScopeWrite, query: []string{"accept"}, handle: s.refreshFeed},
		{method: "POST", path: "/data_feeds/{id}/pause", scope: feedmill.ScopeWrite, action: "feed.pause", handle: s.pauseFeed},
		{method: "POST", path: "/data_feeds/{id}/resume", scope: feedmill.ScopeWrite, action: "feed.resume", handle: s.resumeFeed},
		{method: "GET", path: "/data_feeds/{id}/refreshes", scope: feedmill.ScopeRead, query: paged, handle: s.listRefreshes},
		{method: "GET", path: "/data_feeds/{id}/refreshes/{rid}", scope: feedmill.ScopeRead, handle: s.getRefresh},
		{method: "DELETE", path: "/data_feeds/{id}/refreshes/{rid}", scope: feedmill.ScopeWrite, action: "refresh.cancel", handle: s.cancelRefresh},
		{method: "GET", path: "/data_feeds/{id}/refreshes/{rid}/rejects", scope: feedmill.ScopeRead, query: paged, long: true, handle: s.listRejects},

		{method: "POST", path: "/data_feeds/{id}/links", scope: feedmill.ScopeWrite, action: "link.create", body: smallBody, handle: s.createLink},
		{method: "GET", path: "/data_feeds/{id}/links", scope: feedmill.ScopeRead, query: paged, handle: s.listLinks},
		{method: "GET", path: "/data_feeds/{id}/links/{lnk}", scope: feedmill.ScopeRead, handle: s.getLink},
		{method: "DELETE", path: "/data_feeds/{id}/links/{lnk}", scope: feedmill.ScopeWrite, action: "link.delete", handle: s.deleteLink},

		{method: "GET", path: "/events/deliveries/{id}", portal: ofSubscriptions, scope: feedmill.ScopeRead, handle: s.getDelivery},
		{method: "POST", path: "/events/deliveries/{id}/retry", portal: ofSubscriptions, scope: feedmill.ScopeWrite, action: "delivery.retry", handle: s.retryDelivery},
		{method: "GET", path: "/events/undelivered", scope: feedmill.ScopeRead, query: append([]string{"groupBy", "state", "subscriptionId", "error", "since", "until"}, paged...), handle: s.listUndelivered},
		{method: "POST", path: "/events/undelivered/retry", scope: feedmill.ScopeWrite, action: "undelivered.retry", body: smallBody, handle: s.retryUndelivered},
	}...)
}

// handle registers a route.
func (s *Server) handle(r route) {
	if r.repeatable() && r.body == 0 {
		do := r.handle
		r.handle = func(c *call) (answer, error) {
			if err := c.readNothing(); err != nil {
				return answer{}, err
			}
			return do(c)
		}
	}
	s.paths.add(r.path)
	s.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, r) })
	if !slices.Contains(s.methods, r.method) {
		s.methods = append(s.methods, r.method)
	}
}

// ServeHTTP answers a request. What matches no route gets a problem document
// as well, unlike from [http.ServeMux] itself.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := s.mux.Handler(r); pattern != "" && cleanPath(r.URL.Path) {
		s.mux.ServeHTTP(w, r)
		return
	}
	s.serve(w, r, route{iceberg: strings.HasPrefix(r.URL.Path, "/iceberg/"), handle: func(c *call) (answer, error) { return s.unmatched(c.r) }})
}

// unmatched is the answer to a path or method that there is not.
func (s *Server) unmatched(r *http.Request) (answer, error) {
	var allow []string
	if cleanPath(r.URL.Path) {
		probe := *r
		for _, m := range s.methods {
			probe.Method = m
			if _, pattern := s.mux.Handler(&probe); pattern != "" {
				allow = append(allow, m)
			}
		}
	}
	if len(allow) == 0 {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: "The path does not exist. GET /openapi.json lists all paths."}
	}
	if slices.Contains(allow, "GET") {
		allow = append(allow, "HEAD")
	}
	slices.Sort(allow)
	p := problem{
		Type: "/problems/method-not-allowed", Title: "The method is not allowed", Status: http.StatusMethodNotAllowed,
		Detail: "Use one of " + strings.Join(allow, ", ") + ".", Instance: instance(r),
	}
	a := route{iceberg: strings.HasPrefix(r.URL.Path, "/iceberg/")}.problem(p)
	a.set("Allow", strings.Join(allow, ", "))
	return a, nil
}

// cleanPath reports whether a path is in its shortest form. ServeMux redirects
// others; here they are simply not there.
func cleanPath(p string) bool {
	if p == "/" || p == "/docs/" {
		return true
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return strings.HasPrefix(p, "/")
}
