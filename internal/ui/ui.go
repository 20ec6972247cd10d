package ui

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// Options are what the pages stand on.
type Options struct {
	// API answers the requests of the pages, and those of their scripts.
	API http.Handler
	// People signs people in who connect a service; nil where nobody can.
	People People
	// Recipients are those of mail, who follow links in their messages.
	Recipients Recipients
	// Issuer signs people in who have no key; nil where nobody can.
	Issuer Issuer
	// Portals starts the sessions of the portal; nil where there is none.
	Portals Portals
	// Portal is how the portal looks, and PortalOrigins are the origins whose pages can show it
	// in a frame.
	Portal        feedmill.PortalBrand
	PortalOrigins []string
	// EventRetention is how long deliveries are kept.
	EventRetention time.Duration
	// PublicURL is what addresses begin with; empty for what the visitor has reached.
	PublicURL string
	// Version is that of the program.
	Version string
	Log     *slog.Logger
}

// Server serves the pages. It is an [http.Handler] for everything under /ui/ and /portal/.
type Server struct {
	Options
	mux   *http.ServeMux
	forms *share.Slots
}

// New makes the pages.
func New(o Options) *Server {
	s := &Server{Options: o, mux: http.NewServeMux(), forms: newFormSlots()}
	s.mux.HandleFunc("GET /ui/assets/{set}/{name}", func(w http.ResponseWriter, r *http.Request) { loadAssets().ServeHTTP(w, r) })
	s.routes()
	s.connectRoutes()
	s.mailRoutes()
	s.portalRoutes()
	s.issuerRoutes()
	s.mux.HandleFunc("/ui/", s.open(func(v *visit) error {
		if me, err := v.api.Me(v.r.Context()); err == nil { // who has signed in keeps the rail
			v.me = &me
		}
		return v.render(http.StatusNotFound, "problem", "Page not found", failure{Status: http.StatusNotFound, What: "The page does not exist.", Next: "Check the address, or go to the list of feeds."})
	}))
	return s
}

// Beside puts the pages beside what answers everything else. The root leads to
// the pages.
func (s *Server) Beside(api http.Handler) http.Handler {
	protected := http.NewCrossOriginProtection().Handler(s)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			http.Redirect(w, r, "/ui/", http.StatusFound)
		case r.URL.Path == "/ui" || strings.HasPrefix(r.URL.Path, "/ui/") || s.Portals != nil && strings.HasPrefix(r.URL.Path, "/portal/"):
			protected.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// ServeHTTP answers a request for a page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// routes is the table of pages.
func (s *Server) routes() {
	for pattern, handle := range map[string]func(*visit) error{
		"GET /ui/{$}":       func(v *visit) error { return v.redirect("/ui/feeds") },
		"POST /ui/sign-out": signOut,
		"GET /ui/feeds":     showFeeds,

		"GET /ui/feeds/new":         showNewFeed,
		"GET /ui/feeds/new/upload":  showUpload,
		"GET /ui/feeds/{id}/upload": showUploadAgain,

		"GET /ui/feeds/{id}":            showFeed,
		"GET /ui/feeds/{id}/profile":    showProfile,
		"GET /ui/feeds/{id}/chart":      showChart,
		"GET /ui/feeds/{id}/lineage":    showLineage,
		"GET /ui/feeds/{id}/heads":      showHeads,
		"GET /ui/feeds/{id}/refreshes":  showFeedRefreshes,
		"GET /ui/plan":                  showPlan,
		"GET /ui/feeds/{id}/settings":   showFeedSettings,
		"POST /ui/feeds/{id}/settings":  changeFeedSettings,
		"GET /ui/feeds/{id}/use":        showFeedUse,
		"GET /ui/feeds/{id}/columns":    showColumns,
		"POST /ui/feeds/{id}/columns":   changeColumns,
		"GET /ui/feeds/{id}/checks":     showChecks,
		"POST /ui/feeds/{id}/checks":    changeChecks,
		"POST /ui/feeds/{id}/accept":    acceptOnce,
		"GET /ui/feeds/{id}/source":     showSource,
		"POST /ui/feeds/{id}/source":    changeSource,
		"GET /ui/feeds/{id}/credential": toCredential,
		"POST /ui/feeds/{id}/refresh":   act(refreshFeed, feedPagePath, "refreshing"),
		"POST /ui/feeds/{id}/pause":     act(pauseFeed, feedPagePath, "paused"),
		"POST /ui/feeds/{id}/resume":    act(resumeFeed, feedPagePath, "resumed"),
		"POST /ui/feeds/{id}/delete":    deleteFeed,

		"GET /ui/feeds/{id}/versions":                showFeedVersions,
		"POST /ui/feeds/{id}/versions/{version}":     changeVersion,
		"GET /ui/feeds/{id}/compare":                 showCompare,
		"GET /ui/feeds/{id}/links":                   showFeedLinks,
		"POST /ui/feeds/{id}/links":                  createLink,
		"POST /ui/feeds/{id}/links/{lnk}/revoke":     revokeLink,
		"GET /ui/feeds/{id}/refreshes/{rid}":         showRefresh,
		"GET /ui/feeds/{id}/refreshes/{rid}/rejects": showRejects,
		"POST /ui/feeds/{id}/refreshes/{rid}/cancel": cancelRefresh,

		"GET /ui/subscriptions":                showSubscriptions,
		"GET /ui/subscriptions/new":            showNewSubscription,
		"POST /ui/subscriptions/new":           createSubscription,
		"GET /ui/subscriptions/{id}":           showSubscription,
		"GET /ui/subscriptions/{id}/edit":      showEditSubscription,
		"POST /ui/subscriptions/{id}/edit":     changeSubscription,
		"POST /ui/subscriptions/{id}/test":     testSubscription,
		"GET /ui/subscriptions/{id}/rotate":    showRotate,
		"POST /ui/subscriptions/{id}/rotate":   rotateSecret,
		"GET /ui/subscriptions/{id}/replay":    showReplayForm,
		"POST /ui/subscriptions/{id}/replay":   startReplay,
		"POST /ui/subscriptions/{id}/pause":    act(setState(feedmill.SubscriptionPaused), subscriptionPagePath, "paused"),
		"POST /ui/subscriptions/{id}/activate": act(setState(feedmill.SubscriptionActive), subscriptionPagePath, "activated"),
		"POST /ui/subscriptions/{id}/retry":    act(retrySubscription, subscriptionPagePath, "retrying"),
		"POST /ui/subscriptions/{id}/delete":   act(deleteSubscription, toSubscriptions, "deleted"),

		"GET /ui/subscriptions/{id}/replays/{rid}":         showReplay,
		"POST /ui/subscriptions/{id}/replays/{rid}/cancel": cancelReplay,

		"GET /ui/feeds/new/rest":   showRest,
		"POST /ui/feeds/new/rest":  receiveRest,
		"GET /ui/feeds/new/query":  showQuery,
		"POST /ui/feeds/new/query": makeQueryFeed,

		"GET /ui/connections":              showConnections,
		"GET /ui/connections/new":          showNewConnection,
		"POST /ui/connections/new":         createConnection,
		"GET /ui/connections/{id}":         showConnection,
		"POST /ui/connections/{id}":        changeConnection,
		"POST /ui/connections/{id}/test":   testConnection,
		"POST /ui/connections/{id}/delete": act(deleteConnection, toConnections, "deleted"),

		"GET /ui/failures":        showFailures,
		"POST /ui/failures/retry": retryFailures,

		"GET /ui/start":         showStart,
		"POST /ui/start/sample": makeSample,

		"GET /ui/alerts":                showAlerts,
		"POST /ui/alerts":               createAlert,
		"POST /ui/alerts/{id}/pause":    act(setAlertState(feedmill.SubscriptionPaused), toAlerts, "paused"),
		"POST /ui/alerts/{id}/activate": act(setAlertState(feedmill.SubscriptionActive), toAlerts, "saved"),
		"POST /ui/alerts/{id}/delete":   act(deleteAlert, toAlerts, "deleted"),

		"GET /ui/keys":              showKeys,
		"POST /ui/keys":             createKey,
		"POST /ui/keys/{id}/revoke": act(revokeKey, toKeys, "revoked"),
		"GET /ui/audit":             showAudit,
		"GET /ui/workspaces":        showWorkspaces,
		"POST /ui/workspaces":       createWorkspace,
		"POST /ui/workspaces/{id}":  switchWorkspace,

		"GET /ui/workspaces/{id}":         showWorkspace,
		"POST /ui/workspaces/{id}/change": changeWorkspace,
		"POST /ui/workspaces/{id}/delete": deleteWorkspace,

		"POST /ui/workspaces/{id}/portal":              createPortalLink,
		"POST /ui/workspaces/{id}/portal/{ptl}/revoke": revokePortalLink,

		"GET /ui/keyboard": showKeyboard,
		"GET /ui/operate":  showOperate,

		"GET /ui/operate/replicas": showReplicas,

		"GET /ui/events":         showEvents,
		"GET /ui/events/{id}":    showEvent,
		"GET /ui/events/publish": showPublish,

		"GET /ui/events/catalogue":              showCatalogue,
		"GET /ui/events/catalogue/{type}":       showCatalogue,
		"POST /ui/events/catalogue/{type}/test": testType,

		"POST /ui/events/publish": publishEvent,

		"GET /ui/deliveries/{id}":        showDelivery,
		"POST /ui/deliveries/{id}/retry": act(retryDelivery, deliveryPagePath, "retrying"),
	} {
		s.mux.HandleFunc(pattern, s.signedIn(handle))
	}
	for pattern, handle := range map[string]func(*visit) error{
		"POST /ui/feeds/new/upload":  receiveUpload,
		"POST /ui/feeds/{id}/upload": receiveUploadAgain,
	} {
		s.mux.HandleFunc(pattern, s.known(handle))
	}
	for pattern, handle := range map[string]func(*visit) error{
		"GET /ui/sign-in": showSignIn,
		"GET /ui/first":   signInFirst,
	} {
		s.mux.HandleFunc(pattern, s.open(handle))
	}
	for pattern, handle := range map[string]func(*visit) error{
		"POST /ui/sign-in": signIn,
		"POST /ui/theme":   changeTheme,
	} {
		s.mux.HandleFunc(pattern, s.strangersForm(handle))
	}
}
