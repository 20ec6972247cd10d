package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// listenerAnswer is what a listener says of a delivery.
type listenerAnswer struct {
	index    int // in the request
	delivery feedmill.ID
	attempt  int
	status   int
	took     time.Duration
	err      string
}

// good reports whether the answer counts as a success.
func (a listenerAnswer) good() bool { return a.err == "" && a.status >= 200 && a.status <= 299 }

const noSuchDelivery = "The listener does not have this delivery."

const (
	maxAnswerError    = 500
	maxAnswerAttempts = 1 << 20
	maxAnswerTook     = 24 * time.Hour
)

// answerListener ends the deliveries that a listener answers for. An answer to
// an attempt that has been answered changes nothing, so that a listener may say
// again what it does not know to have been heard.
func (s *Server) answerListener(c *call) (answer, error) {
	answers, err := c.readAnswers()
	if err != nil {
		return answer{}, err
	}
	sub, err := s.listener(c)
	if err != nil {
		return answer{}, err
	}
	var outcomes []feedmill.Outcome
	var ids []feedmill.ID
	missing := &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: noSuchDelivery}
	for _, a := range answers {
		d, err := s.deliveryOf(c.ctx(), sub, a.delivery)
		switch {
		case errors.Is(err, feedmill.ErrNotFound):
			missing.Faults = append(missing.Faults, feedmill.Fault{Pointer: fmt.Sprintf("/%d/deliveryId", a.index), Detail: noSuchDelivery})
		case err != nil:
			return answer{}, err
		case !d.State.Open():
			ids = append(ids, d.ID) // as it was before
		case d.Attempts+1 == a.attempt:
			ids, outcomes = append(ids, d.ID), append(outcomes, a.outcome(d, now()))
		}
	}
	if len(missing.Faults) > 0 {
		return answer{}, missing
	}
	if len(outcomes) > 0 {
		if _, err := s.Store.Settle(c.ctx(), outcomes); err != nil {
			return answer{}, err
		}
	}
	s.Listeners.Answered(sub.ID, ids)
	return answer{status: http.StatusNoContent}, nil
}

// deliveryOf finds a delivery of a subscription.
func (s *Server) deliveryOf(ctx context.Context, sub feedmill.Subscription, id feedmill.ID) (feedmill.Delivery, error) {
	if _, err := feedmill.ParseID(feedmill.PrefixDelivery, string(id)); err != nil {
		return feedmill.Delivery{}, err
	}
	d, err := s.Store.Delivery(ctx, sub.Workspace, id)
	if err == nil && d.Subscription != sub.ID {
		err = feedmill.ErrNotFound
	}
	return d, err
}

// outcome is what the answer means for its delivery. There is one attempt:
// whoever listens sees at once that it failed, and can ask for another. Its id is the
// same where the answer is given again while the first is being written.
func (a listenerAnswer) outcome(d feedmill.Delivery, at time.Time) feedmill.Outcome {
	o := feedmill.Outcome{
		Workspace: d.Workspace, Subscription: d.Subscription, Delivery: d.ID, Seq: d.Seq, State: feedmill.DeliveryDelivered, At: at,
		Attempt: &feedmill.Attempt{
			ID: feedmill.DerivedID(feedmill.PrefixAttempt, d.ID, a.attempt), Delivery: d.ID, Number: a.attempt, At: at.Add(-a.took).Truncate(time.Millisecond),
			Status: a.status, Error: a.err, Timing: feedmill.Timing{Total: a.took},
		},
	}
	if !a.good() {
		if o.Attempt.Error == "" {
			o.Attempt.Error = "the listener's endpoint returned " + strconv.Itoa(a.status) + " " + http.StatusText(a.status)
		}
		o.State, o.Reason = feedmill.DeliveryExhausted, o.Attempt.Error
	}
	return o
}

// readAnswers reads the body: an array of answers. Of several for one delivery
// the first counts, as it does of several requests.
func (c *call) readAnswers() ([]listenerAnswer, error) {
	v, err := c.readJSON()
	if err != nil {
		return nil, err
	}
	if v.Kind != '[' || len(v.Items) == 0 || len(v.Items) > feedmill.MaxListenerAnswers {
		return nil, c.malformed("", fmt.Sprintf("The body must be an array of 1 to %d responses.", feedmill.MaxListenerAnswers))
	}
	var answers []listenerAnswer
	for i, item := range strictjson.Elements(&v, "", c.faults.Note) {
		o, ok := item.Object()
		if !ok {
			continue
		}
		a := readAnswer(o)
		a.index = i
		if !slices.ContainsFunc(answers, func(b listenerAnswer) bool { return a.delivery == b.delivery }) {
			answers = append(answers, a)
		}
	}
	return answers, c.refusal()
}

func readAnswer(o *strictjson.Object) (a listenerAnswer) {
	defer o.RefuseUnknown()
	if v, ok := o.Need("deliveryId"); ok {
		if text, ok := v.Text(); ok {
			a.delivery = feedmill.ID(text)
		}
	}
	if v, ok := o.Need("attempt"); ok {
		a.attempt, _ = v.Integer(1, maxAnswerAttempts)
	}
	if v, ok := o.Need("durationMs"); ok {
		a.took = readMilliseconds(v)
	}
	status, hasStatus := o.Get("status")
	if hasStatus {
		a.status, _ = status.Integer(100, 599)
	}
	failure, hasError := o.Get("error")
	if hasError {
		a.err, _ = failure.Label(maxAnswerError)
	}
	if !hasStatus && !hasError {
		for _, name := range []string{"status", "error"} {
			o.Fault(name, "A response requires a status, or an error if the endpoint did not respond.")
		}
	}
	return a
}

// readMilliseconds reads a duration that was measured.
func readMilliseconds(f strictjson.Field) time.Duration {
	ms, err := strconv.ParseFloat(string(f.Raw), 64)
	if f.Kind != '0' || err != nil || ms < 0 || ms > float64(maxAnswerTook.Milliseconds()) {
		f.Fault(fmt.Sprintf("durationMs must be a number between 0 and %d.", maxAnswerTook.Milliseconds()))
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}
