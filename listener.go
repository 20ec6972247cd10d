package feedmill

import (
	"iter"
	"slices"
	"time"
)

// A listener is a subscription without a URL: whoever made it holds a
// connection open, is sent its deliveries over that, and says what became of
// each. It lives for ListenerGrace after it was last connected, and for
// ListenerLife at most.
const (
	ListenerGrace = 10 * time.Minute
	ListenerLife  = 24 * time.Hour
	// ListenerTouch is how often a connection moves the end of its listener.
	ListenerTouch = time.Minute
	// MaxListeners is how many a workspace may have at a time.
	MaxListeners = 100
	// MaxListenerWindow is how many deliveries may be sent to a listener and
	// not answered yet.
	MaxListenerWindow = 32
	// MaxListenerAnswers is how many answers a request may bring.
	MaxListenerAnswers = 100
)

// ListenerMessage is what a listener is told over its connection.
type ListenerMessage struct {
	// Delivery is one to answer, with the headers that a webhook would have;
	// nil where the message is a sign of life.
	Delivery *DueDelivery
	Headers  map[string]string
	// Until is when the listener ends unless it stays connected.
	Until time.Time
}

// ListenerEnded says why a listener's connection has ended.
type ListenerEnded string

// Why connections end. One that breaks ends for no reason of the service.
const (
	ListenerBroken   ListenerEnded = ""
	ListenerReplaced ListenerEnded = "replaced" // by a newer connection
	ListenerRemoved  ListenerEnded = "removed"
	ListenerExpired  ListenerEnded = "expired"
	ListenerShutdown ListenerEnded = "shutdown" // of the service: connect again
)

// Listening reports whether the subscription is a listener.
func (s Subscription) Listening() bool { return !s.ListenUntil.IsZero() }

// ListenerEnd is when a listener that was made at one time and is connected at
// another ends, unless it is connected again.
func ListenerEnd(made, connected time.Time) time.Time {
	end, last := connected.Add(ListenerGrace), made.Add(ListenerLife)
	if end.After(last) {
		return last
	}
	return end
}

// Topics are the names and wildcards that the subscription is matched by, each
// with the only resource that it hears of, empty for any. A filter on a data
// feed is one for events of the gateway's family and another is one for all
// others; where a listener has both kinds of events, the other kind is not
// filtered.
func (s Subscription) Topics() iter.Seq2[string, string] {
	mixed := slices.ContainsFunc(s.Events, IsInternalName) && slices.ContainsFunc(s.Events, isPublicName)
	ofFeed := PublicFilter(s.ResourceID) != s.ResourceID
	return func(yield func(name, resource string) bool) {
		for _, name := range s.Events {
			resource := s.ResourceID
			if mixed && IsInternalName(name) != ofFeed {
				resource = ""
			}
			if !yield(name, resource) {
				return
			}
		}
	}
}

func isPublicName(name string) bool { return !IsInternalName(name) }
