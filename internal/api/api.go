// Package api is the service over HTTP: JSON in, JSON out, one file a resource.
//
// A request takes one way through it. The table in routes.go names the
// operation; [Server.serve] gives it a request id, a deadline and a log line,
// checks the credential, the scope, the rate limit and the query parameters,
// and answers repeated requests from what was kept; the operation's handler
// reads the body into a domain value, calls one method of the store and
// returns an answer or an error; problem.go turns every error into a problem
// document. What the operations look like from outside stands in openapi/,
// and a test holds the two against each other.
package api

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Store is what the API needs of the store.
type Store interface {
	Ping(context.Context) error
	Place(context.Context) (feedmill.StorePlace, error)

	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.IdempotentResponse) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)

	CreateKey(context.Context, feedmill.Key, *feedmill.IdempotentResponse) error
	Keys(context.Context, feedmill.KeyQuery) ([]feedmill.Key, error)
	RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error

	ReportProcess(ctx context.Context, report feedmill.ProcessReport, point *feedmill.ProcessReport) error
	ForgetProcess(ctx context.Context, process string) error
	Processes(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)
	ProcessPoints(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)

	KeepResponse(context.Context, feedmill.IdempotentResponse) error
	KeptResponse(ctx context.Context, workspace feedmill.ID, owner, key string, now time.Time) (feedmill.IdempotentResponse, error)

	Audit(ctx context.Context, workspace feedmill.ID, q feedmill.AuditQuery) ([]feedmill.AuditEntry, error)

	Connection(ctx context.Context, workspace, id feedmill.ID) (feedmill.Connection, error)
	Connections(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Connection, error)

	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	SearchFeeds(ctx context.Context, workspace feedmill.ID, q feedmill.FeedSearch) (feedmill.FeedsFound, error)
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
	FeedVersions(ctx context.Context, workspace, feed feedmill.ID, at time.Time, before int64, limit int) ([]feedmill.FeedVersion, error)
	PinVersion(ctx context.Context, workspace, feed feedmill.ID, number int64, pinned bool, at time.Time) (feedmill.FeedVersion, error)
	Refresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error)
	Refreshes(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Refresh, error)
	RefreshTrace(ctx context.Context, workspace, feed, refresh feedmill.ID) ([]feedmill.TracedRequest, error)
	Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error)
	SubscriptionStandings(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.SubscriptionStanding, error)
	DeleteSubscription(ctx context.Context, workspace, id feedmill.ID, at time.Time) error

	Listener(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	DeleteListener(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	Settle(ctx context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error)

	Events(ctx context.Context, workspace feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error)
	Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error)
	Fanouts(ctx context.Context, workspace feedmill.ID, events []feedmill.ID) (map[feedmill.ID]int, error)
	EventRoutes(ctx context.Context, workspace feedmill.ID, events []feedmill.ID, limit int) (map[feedmill.ID][]feedmill.EventRoute, error)

	CreateLink(ctx context.Context, l feedmill.Link, response *feedmill.IdempotentResponse) error
	Links(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Link, error)
	LinkByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Link, error)
	DeleteLink(ctx context.Context, workspace, feed, id feedmill.ID) error
	CountLink(ctx context.Context, l feedmill.Link, at time.Time) error

	Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error)
	Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error)
	LastAttempts(ctx context.Context, deliveries []feedmill.Delivery) (map[feedmill.ID]feedmill.Attempt, error)
	Due(context.Context, feedmill.DueQuery) ([]feedmill.DueDelivery, error)
	DeliveryAttempts(ctx context.Context, delivery feedmill.ID) ([]feedmill.Attempt, error)
	RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, keep func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error)
	HastenRetries(ctx context.Context, subscription feedmill.ID, now time.Time, limit int) (int, error)
	Backlogs(ctx context.Context, subscriptions []feedmill.ID, most int) (map[feedmill.ID]feedmill.SubscriptionBacklog, error)
	CreateReplay(context.Context, feedmill.Replay, *feedmill.IdempotentResponse) error
	CountReplay(ctx context.Context, r feedmill.Replay, limit int) (feedmill.Replay, error)
	Replay(ctx context.Context, workspace, subscription, id feedmill.ID) (feedmill.Replay, error)
	CancelReplay(ctx context.Context, workspace, subscription, id feedmill.ID, at time.Time) error
}

// Publisher accepts events.
type Publisher interface {
	// Publish accepts all of the events or none. A refusal is an
	// [*feedmill.Error] whose pointers begin with the index of the event.
	Publish(ctx context.Context, workspace feedmill.ID, events []feedmill.NewEvent, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, error)
}

// Dispatcher sends deliveries.
type Dispatcher interface {
	// Changed says that a subscription must be read again before it is
	// delivered to.
	Changed(subscription feedmill.ID)
	// InFlight reports whether an attempt of the delivery is under way.
	InFlight(delivery feedmill.ID) bool
	// UnderWay are the deliveries of a subscription of which an attempt is.
	UnderWay(subscription feedmill.ID) []feedmill.ID
	// Breaker is the state of a subscription's breaker.
	Breaker(subscription feedmill.ID) feedmill.BreakerState
	// Counts are what came of a subscription's attempts since a time.
	Counts(ctx context.Context, subscription feedmill.ID, since time.Time) ([]feedmill.DeliveryCount, error)
	// Totals are what came of the deliveries of subscriptions since a time, in all.
	Totals(ctx context.Context, subscriptions []feedmill.ID, since time.Time) (map[feedmill.ID]feedmill.DeliveryCount, error)
	// OpenBreakers are those that are open or probe.
	OpenBreakers() []feedmill.OpenBreaker
	// Offer hands over deliveries that are due.
	Offer([]feedmill.DueDelivery)
	// Wake says that the store has new work.
	Wake()
	// Ping sends a test.ping to the subscription now and stores nothing.
	Ping(context.Context, feedmill.Subscription) (feedmill.Attempt, error)
}

// Listeners brings deliveries to those who listen on a connection.
type Listeners interface {
	// Stream sends to a listener until there is a reason to stop.
	Stream(ctx context.Context, listener feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded
	// Answered says that deliveries of a listener were answered.
	Answered(listener feedmill.ID, deliveries []feedmill.ID)
	// Removed says that a listener is deleted.
	Removed(listener feedmill.ID)
}

// Subscriptions makes and changes subscriptions. What is wrong with a body is
// noted with the faults that were found before. keep makes the response that is
// kept in the same transaction, nil for none.
type Subscriptions interface {
	// Create makes what a body asks for: one subscription, or two, of which
	// one can be refused.
	Create(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func([]feedmill.SubscribedHalf) (*feedmill.IdempotentResponse, error)) ([]feedmill.SubscribedHalf, error)
	Change(ctx context.Context, workspace, id feedmill.ID, body *strictjson.Object, faults *feedmill.Faults) (feedmill.Subscription, error)
	// Rotate gives a subscription a new signing secret.
	Rotate(ctx context.Context, workspace, id feedmill.ID, overlap time.Duration, keep func(feedmill.IssuedSubscription) (*feedmill.IdempotentResponse, error)) (feedmill.IssuedSubscription, error)
	// Listen makes a listener.
	Listen(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.IssuedSubscription) (*feedmill.IdempotentResponse, error)) (feedmill.IssuedSubscription, error)
}

// Connections makes and changes connections, and knows what there is behind them.
// What is wrong with a body is noted with the faults that were found before.
type Connections interface {
	Create(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.Connection) (*feedmill.IdempotentResponse, error)) (feedmill.Connection, error)
	Change(ctx context.Context, workspace, id feedmill.ID, body *strictjson.Object, faults *feedmill.Faults) (feedmill.Connection, error)
	// Delete deletes one that no feed uses.
	Delete(ctx context.Context, workspace, id feedmill.ID) error
	// Test tries one. That it does not work is no error.
	Test(ctx context.Context, workspace, id feedmill.ID) (feedmill.ConnectionTest, error)
	Services(ctx context.Context, workspace feedmill.ID) ([]feedmill.Service, error)
	// Views and Fields answer what was found a short time before, unless it is to
	// be looked for anew. Views come by name.
	Views(ctx context.Context, workspace feedmill.ID, service string, anew bool) ([]feedmill.ServiceView, error)
	Fields(ctx context.Context, workspace feedmill.ID, service, view string, anew bool) ([]feedmill.ServiceField, error)
}

// Authenticator knows who makes a request.
type Authenticator interface {
	// Authenticate verifies the value of an Authorization header.
	Authenticate(ctx context.Context, authorization string) (feedmill.Principal, error)
	// Forget makes a revoked key invalid at once.
	Forget(key feedmill.ID)
}

// Vault seals what must not stand in the store as plain text.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Options are the parts that a server is made of.
type Options struct {
	Store Store
	Auth  Authenticator
	// Sessions, where there are any, let the cookies of browsers in.
	Sessions Sessions
	Vault    Vault
	Log      *slog.Logger
	Metrics  *prometheus.Registry
	Tracer   trace.Tracer

	Publisher     Publisher
	Subscriptions Subscriptions
	Connections   Connections
	SignIns       SignIns
	Dispatcher    Dispatcher
	Listeners     Listeners
	Catalogue     *feedmill.Catalogue
	Feeds         Feeds
	// Formats are those that data can be uploaded in, and those that are known
	// only.
	Formats feedmill.Formats
	// CheckReading returns what is wrong with the options by which data is read.
	CheckReading func(feedmill.ReadingOptions) []feedmill.Fault
	// Decompress undoes a Content-Encoding, and fails past a number of bytes.
	Decompress func(r io.Reader, contentEncoding string, limit int64) (io.ReadCloser, error)
	// MaxUpload is how many bytes the data of an upload may have.
	MaxUpload int64
	// RetrySchedule is that of deliveries whose subscription has none of its
	// own; nil means the default.
	RetrySchedule feedmill.RetrySchedule

	// RateLimit is how many requests a second one credential may make;
	// zero means any number. RateBurst is how many it may make at once.
	RateLimit float64
	RateBurst int
	// Folder is where the data of this process is.
	Folder string
	// PublicURL is what links begin with; empty for what the client has reached.
	PublicURL string
	// Version is that of the program.
	Version string
}

// Server answers the API's requests. It is an [http.Handler].
type Server struct {
	Options
	mux     *http.ServeMux
	methods []string
	limits  *limiter
	// linkLimits are those of links, which anybody may have, and partLimits those of parts
	// of their files.
	linkLimits, partLimits *limiter
	inFlight               inFlight
	seen                   *seen
	shares                 shares
	paths                  pathWords
	uploads                uploadFormats
	series                 series
	latencies              latencies
	started                time.Time
	// name tells this process from all others, before and after it.
	name string
	// stopping says that the server takes no more requests soon.
	stopping atomic.Bool
	// stopped is closed when nothing may go on and on any more.
	stopped chan struct{}
	stop    sync.Once
}

// New makes a server.
func New(o Options) *Server {
	if o.RetrySchedule == nil {
		o.RetrySchedule = feedmill.DefaultRetrySchedule
	}
	if o.MaxUpload == 0 {
		o.MaxUpload = defaultMaxUpload
	}
	s := &Server{Options: o, mux: http.NewServeMux(), limits: newLimiter(o.RateLimit, o.RateBurst), linkLimits: newLimiter(linksPerSecond, linksBurst), partLimits: newLimiter(partsPerSecond, partsBurst), seen: newSeen(o.Metrics), shares: newShares(), paths: make(pathWords), uploads: newUploadFormats(o.Formats), stopped: make(chan struct{}), started: time.Now(), name: rand.Text()}
	for _, r := range s.routes() {
		s.handle(r)
	}
	s.open()
	return s
}

// BeginStop makes GET /readyz return 503, so that load balancers send requests elsewhere.
func (s *Server) BeginStop() { s.stopping.Store(true) }

// Stop ends what could go on for long: refreshes that are watched, and waits
// for a feed. Everything else is answered as before.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopped) }) }
