package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// firstLimit is how many attempts may be under way to an endpoint that
	// has not answered well yet.
	firstLimit = 4
	// openAfter is how many attempts in a row must go without any answer for
	// the breaker to open.
	openAfter = 5
	// The breaker stays open for firstOpen, then twice as long each time a
	// probe gets no answer, up to longestOpen.
	firstOpen   = time.Second
	longestOpen = 30 * time.Second
)

// pace is how much at once an endpoint is trusted with. Good answers raise the
// limit by one, failures halve it. An endpoint that gives no answer at all, and
// so holds every attempt for the whole timeout, trips a breaker: nothing is
// sent for a while, then a single probe.
type pace struct {
	allowed float64
	// trust is what the last attempt came to.
	trust  trust
	silent int // attempts in a row without an answer
	opened int // how often the breaker has opened in a row
	until  time.Time
	// since is when the breaker opened first, and failure what the last attempt
	// without an answer came to.
	since   time.Time
	failure string
}

func newPace() pace { return pace{allowed: firstLimit, trust: answersUnknown} }

// recall takes over what the store knows of former attempts, where nothing has been
// learnt since.
func (p *pace) recall(t *Target) {
	switch {
	case p.trust != answersUnknown:
	case t.failing():
		p.trust = answersBadly
	case !t.successAt.IsZero():
		p.trust = answersWell
	}
}

// limit is how many attempts may be under way, at most ceiling.
func (p *pace) limit(ceiling int) int {
	if p.opened > 0 {
		return 1
	}
	return min(int(p.allowed), ceiling)
}

// isOpen reports whether the breaker is open or probing.
func (p *pace) isOpen() bool { return p.opened > 0 }

// wait is how long nothing may be sent.
func (p *pace) wait(now time.Time) time.Duration {
	if p.opened == 0 {
		return 0
	}
	return p.until.Sub(now)
}

// learn learns from an attempt. It reports whether the breaker has just opened.
func (p *pace) learn(r feedmill.Result, now time.Time, ceiling int) (tripped bool) {
	switch {
	case r.Verdict == feedmill.VerdictRejected:
		return false // it says nothing about the endpoint
	case r.Delivered():
		*p = pace{allowed: min(p.allowed+1, float64(ceiling)), trust: answersWell}
	case r.Responded:
		// It is alive, and says no: worth asking, but not by the dozen.
		*p = pace{allowed: max(p.allowed/2, 1), trust: answersBadly}
	default:
		p.allowed = max(p.allowed/2, 1)
		p.trust = answersBadly
		p.silent++
		p.failure = r.Error
		if p.silent < openAfter || now.Before(p.until) {
			return false
		}
		open := min(firstOpen<<min(p.opened, 10), longestOpen)
		if p.opened++; p.opened == 1 {
			p.since = now
		}
		p.until = now.Add(open)
		return true
	}
	return false
}
