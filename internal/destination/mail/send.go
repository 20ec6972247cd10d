package mail

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/fault"
)

// The classes of failures, which begin the error of an attempt.
const (
	ClassUnconfigured = "unconfigured" // the operator has not configured a server
	ClassUnreachable  = "unreachable"  // no connection could be opened
	ClassTLS          = "tls"          // TLS failed, or is not offered
	ClassAuth         = "auth"         // the server refuses the credentials
	ClassTimeout      = "timeout"      // no response in time
	ClassClosed       = "closed"       // the connection closed before the server took the message
	ClassDeferred     = "deferred"     // the server takes the message later, as greylisting does
	ClassRefused      = "refused"      // the server refuses the message or the recipient
	ClassBusy         = "busy"         // all connections are in use
)

// periodOfLimit is what the limit of messages to an address is for.
const periodOfLimit = time.Hour

// retryWindow is how long to wait when the limit cannot be read.
const retryWindow = 5 * time.Second

// Send makes one attempt. It returns when ctx ends or the timeout is over. An attempt above the
// limit of the address is not made.
func (e *endpoint) Send(ctx context.Context, m feedmill.Message) (r feedmill.Result) {
	if e.problem.Error != "" {
		return e.problem
	}
	subject := e.limitedSubject()
	turn, wait, err := e.Windows.TakeTurn(ctx, subject, e.PerHour, periodOfLimit)
	if err != nil {
		wait = retryWindow
	}
	if wait > 0 {
		return feedmill.Result{
			Verdict: feedmill.VerdictWait, RetryAfter: wait, NotSent: true,
			Error: fmt.Sprintf("at most %d messages an hour are sent to an address; the next one can be sent in %s", e.PerHour, wait.Round(time.Second)),
		}
	}
	start := time.Now()
	sending, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	err = e.Server.send(sending, string(e.workspace), e.to, e.compose(m))
	if errors.Is(err, errBusy) {
		r = feedmill.Result{Verdict: feedmill.VerdictWait, RetryAfter: time.Second, NotSent: true, Error: ClassBusy + ": all connections to the mail server are in use"}
	} else {
		r = result(err, m.Timeout)
	}
	r.Timing = feedmill.Timing{Total: time.Since(start)}
	if !r.Delivered() && !mayHaveArrived(err) {
		e.Windows.ReturnTurn(context.WithoutCancel(ctx), subject, turn) // at worst, one message less in this hour
	}
	return r
}

// limitedSubject is what messages are counted under: workspaces do not use up the limits of
// others.
func (e *endpoint) limitedSubject() string {
	sum := sha256.Sum256([]byte(strings.ToLower(e.to.String())))
	return "mail:" + string(e.workspace) + ":" + hex.EncodeToString(sum[:16])
}

// mayHaveArrived reports whether the server may have taken the message although the attempt
// failed.
func mayHaveArrived(err error) bool {
	f, ok := errors.AsType[*failure](err)
	_, responded := errors.AsType[*textproto.Error](err)
	return ok && f.stage == content && !responded
}

// result describes an attempt. The text of an error that is not a reply of the server is not
// for subscribers: it can name addresses inside.
func result(err error, timeout time.Duration) feedmill.Result {
	if err == nil {
		return feedmill.Result{Verdict: feedmill.VerdictDelivered, Responded: true}
	}
	class, detail := describe(err, timeout)
	r := feedmill.Result{Verdict: feedmill.VerdictRetry, Error: class + ": " + detail}
	reply, responded := errors.AsType[*textproto.Error](err)
	if !responded {
		return r
	}
	r.Responded, r.Class = true, class
	// The server refuses a message or a recipient for good with 5xx. What it refuses before
	// that is for the operator to fix, and can succeed then.
	if f, ok := errors.AsType[*failure](err); ok && f.stage >= recipient && reply.Code >= 500 {
		r.Verdict = feedmill.VerdictRejected
	}
	return r
}

// describe describes a failure.
func describe(err error, timeout time.Duration) (class, detail string) {
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return classOf(err, reply), fmt.Sprintf("the mail server returned %d %s", reply.Code, quote(reply.Msg))
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	text := fault.TLS(err)
	switch {
	case errors.Is(err, errNoTLS):
		return ClassTLS, "the mail server does not offer TLS, which its settings require"
	case errors.Is(err, errNoLogin):
		return ClassAuth, errNoLogin.Error()
	case isDNS && !dns.IsTimeout:
		return ClassUnreachable, "the name of the mail server could not be resolved"
	case isTimeout(err):
		return ClassTimeout, fmt.Sprintf("no response of the mail server within %s", timeout)
	case isOp && op.Op == "dial":
		return ClassUnreachable, "the connection to the mail server was refused or failed"
	case text != "":
		return ClassTLS, "the TLS connection to the mail server failed: " + text
	}
	return ClassClosed, "the connection closed before the mail server took the message"
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// classOf is the class of a reply that refuses.
func classOf(err error, reply *textproto.Error) string {
	switch {
	case errors.Is(err, errLogin), reply.Code == 530:
		return ClassAuth
	case reply.Code < 500:
		return ClassDeferred
	}
	return ClassRefused
}

// quote returns a text of the server so that an error can contain it: on one line and short.
func quote(text string) string {
	const most = 200
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), isControl), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}
