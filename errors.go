package feedmill

import (
	"errors"
	"slices"
	"syscall"
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
	ErrNoRoom          = errors.New("the disk is full")
	ErrDamaged         = errors.New("a stored file is damaged")
)

// IsNoRoom reports whether an error is that of a disk that has reached its floor, or that is
// full.
func IsNoRoom(err error) bool {
	return errors.Is(err, ErrNoRoom) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

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
	// RetryAfter, where positive, is when to try again; a negative one says that waiting
	// does not help.
	RetryAfter time.Duration
	// Transient says that the same request can succeed later, so that its
	// refusal is not kept under an Idempotency-Key.
	Transient bool
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

// WithFaults is a refusal with the faults of another one that it does not have, so that
// the client learns of all of them. It is the other one where there is none, and
// keeps out errors of other kinds.
func WithFaults(refusal, other error) error {
	first, ok := errors.AsType[*Error](refusal)
	more, also := errors.AsType[*Error](other)
	switch {
	case refusal == nil:
		return other
	case !ok || !also || !errors.Is(other, ErrInvalid):
		return refusal
	}
	both := *first
	both.Faults = slices.Clone(first.Faults)
	for _, f := range more.Faults {
		if !slices.Contains(both.Faults, f) {
			both.Faults = append(both.Faults, f)
		}
	}
	return &both
}

// MaxFaults is how many faults of a request are listed. Past it a client has
// sent something else than it thinks, and the rest says nothing new.
const MaxFaults = 1000

// Faults collects the places where a request is wrong, so that its refusal
// lists all of them.
type Faults struct {
	List []Fault
	// Max is how many are kept, [MaxFaults] where it is 0.
	Max int
	// problem is the type of the first typed faults; typed is how many of the
	// list are of it.
	problem string
	typed   int
}

// Add notes a place where the request is wrong.
func (f *Faults) Add(at Fault) {
	if !f.full() {
		f.List = append(f.List, at)
	}
}

// AddOf notes a place where the request is wrong in the way that err tells. A
// refusal whose faults are all of one type is of that type.
func (f *Faults) AddOf(err *Error, at Fault) {
	if f.typed == 0 {
		f.problem = err.Type
	}
	if f.problem == err.Type && !f.full() {
		f.typed++
	}
	f.Add(at)
}

// Note notes a place of the body that is wrong. It reports whether there is
// room for more.
func (f *Faults) Note(pointer, detail string) bool {
	f.Add(Fault{Pointer: pointer, Detail: detail})
	return !f.full()
}

func (f *Faults) full() bool {
	most := f.Max
	if most == 0 {
		most = MaxFaults
	}
	return len(f.List) >= most
}

// Refusal is nil, or the error that lists every fault noted so far.
func (f *Faults) Refusal() error {
	if len(f.List) == 0 {
		return nil
	}
	refusal := Invalid("", f.List...)
	if f.typed == len(f.List) {
		refusal.Type = f.problem
	}
	return refusal
}
