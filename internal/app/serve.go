package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
	"github.com/feedmill/feedmill/internal/api/openapi"
	"github.com/feedmill/feedmill/internal/auth"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/manual"
	"github.com/feedmill/feedmill/internal/mcp"
	"github.com/feedmill/feedmill/internal/serve"
	"github.com/feedmill/feedmill/internal/ui"
)

const (
	// headerTimeout is how long a client may take to send a request's header.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long a connection may stay open between requests.
	idleTimeout = 2 * time.Minute
	// maxHeader bounds a request's header.
	maxHeader = 64 << 10
	// drainTime is how long requests in flight may take after SIGTERM. What follows
	// takes 8 s at most, so that the process ends within 30 s also without its store.
	drainTime = 20 * time.Second
	// issuerTimeout is how long fetching the OIDC issuer's keys may take.
	issuerTimeout = 10 * time.Second
)

// ballastBytes is memory that is never touched, and so never there, but that
// the collector counts. It runs when the heap has doubled: without this, a busy
// server with little in memory would collect dozens of times a second. What it
// costs and saves is in docs/decisions/delivery-memory.md.
const ballastBytes = 24 << 20

// Serve runs the service until ctx ends, then stops it in good order. What the
// operator should see at the start goes to out.
func (a *App) Serve(ctx context.Context, version string, out io.Writer) (err error) {
	began := time.Now()
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	who, err := auth.New(a.store, auth.Options{
		OIDCIssuer: a.config.OIDCIssuer, OIDCAudience: a.config.OIDCAudience,
		Client:     feedmill.OAuthClient{ID: a.config.OIDCClientID, Secret: a.config.OIDCSecret},
		HTTPClient: a.egress.HTTPClient(issuerTimeout), Logger: a.log,
	})
	if err != nil {
		return err
	}
	traces, err := newTraces(ctx, a.config.TracesEndpoint, a.config.TracesHeaders, version)
	if err != nil {
		return err
	}
	listener, address, err := a.listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	metrics := newMetrics()
	events, err := a.newEvents(version, metrics)
	if err != nil {
		return err
	}
	defer events.close()
	feeds, err := a.newFeeds(ctx, version, address, machine.LimitMemory(a.log), metrics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, feeds.close()) }()
	if err := a.claim(ctx, feeds, strings.ToLower(rand.Text())); err != nil {
		return err
	}
	if err := feeds.LinkParents(ctx); err != nil {
		return err
	}
	paused, err := a.newPause(ctx)
	if err != nil {
		return err
	}
	options := a.apiOptions(events, metrics)
	options.Feeds, options.Connections, options.SignIns, options.Permits = feeds, feeds.connections, feeds.people, feeds.permits
	options.Holder, options.DamagedFiles = feeds.holder, feeds.files.Damaged
	options.Auth, options.Sessions, options.Tracer, options.Version = who, who, traces.tracer, version
	if a.config.DatabaseURL != "" {
		options.RateTokens = a.store
	}
	if feeds.bucket != nil {
		options.Bucket = feeds.bucket
	}
	options.Docs = manual.New(manual.Options{Document: openapi.JSON, Tokens: ui.Tokens(), Mark: ui.Mark(), Theme: ui.Theme, Version: version, PublicURL: a.config.PublicURL})
	endpoints := api.New(options)
	assistants := mcp.New(mcp.Options{API: endpoints, Version: version, Log: a.log})
	handler, err := serve.WithCORS(assistants.Beside(endpoints), a.config.CORSOrigins)
	if err != nil {
		return a.config.Wrong("corsOrigins", err)
	}
	handler = ui.New(ui.Options{
		API: endpoints, People: feeds.people, Issuer: who, Recipients: events.consents, Portals: who, Portal: a.config.Portal, PortalOrigins: a.config.PortalOrigins, EventRetention: a.config.EventRetention,
		PublicURL: a.config.PublicURL, Version: version, Log: a.log,
	}).Beside(handler)
	// The key is made when nothing can go wrong any more before it is shown.
	made, first, err := a.bootstrap(ctx)
	if err != nil {
		return err
	}
	server := newServer(handler, a.log)
	server.RegisterOnShutdown(func() { events.listeners.Close(); endpoints.Stop() }) // else it would wait for them
	hello := serve.Greeting{Version: version, URL: address, Data: a.config.Data, Key: made}
	if made != "" {
		if hello.Link, err = who.NewLink(ctx, first); err != nil {
			return err
		}
	}
	hello.Print(out)

	// The server and the dispatcher stop first, then what they stand on.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, endParts := context.WithCancel(context.WithoutCancel(ctx))
	defer endParts()
	var g errgroup.Group
	g.Go(func() error { a.unwritten.add(who.Run(parts)); return nil })
	g.Go(func() error {
		if paused.wait(ctx) {
			a.unwritten.add(events.dispatcher.Run(ctx))
		}
		return nil
	})
	g.Go(func() error {
		if !paused.wait(ctx) {
			return nil
		}
		return feeds.engine.Run(ctx)
	})
	g.Go(func() error { a.awaitResume(ctx, paused); return nil })
	g.Go(func() error {
		machine.CollectAround(parts, func() int { return events.dispatcher.HeldBytes() + endpoints.HeldBytes() })
		return nil
	})
	g.Go(func() error { return endpoints.Observe(parts) })
	g.Go(func() error { a.housekeep(parts, began, feeds, paused); return nil })
	g.Go(func() error {
		if paused.wait(ctx) {
			events.consents.Run(ctx)
		}
		return nil
	})
	g.Go(func() error { a.scrub(parts, feeds.files); return nil })
	g.Go(func() error {
		(&deletion{app: a, feeds: feeds, events: events, holder: feeds.holder}).run(parts)
		return nil
	})
	if feeds.TableRoot != "" {
		g.Go(func() error { a.writeTables(parts, feeds); return nil })
	}
	g.Go(func() error { a.renewFiles(parts, feeds.files); return nil })
	g.Go(func() error { feeds.permits.Run(parts); return nil })
	if feeds.bucket != nil {
		g.Go(func() error { a.watchBucket(parts, feeds.bucket); return nil })
	}
	g.Go(func() error {
		defer traces.close() // while the parts end
		defer endParts()
		defer stop() // a server that fails ends the rest too
		return serve.Until(ctx, server, listener, endpoints.BeginStop, a.notice, drainTime)
	})
	if err = g.Wait(); errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// listen opens the port that the service listens at, and returns its URL.
func (a *App) listen(ctx context.Context) (l net.Listener, address string, err error) {
	var cert *serve.Certificate
	if a.config.TLSCert != "" {
		if cert, err = serve.NewCertificate(a.config.TLSCert, a.config.TLSKey, a.log); err != nil {
			return nil, "", err
		}
	}
	if l, err = new(net.ListenConfig).Listen(ctx, "tcp", a.config.Listen); err != nil {
		return nil, "", fmt.Errorf("listening on %s: %w; set another address with --listen", a.config.Listen, err)
	}
	if cert != nil {
		return cert.OverTLS(l), "https://" + l.Addr().String(), nil
	}
	return l, "http://" + l.Addr().String(), nil
}

// newServer is the server of the handler, with bounds on what a client may hold open.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	conns := serve.NewConnections(serve.ConnectionLimit(machine.OpenFiles()), api.OnAdmitted)
	return &http.Server{
		Handler: serve.EndUnsent(h), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnState: conns.Observe, ConnContext: conns.Begin,
	}
}
