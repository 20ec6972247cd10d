// Package subscribe says what making and changing subscriptions and listeners
// means: what a request may hold, into how many subscriptions it falls, what is
// sealed, and what two requests at once may do to each other. Who asked, and in
// what form the outcome is shown, is for others to know.
package subscribe

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Store is what is needed of the store.
type Store interface {
	CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error
	Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error)
	FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error)
}

// Vault seals what must not stand in the store as plain text.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Kind is a kind of destination.
type Kind interface {
	Name() feedmill.DestinationKind
	// Schemes are those of URLs that select the kind.
	Schemes() []string
	// Define makes the destination that a request describes, and notes every fault of the
	// request. A configuration that is returned replaces the one in the destination.
	Define(feedmill.DestinationRequest) (d feedmill.Destination, config []byte, err error)
}

// Consenting is a kind of destination whose recipients have to agree.
type Consenting interface {
	// Consented reports whether the operator has agreed for the recipient.
	Consented(feedmill.Destination) bool
}

// Expressions checks the CEL expressions of subscriptions. The errors describe the fault
// and its position.
type Expressions interface {
	CheckFilter(text string) error
	CheckTransform(text string) error
}

// Options are the parts that subscriptions stand on.
type Options struct {
	Store     Store
	Vault     Vault
	Catalogue *feedmill.Catalogue
	// Kinds are the kinds of destinations. URLs of unknown schemes go to the first.
	Kinds       []Kind
	Expressions Expressions
	// FilterChanged is called after a filter of a workspace is added, changed or removed.
	FilterChanged func(workspace feedmill.ID)
	// Changed is told of a subscription that must be read again before it is
	// delivered to.
	Changed func(subscription feedmill.ID)
	// ToConfirm is called when the recipient of a subscription is to be asked to confirm it.
	ToConfirm func()
	// Max is how many subscriptions a workspace may have; zero means any
	// number.
	Max int
}

// Subscriptions makes and changes subscriptions.
type Subscriptions struct{ Options }

// New makes subscriptions.
func New(o Options) *Subscriptions { return &Subscriptions{o} }

// now is the present as records keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
