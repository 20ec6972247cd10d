package feedmill

import (
	"errors"
	"time"
)

// The kinds of refusal. Every error that a client may see matches exactly one
// of them with errors.Is; anything else is a fault of the service itself.
var (
	ErrInvalid         = errors.New("invalid")
	ErrUnauthenticated = errors.New("unauthenticated")
	ErrForbidden       = errors.New("forbidden")
	ErrNotFound        = errors.New("not found")
	ErrGone            = errors.New("gone")
	ErrConflict        = errors.New("conflict")
	ErrTooLarge        = errors.New("too large")
	ErrUnsupported     = errors.New("unsupported format")
	ErrUnprocessable   = errors.New("unprocessable")
	ErrTooMany         = errors.New("too many requests")
	ErrUnavailable     = errors.New("unavailable")
	ErrNoRoom          = errors.New("no room on the disk")
)

// Error is a refusal with what the client needs to put it right.
type Error struct {
	// Kind is one of the sentinels above.
	Kind error
	// Type is the stable name of the problem, such as "duplicate-field".
	// Empty means the general problem of its kind.
	Type string
	// Title is the short text of the problem, the same for all of its Type. Empty
	// means that of its kind.
	Title string
	// Detail says in a sentence what is wrong and what to do. It holds no
	// value of a field that can hold a secret.
	Detail string
	// Faults are the single places at fault, all of them.
	Faults []Fault
	// CreationURL is where a person does what the client cannot, empty for nowhere.
	CreationURL string
	// RetryAfter, where positive, is when to try again.
	RetryAfter time.Duration
	// Said and Trace are what a source said that data was fetched from and what
	// it was asked for, where that is what failed.
	Said  *SourceAnswer
	Trace []TracedRequest
	// Held is the data of a preview that failed, where it is held.
	Held HeldBody
}

// Fault is one place of a request that is wrong. Exactly one of Pointer,
// Parameter and Header says where.
type Fault struct {
	Pointer   string // JSON Pointer into the body; "" with no Parameter or Header is the whole body
	Parameter string
	Header    string
	Detail    string
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Kind.Error()
	}
	return e.Detail
}

func (e *Error) Unwrap() error { return e.Kind }

// Invalid is the refusal of a request that is wrong in the given places.
func Invalid(detail string, faults ...Fault) *Error {
	return &Error{Kind: ErrInvalid, Detail: detail, Faults: faults}
}
