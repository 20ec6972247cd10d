package feedmill

import (
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/jstext"
)

// Event is something that happened in a workspace, as subscribers hear of it.
// Events of the internal family datasource.* never take this form: the gateway
// makes public events of them first.
type Event struct {
	ID        ID
	Workspace ID
	// PublisherID is the publisher's own id, empty where it gave none.
	PublisherID string
	// DedupeKey makes the event unique in its workspace for ever; empty
	// means that it is not.
	DedupeKey string
	Type      string
	Timestamp time.Time
	// ResourceID is what the event is about; it may be empty.
	ResourceID string
	// Source is the data source behind an event of the gateway's family,
	// whose ResourceID is the data feed. No client ever sees it.
	Source ID
	// Payload is the text that is delivered and signed: the whole event as
	// JSON, in the form that JavaScript's parse and stringify leave alone.
	Payload []byte
	// Verdicts are those of the filters that were evaluated before the event is accepted.
	Verdicts FilterVerdicts
}

// Match says which subscriptions the event is for, in the internal form that
// subscriptions are kept in: those to the exact name or to its family's
// wildcard, with no filter or with a filter on this resource.
func (e Event) Match() (name, wildcard, resource string) {
	name = InternalName(e.Type)
	resource = e.ResourceID
	if IsSourceName(e.Type) {
		resource = InternalFilter(e.Source, ID(e.ResourceID))
	}
	return name, Family(name) + ".*", resource
}

// EveryEvent is the wildcard for every event outside the gateway's family.
const EveryEvent = "*"

// What is counted for the catalogue of a workspace.
const (
	// MaxCountedEvents is how many of the newest events of the last 24 hours are counted.
	MaxCountedEvents = 50_000
	// MaxCountedSubscribers is how many subscribers of a type are counted.
	MaxCountedSubscribers = 1000
)

// Everything is [EveryEvent] for the internal name of an event that it includes, and empty for
// others.
func Everything(name string) string {
	if IsInternalName(name) {
		return ""
	}
	return EveryEvent
}

// Includes reports whether the names of a subscription, in their public or internal form,
// include an event of that name.
func Includes(names []string, name string) bool {
	return slices.Contains(names, name) || slices.Contains(names, Family(name)+".*") ||
		!IsInternalName(name) && !IsSourceName(name) && slices.Contains(names, EveryEvent)
}

// Family is the part of an event's name before the last dot.
func Family(name string) string {
	return name[:max(strings.LastIndexByte(name, '.'), 0)]
}

// Limits of publishing.
const (
	MaxEventBytes     = 256 << 10 // as it is published
	MaxPayloadBytes   = 1 << 20   // as it is delivered, its numbers written out
	MaxPublishBytes   = 8 << 20
	MaxPublishEvents  = 1000
	MaxMadeAtOnce     = 10_000 // deliveries of a request; past these, some are promised
	MaxKeptAtOnce     = 16     // events of which a step makes promised deliveries, with their payloads in memory
	MaxPublisherIDLen = 200
	MaxResourceIDLen  = 500
)

// NewEvent is an event as a publisher gives it.
type NewEvent struct {
	PublisherID string
	DedupeKey   string
	Type        string
	// Timestamp is when it happened; zero means when it is accepted.
	Timestamp  time.Time
	ResourceID string
	// Data is the JSON text of the publisher's own facts; empty means {}.
	Data []byte
}

// Accepted says what became of a published event.
type Accepted struct {
	ID          ID
	PublisherID string
	Type        string
	// Promised says that the deliveries are made after the answer.
	Promised bool
	// Duplicate is set where the publisher's id had been seen: ID is then
	// the first event's, and nothing was delivered again.
	Duplicate bool
}

// EventQuery asks for a part of the events of a workspace, newest first.
type EventQuery struct {
	Page
	// MaxBytes, where it is not zero, ends the list with the event behind those
	// whose payloads come to so many bytes.
	MaxBytes int
	// Types are those that are wanted; none for any.
	Types      []string
	ResourceID string
	Since      time.Time
	// Oldest lists the oldest first, from the event behind After on.
	Oldest bool
	After  ID
}

// Fit is how many of the events that the query has found its bytes are for.
func (q EventQuery) Fit(events []Event) int {
	bytes := 0
	for i, e := range events {
		if q.MaxBytes > 0 && bytes >= q.MaxBytes {
			return i
		}
		bytes += len(e.Payload)
	}
	return len(events)
}

// EventRoute says where an event went: one delivery of it.
type EventRoute struct {
	Delivery     ID
	Subscription ID
	State        DeliveryState
}

// TimestampFormat is how a time is written wherever a client reads one:
// RFC 3339 in UTC with milliseconds.
const TimestampFormat = "2006-01-02T15:04:05.000Z"

// RenderPayload makes the text that is delivered for the event and signed,
// from the event's own fields and the JSON text of its data. The text is a
// fixed point of JavaScript's parse and stringify, so that a receiver that
// serialises again what it has parsed still verifies the signature, unless
// data holds a number that JavaScript cannot. An error is a [*jstext.Error]
// whose place is within data.
func RenderPayload(e Event, data []byte) ([]byte, error) {
	b := make([]byte, 0, len(data)+len(e.Type)+len(e.ResourceID)+128)
	b = append(b, `{"id":`...)
	b = jstext.AppendString(b, string(e.ID))
	b = append(b, `,"type":`...)
	b = jstext.AppendString(b, e.Type)
	b = append(b, `,"timestamp":"`...)
	b = e.Timestamp.UTC().AppendFormat(b, TimestampFormat)
	b = append(b, `","resourceId":`...)
	if e.ResourceID == "" {
		b = append(b, "null"...)
	} else {
		b = jstext.AppendString(b, e.ResourceID)
	}
	b = append(b, `,"data":`...)
	if len(data) == 0 {
		return append(b, `{}}`...), nil
	}
	b, err := jstext.Append(b, data)
	if err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}
