package ui

import (
	"log/slog"
	"net/http"
	"strings"
)

// Options are what the pages stand on.
type Options struct {
	// API answers the requests of the pages, and those of their scripts.
	API http.Handler
	// Version is that of the program.
	Version string
	Log     *slog.Logger
}

// Server serves the pages. It is an [http.Handler] for everything under /ui/.
type Server struct {
	Options
	mux    *http.ServeMux
	assets *assets
	pages  map[string]*page
}

// New makes the pages.
func New(o Options) *Server {
	s := &Server{Options: o, mux: http.NewServeMux(), assets: loadAssets()}
	s.pages = parsePages(s.assets)
	s.mux.Handle("GET /ui/assets/{set}/{name}", s.assets)
	s.routes()
	s.mux.HandleFunc("/ui/", s.open(func(v *visit) error {
		return v.render(http.StatusNotFound, "problem", "Nothing here", failure{Status: http.StatusNotFound, What: "There is no such page.", Next: "Check the address, or begin at the list of feeds."})
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
		case r.URL.Path == "/ui" || strings.HasPrefix(r.URL.Path, "/ui/"):
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

		"GET /ui/feeds/new":          showNewFeed,
		"GET /ui/feeds/new/upload":   showUpload,
		"POST /ui/feeds/new/upload":  receiveUpload,
		"GET /ui/feeds/{id}/upload":  showUploadAgain,
		"POST /ui/feeds/{id}/upload": receiveUploadAgain,

		"GET /ui/feeds/{id}":           showFeed,
		"GET /ui/feeds/{id}/refreshes": showFeedRefreshes,
		"GET /ui/feeds/{id}/settings":  showFeedSettings,
		"POST /ui/feeds/{id}/settings": changeFeedSettings,
		"GET /ui/feeds/{id}/use":       showFeedUse,
		"POST /ui/feeds/{id}/refresh":  act(refreshFeed, feedPagePath, "refreshing"),
		"POST /ui/feeds/{id}/pause":    act(pauseFeed, feedPagePath, "paused"),
		"POST /ui/feeds/{id}/resume":   act(resumeFeed, feedPagePath, "resumed"),
		"POST /ui/feeds/{id}/delete":   act(deleteFeed, toFeeds, "deleted"),

		"GET /ui/feeds/{id}/refreshes/{rid}":         showRefresh,
		"POST /ui/feeds/{id}/refreshes/{rid}/cancel": cancelRefresh,
	} {
		s.mux.HandleFunc(pattern, s.signedIn(handle))
	}
	for pattern, handle := range map[string]func(*visit) error{
		"GET /ui/sign-in":  showSignIn,
		"POST /ui/sign-in": signIn,
		"GET /ui/first":    signInFirst,
		"POST /ui/theme":   changeTheme,
	} {
		s.mux.HandleFunc(pattern, s.open(handle))
	}
}
