package feedmill

import (
	"bytes"
	"context"
	"time"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// DestinationKind names a kind of destination. A package below internal/destination
// implements each kind that deliveries are sent to.
type DestinationKind string

// The kinds of destinations.
const (
	DestinationWebhook DestinationKind = "webhook"
	// DestinationListener is a connection that a client holds open. Nothing is sent to it.
	DestinationListener DestinationKind = "listener"
	// DestinationNATS is a subject of a NATS server, which a JetStream stream stores.
	DestinationNATS DestinationKind = "nats"
	// DestinationKafka is a topic of a Kafka cluster.
	DestinationKafka DestinationKind = "kafka"
	// DestinationAMQP is an exchange of an AMQP 0-9-1 broker, such as RabbitMQ.
	DestinationAMQP DestinationKind = "amqp"
	// DestinationMail is a mailbox.
	DestinationMail DestinationKind = "mailto"
)

// Destination is where the deliveries of a subscription go.
type Destination struct {
	Kind DestinationKind
	// URL is the address; its scheme selects the kind. It is empty for a listener.
	URL string
	// Method is the HTTP method of a webhook, POST or GET; empty for other kinds.
	Method string
	// Config is the rest of the configuration, sealed; only the package of the kind
	// reads it. It is empty if there is none. ConfigNames are the names of the secrets
	// in it, which may be shown.
	Config      []byte
	ConfigNames []string
	// Shown is the part of the configuration that is not secret, as JSON; only the package
	// of the kind and clients read it. It is sealed in the store.
	Shown []byte
}

// Equal reports whether two destinations are the same.
func (d Destination) Equal(other Destination) bool {
	return d.Kind == other.Kind && d.URL == other.URL && d.Method == other.Method && bytes.Equal(d.Config, other.Config) && bytes.Equal(d.Shown, other.Shown)
}

// DestinationRequest is what a request to create or change a subscription contains about
// its destination.
type DestinationRequest struct {
	// Body is the request, and Delivery its member of that name; nil if it is not given.
	// ResetDelivery reports that the member is null: everything in it gets its default.
	Body, Delivery *strictjson.Object
	ResetDelivery  bool
	// Was is the destination before the change, the zero value for a new one, and
	// OpenConfig unseals its Config.
	Was        Destination
	OpenConfig func() ([]byte, error)
	Faults     *Faults
}

// Member returns a member of delivery, if the request has it.
func (r DestinationRequest) Member(name string) (strictjson.Field, bool) {
	if r.Delivery == nil {
		return strictjson.Field{}, false
	}
	return r.Delivery.Get(name)
}

// Message is what one attempt sends.
type Message struct {
	Delivery ID
	Event    ID
	Type     string
	// ResourceID is what the event is about; it may be empty.
	ResourceID string
	Payload    []byte
	// ContentType is that of the payload; empty means JSON.
	ContentType string
	Attempt     int
	At          time.Time
	// Test marks an event that was not published.
	Test bool
	// BatchID identifies a payload that is an array of events; empty for others. Events is
	// the number of its events. If it has several, the fields from Delivery to ResourceID
	// are those of the first.
	BatchID string
	Events  int
	// Header identifies and signs the payload. Names are in the canonical form of HTTP.
	// The endpoint may append to it.
	Header [][2]string
	// Timeout bounds the attempt.
	Timeout time.Duration
}

// Endpoint is a destination that is ready to be sent to.
type Endpoint interface {
	// Send makes one attempt. It returns when ctx ends.
	Send(context.Context, Message) Result
}

// Verdict is what an attempt means for its delivery.
type Verdict string

// The verdicts. A zero Verdict means retry.
const (
	VerdictDelivered Verdict = "delivered"
	VerdictRetry     Verdict = "retry"
	// VerdictGone disables the subscription: the destination does not want any more.
	VerdictGone Verdict = "gone"
	// VerdictRejected ends the delivery: no attempt can succeed, whatever the
	// destination responds.
	VerdictRejected Verdict = "rejected"
	// VerdictWait means that the attempt was not made, because a limit of the destination
	// allows it only after RetryAfter. The delivery stays as it is.
	VerdictWait Verdict = "wait"
)

// Result is what came of an attempt.
type Result struct {
	Verdict Verdict
	// Responded reports that the destination responded at all. One that does not opens
	// the breaker.
	Responded bool
	// Status is that of an HTTP response; 0 if there is none.
	Status int
	// Class groups the failures of destinations that responded in metrics, such as 5xx or
	// auth.
	Class string
	// Error describes the failure for the subscriber.
	Error string
	// Header and Body are those of the response.
	Header [][2]string
	Body   []byte
	Timing Timing
	// RetryAfter is how long the destination asks not to be sent anything.
	RetryAfter time.Duration
	// NotSent reports that a rejected attempt was not made.
	NotSent bool
}

// Delivered reports whether the attempt succeeded.
func (r Result) Delivered() bool { return r.Verdict == VerdictDelivered }

// Record is the attempt as the store keeps it.
func (r Result) Record(m Message) *Attempt {
	return &Attempt{
		ID: NewID(PrefixAttempt), Delivery: m.Delivery, Number: m.Attempt, At: m.At.UTC().Truncate(time.Millisecond),
		Status: r.Status, Error: r.Error, Header: r.Header, Body: r.Body, Timing: r.Timing,
	}
}
