package deliver

import (
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// decide says what an attempt means for its delivery and its subscription.
func (d *Dispatcher) decide(t task, m *feedmill.Message, r feedmill.Result, now time.Time) feedmill.Outcome {
	o := feedmill.Outcome{
		Workspace: t.target.Workspace, Subscription: t.target.Subscription, Delivery: t.due.id, Seq: t.due.seq, At: now.UTC().Truncate(time.Millisecond),
	}
	if !r.Delivered() || t.target.Settings.Ordered {
		// What has arrived has arrived, whoever has the slot by now; unless
		// order hangs on it.
		o.By = d.Replica
	}
	if !r.NotSent {
		o.Attempt = r.Record(*m)
	}
	switch r.Verdict {
	case feedmill.VerdictDelivered:
		o.State = feedmill.DeliveryDelivered
		// Once in a while is enough, and every time would be a write more.
		o.Succeeded = t.target.warned || t.target.failing() || now.Sub(t.target.successAt) > successStep
		return o
	case feedmill.VerdictRejected:
		o.State, o.Reason = feedmill.DeliveryExhausted, r.Error
		return o
	case feedmill.VerdictGone:
		o.State, o.Reason = feedmill.DeliveryExhausted, r.Error
		o.Disable = feedmill.DisabledGone
		o.Notice = d.notice("subscription.disabled", t.target, feedmill.DisabledGone, now)
		return o
	}
	schedule := d.Schedule
	if own := t.target.Settings.Retries; len(own) > 0 {
		schedule = own
	}
	wait, again := schedule.Next(m.Attempt, int(t.due.maxAttempts), d.Random())
	if again {
		o.State, o.DueAt = feedmill.DeliveryRetrying, o.At.Add(max(wait, r.RetryAfter))
	} else {
		o.State, o.Reason = feedmill.DeliveryExhausted, feedmill.AttemptsFailed(int(t.due.maxAttempts))
	}
	d.judge(&o, t.target, now)
	return o
}

// successStep is how far a subscription's last success may trail.
const successStep = time.Minute

// judge counts a failure, disables a subscription to which nothing has got
// through for too long since the first of them, and warns a day before.
func (d *Dispatcher) judge(o *feedmill.Outcome, t Target, now time.Time) {
	failures := t.failures + 1
	o.Failed = failures <= feedmill.FailuresToDisable
	patience, ends := t.Settings.Patience()
	if !ends || !t.failing() {
		return
	}
	switch failing := now.Sub(t.failingSince); {
	case failing >= patience && failures >= feedmill.FailuresToDisable:
		o.Disable = feedmill.DisabledFailing
		o.Notice = d.notice("subscription.disabled", t, feedmill.DisabledFailing, now)
	case failing >= patience-feedmill.WarnBeforeDisable && !t.warned:
		o.Warn = true
		o.Notice = d.notice("subscription.disabling_soon", t, feedmill.DisabledFailing, now)
	}
}

// notice is the operational event that tells of a subscription's trouble.
func (d *Dispatcher) notice(name string, t Target, reason string, now time.Time) *feedmill.Event {
	e := &feedmill.Event{
		ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: t.Workspace, Type: name,
		Timestamp: now.UTC().Truncate(time.Millisecond), ResourceID: string(t.Subscription),
	}
	data := fmt.Appendf(nil, `{"subscriptionId":%q,"reason":%q}`, t.Subscription, reason)
	payload, err := feedmill.RenderPayload(*e, data)
	if err != nil {
		panic(err) // ids and words of our own
	}
	e.Payload = payload
	return e
}
