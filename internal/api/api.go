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

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Store is what the API needs of the store, by resource.
type Store interface {
	HealthStore
	WorkspaceStore
	KeyStore
	ProcessStore
	ResponseStore
	AuditStore
	ConnectionStore
	SQLViewStore
	FeedStore
	LinkStore
	PortalLinkStore
	HandleStore
	SubscriptionStore
	EventStore
	DeliveryStore
	ReplayStore
}

// AdminStore is what [NewAdmin] needs of the store.
type AdminStore interface {
	WorkspaceStore
	KeyStore
	AuditStore
	ResponseStore
}

// adminOnly is a store of which the operations of [NewAdmin] use nothing but an
// AdminStore: its methods are nearer than those of the store, which there is none of.
type (
	adminOnly struct {
		AdminStore
		noStore
	}
	noStore struct{ Store }
)

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
	// Test sends an event to the subscription now and stores nothing.
	Test(context.Context, feedmill.Subscription, feedmill.NewEvent) (feedmill.Attempt, error)
}

// Expressions evaluates the filters and transformations of subscriptions.
type Expressions interface {
	// Open prepares the event of a payload for filters.
	Open(payload []byte) feedmill.EventFilter
	// Body is what a subscription sends for a payload. A refusal has the reason as its detail.
	Body(ctx context.Context, workspace feedmill.ID, shape feedmill.Shape, payload []byte) (feedmill.Body, error)
}

// Listeners brings deliveries to those who listen on a connection.
type Listeners interface {
	// Stream sends to a listener until there is a reason to stop.
	Stream(ctx context.Context, listener feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded
	// Answered says that deliveries of a listener were answered.
	Answered(listener feedmill.ID, deliveries []feedmill.ID)
	// Test sends an event that is not published. It reports whether there is a connection.
	Test(listener feedmill.Subscription, e feedmill.NewEvent) (bool, error)
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
	// Preview reads a subscription without creating it. Its names and its resource are the public ones.
	Preview(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults) (feedmill.Subscription, error)
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
	// CreateSQLView, ChangeSQLView and DeleteSQLView keep the views that users write in SQL.
	CreateSQLView(ctx context.Context, workspace, connection feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.SQLView) (*feedmill.IdempotentResponse, error)) (feedmill.SQLView, error)
	ChangeSQLView(ctx context.Context, workspace, connection feedmill.ID, name string, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.SQLView) (*feedmill.IdempotentResponse, error)) (feedmill.SQLView, error)
	DeleteSQLView(ctx context.Context, workspace, connection feedmill.ID, name string) error
	Services(ctx context.Context, workspace feedmill.ID) ([]feedmill.Service, error)
	// Views and Fields answer what was found a short time before, unless it is to
	// be looked for anew. Views come by name.
	Views(ctx context.Context, workspace feedmill.ID, service string, anew bool) ([]feedmill.ServiceView, error)
	Fields(ctx context.Context, workspace feedmill.ID, service, view string, anew bool) ([]feedmill.ServiceField, error)
	// Search is Views with those that have a text in their names, descriptions or fields.
	Search(ctx context.Context, workspace feedmill.ID, service, text string, anew bool) ([]feedmill.ServiceView, error)
	// Values lists distinct values of a field as JSON.
	Values(ctx context.Context, workspace feedmill.ID, service, view, field, text string, limit int) ([]jsontext.Value, error)
}

// Authenticator knows who makes a request.
type Authenticator interface {
	// Authenticate verifies the value of an Authorization header.
	Authenticate(ctx context.Context, authorization string) (feedmill.Principal, error)
	// Forget makes a revoked key invalid at once, or all credentials of a workspace.
	Forget(id feedmill.ID)
}

// Vault seals what must not stand in the store as plain text.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Bucket is an S3 bucket with the files of feeds.
type Bucket interface {
	// String is where it is.
	String() string
	// Outage is why it does not respond, and OutageSince since when; nil and zero if it does.
	Outage() error
	OutageSince() time.Time
}

// Options are the parts that a server is made of.
type Options struct {
	Store Store
	Auth  Authenticator
	// Expressions evaluates filters and transformations.
	Expressions Expressions
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
	// RateTokens shares the limit with other replicas; nil for one process.
	RateTokens TokenStore
	// Permits shows other replicas which requests are in progress; nil for one process.
	Permits *share.Permits
	// Bucket has the files of feeds; nil where they are in a folder.
	Bucket Bucket
	// Holder is the name under which this process leases work, and DamagedFiles the stored files
	// that it found to be damaged.
	Holder       string
	DamagedFiles func(ctx context.Context) []feedmill.StoredFile
	// Folder is where the data of this process is.
	Folder string
	// PublicURL is what links begin with; empty for what the client has reached.
	PublicURL string
	// PortalOrigins are the origins whose pages can show the portal, in lower case.
	PortalOrigins []string
	// Version is that of the program.
	Version string
	// Docs serves the documentation at /docs and below.
	Docs http.Handler
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
	volumes                volumes
	latencies              latencies
	started                time.Time
	// name tells this process from all others, before and after it.
	name string
	// stopping says that the server takes no more requests soon.
	stopping atomic.Bool
	// draining is closed when stopping is set.
	draining chan struct{}
	// stopped is closed when nothing may go on and on any more.
	stopped chan struct{}
	stop    sync.Once
}

// New makes a server of all operations.
func New(o Options) *Server {
	s := newServer(o)
	for _, r := range s.routes() {
		s.handle(r)
	}
	for _, r := range s.icebergRoutes() {
		s.handle(r)
	}
	s.open()
	return s
}

// NewAdmin makes a server of the operations on workspaces, keys and the audit log. It needs of the options
// the Auth, the Vault, the Log and the Metrics.
func NewAdmin(o Options, store AdminStore) *Server {
	o.Store = adminOnly{AdminStore: store}
	s := newServer(o)
	for _, r := range s.adminRoutes() {
		s.handle(r)
	}
	return s
}

func newServer(o Options) *Server {
	if o.RetrySchedule == nil {
		o.RetrySchedule = feedmill.DefaultRetrySchedule
	}
	if o.MaxUpload == 0 {
		o.MaxUpload = defaultMaxUpload
	}
	return &Server{Options: o, mux: http.NewServeMux(), limits: newLimiter(o.RateLimit, o.RateBurst, o.RateTokens), linkLimits: newLimiter(linksPerSecond, linksBurst, nil), partLimits: newLimiter(partsPerSecond, partsBurst, nil), seen: newSeen(o.Metrics), shares: newShares(), paths: make(pathWords), uploads: newUploadFormats(o.Formats), stopped: make(chan struct{}), draining: make(chan struct{}), started: time.Now(), name: rand.Text()}
}

// BeginStop makes GET /readyz return 503, so that load balancers send requests elsewhere.
func (s *Server) BeginStop() {
	if !s.stopping.Swap(true) {
		close(s.draining)
	}
}

// Stop ends what could go on for long: refreshes that are watched, and waits
// for a feed. Everything else is answered as before.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopped) }) }
