package webhook

import (
	"errors"
	"fmt"
	"time"
)

// What can be wrong with a request or a secret, for [errors.Is]. No error of this
// package has a secret in its text.
var (
	// ErrSecret means that a text is no signing secret of Feedmill's.
	ErrSecret = errors.New("not a signing secret")
	// ErrMethod means that the request is neither a POST nor a GET.
	ErrMethod = errors.New("the method must be POST or GET")
	// ErrTooLarge means that the request holds more than a delivery can.
	ErrTooLarge = errors.New("the delivery is too large")
	// ErrMalformed means that the request does not have the form of a delivery.
	ErrMalformed = errors.New("not a valid delivery")
	// ErrSignature means that the request is not signed, or not with one of
	// the secrets, or not in this form.
	ErrSignature = errors.New("the signature is not valid")
	// ErrTimestamp means that the request is signed well, but at a time that
	// is too far from now. Either the request is an old one that somebody has
	// sent again, or one of the two clocks is wrong.
	ErrTimestamp = errors.New("the timestamp is too far from the current time")
)

// ErrGone is for a Handle function to return when the endpoint wants no more
// deliveries. The answer is 410, and it disables the subscription.
var ErrGone = errors.New("the endpoint no longer accepts deliveries")

// RetryAfter is an error for a Handle function to return, wrapped or not, when
// the event cannot be taken now and is better sent again after some time. The
// answer is 503 with that time. Feedmill waits no shorter than its own
// schedule says, and no longer than 24 hours.
type RetryAfter time.Duration

func (r RetryAfter) Error() string {
	return fmt.Sprintf("retry after %s", time.Duration(r))
}
