package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/fault"
)

// The classes of failures, which begin the error of an attempt.
const (
	ClassForbidden   = "forbidden"   // the egress policy forbids the address
	ClassUnreachable = "unreachable" // no connection could be opened
	ClassTLS         = "tls"         // TLS failed
	ClassAuth        = "auth"        // the broker refuses the credentials, or what they may do
	ClassTimeout     = "timeout"     // no acknowledgement in time
	ClassClosed      = "closed"      // the connection closed before the acknowledgement
	ClassNoRoute     = "no-route"    // nothing at the broker takes the message
	ClassTooLarge    = "too-large"   // the broker does not take messages of this size
	ClassRefused     = "refused"     // the broker refused the message for another reason
	ClassBusy        = "busy"        // this server has too many open connections
)

// Failure is what a broker responded to a message or to a connection that it refuses.
type Failure struct {
	Class  string
	Detail string
	// Final reports that no other attempt can succeed.
	Final bool
}

func (f *Failure) Error() string { return f.Class + ": " + f.Detail }

// Quote returns a text of a broker so that an error can contain it: on one line, without
// control characters, and short.
func Quote(text string) string {
	const most = 200
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// errBusy reports that the pool is full.
var errBusy = errors.New("too many open connections")

// result describes an attempt. The text of an error that is not a [Failure] is not for
// subscribers: it can name addresses inside.
func (e *endpoint) result(err error, timeout time.Duration) feedmill.Result {
	if err == nil {
		return feedmill.Result{Verdict: feedmill.VerdictDelivered, Responded: true}
	}
	if failure, ok := errors.AsType[*Failure](err); ok {
		r := feedmill.Result{Verdict: feedmill.VerdictRetry, Responded: true, Class: failure.Class, Error: failure.Error()}
		if failure.Final {
			r.Verdict = feedmill.VerdictRejected
		}
		return r
	}
	if errors.Is(err, e.Forbidden) {
		return feedmill.Result{Verdict: feedmill.VerdictRejected, Error: ClassForbidden + ": the operator's egress policy forbids the address of this URL"}
	}
	class, detail := e.describe(err, timeout)
	return feedmill.Result{Verdict: feedmill.VerdictRetry, Error: class + ": " + detail}
}

// describe describes an attempt without a response of the broker.
func (e *endpoint) describe(err error, timeout time.Duration) (class, detail string) {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	text := fault.TLS(err)
	switch {
	case errors.Is(err, errBusy):
		return ClassBusy, fmt.Sprintf("this server has %d open connections to brokers; the attempt is repeated later", maxConnections)
	case errors.Is(err, errConnecting):
		return ClassTimeout, "the broker did not complete the connection in time"
	case isDNS && !dns.IsTimeout:
		return ClassUnreachable, "the host's name could not be resolved"
	case isOp && op.Op == "dial":
		return ClassUnreachable, "the connection was refused or failed"
	case errors.Is(err, context.DeadlineExceeded), isDNS:
		return ClassTimeout, fmt.Sprintf("no acknowledgement within %s", timeout)
	case text != "":
		return ClassTLS, "the TLS connection failed: " + text
	}
	return ClassClosed, "the connection closed before the broker acknowledged the message"
}
