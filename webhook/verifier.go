package webhook

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// DefaultTolerance is how far the time of a signature may be from now.
const DefaultTolerance = 5 * time.Minute

// Verifier tells deliveries of Feedmill from everything else. Its fields are
// set before its first use; after that any number of goroutines may use it.
type Verifier struct {
	// Tolerance is how far webhook-timestamp may lie in the past or in the
	// future. Zero means DefaultTolerance. A negative one turns the check off,
	// for requests that were kept and are verified later.
	Tolerance time.Duration
	// AcceptPlain accepts a request that has x-service-signature and none of
	// the headers of Standard Webhooks, as it comes through a proxy that
	// drops them. Such a request can be replayed at any time, and nothing but
	// its payload is signed.
	AcceptPlain bool

	keys []key
}

// New makes a verifier for the secrets of one subscription, or of several that
// deliver to one endpoint, each as Feedmill returned it: "whsec_" and base64.
// An error wraps [ErrSecret].
func New(secrets ...string) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, fmt.Errorf("%w: at least one is required", ErrSecret)
	}
	v := &Verifier{keys: make([]key, len(secrets))}
	for i, secret := range secrets {
		k, err := newKey(secret)
		if err != nil {
			return nil, fmt.Errorf("secret %d of %d: %w", i+1, len(secrets), err)
		}
		v.keys[i] = k
	}
	return v, nil
}

// Verify reads the payload of a request, POST or GET, verifies it and returns
// its event. It reads the request's body to its end, or a little past the size
// of the largest delivery. An error wraps one of [ErrMethod], [ErrTooLarge],
// [ErrMalformed], [ErrSignature] and [ErrTimestamp], or is that of reading the
// body.
func (v *Verifier) Verify(r *http.Request) (Event, error) {
	payload, err := readPayload(r)
	if err != nil {
		return Event{}, err
	}
	return v.VerifyPayload(payload, r.Header)
}

// VerifyPayload is Verify for those who have the payload already: the body of a
// POST, byte for byte, or the decoded query parameter of a GET. The names in
// the header must be in canonical form, as [http.Header.Set] writes them.
func (v *Verifier) VerifyPayload(payload []byte, h http.Header) (Event, error) {
	delivery, err := v.verify(payload, h)
	if err != nil {
		return Event{}, err
	}
	e, err := parseEvent(payload)
	if err != nil {
		return Event{}, err
	}
	e.Delivery = delivery
	if n, err := strconv.ParseUint(h.Get(headerAttempt), 10, 31); err == nil {
		e.Attempt = int(n)
	}
	return e, nil
}

// verify returns the id of the delivery.
func (v *Verifier) verify(payload []byte, h http.Header) (string, error) {
	id, timestamp, signatures := h.Get(headerID), h.Get(headerTimestamp), h.Get(headerSignature)
	if id == "" && timestamp == "" && signatures == "" {
		return h.Get(headerDelivery), v.verifyPlain(payload, h)
	}
	for _, k := range v.keys {
		if containsSignature(signatures, k.standard(id, timestamp, payload)) {
			return id, v.verifyTime(timestamp)
		}
	}
	return "", fmt.Errorf("%w: %s does not match any of the secrets", ErrSignature, headerSignature)
}

func (v *Verifier) verifyPlain(payload []byte, h http.Header) error {
	if !v.AcceptPlain {
		return fmt.Errorf("%w: the request must have %s, %s and %s", ErrSignature, headerID, headerTimestamp, headerSignature)
	}
	for _, k := range v.keys {
		want := k.plain(payload)
		if equal(h.Get(headerPlain), want) || equal(h.Get(headerPlainNext), want) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s does not match any of the secrets", ErrSignature, headerPlain)
}

func (v *Verifier) verifyTime(timestamp string) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %s is not a number of seconds", ErrMalformed, headerTimestamp)
	}
	tolerance := v.Tolerance
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	if off := time.Since(time.Unix(seconds, 0)); tolerance > 0 && off.Abs() > tolerance {
		return fmt.Errorf("%w: %s before now; the maximum is %s", ErrTimestamp, off.Round(time.Second), tolerance)
	}
	return nil
}

// Sign sets the headers that sign a payload, as Feedmill does for a delivery
// with this id at this time. It is for the tests of a receiver. The first
// secret is the current one; a second one is taken to be that of a rotation.
func (v *Verifier) Sign(h http.Header, delivery string, at time.Time, payload []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := v.keys[0].standard(delivery, timestamp, payload)
	h.Set(headerPlain, v.keys[0].plain(payload))
	if len(v.keys) > 1 {
		signatures += " " + v.keys[1].standard(delivery, timestamp, payload)
		h.Set(headerPlainNext, v.keys[1].plain(payload))
	}
	h.Set(headerDelivery, delivery)
	h.Set(headerID, delivery)
	h.Set(headerTimestamp, timestamp)
	h.Set(headerSignature, signatures)
}
