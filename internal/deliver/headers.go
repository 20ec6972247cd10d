package deliver

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// ownHeaders is the maximum number of headers that [Dispatcher.header] sets.
const ownHeaders = 11

// header identifies and signs the payload of an attempt, whatever carries it. It has room
// for the headers that the destination adds.
func (d *Dispatcher) header(t *Target, m *feedmill.Message) [][2]string {
	h := make([][2]string, 0, ownHeaders+t.extraHeaders)
	set := func(name, value string) { h = append(h, [2]string{name, value}) }
	set("Content-Type", cmp.Or(m.ContentType, feedmill.ContentJSON))
	set("User-Agent", d.UserAgent)
	if m.Events <= 1 {
		set("X-Service-Event", m.Type)
		set("X-Service-Delivery", string(m.Delivery))
	}
	set("X-Service-Attempt", strconv.Itoa(m.Attempt))
	if m.Test {
		set("X-Service-Test", "true")
	}
	sign(set, t.Secrets, m)
	return h
}

// Headers returns a function that makes the headers of a subscription's deliveries, for
// carriers other than its destination. Their names are in lower case.
func (d *Dispatcher) Headers(ctx context.Context, sub feedmill.Subscription) (func(feedmill.DueDelivery, time.Time, bool) map[string]string, error) {
	t, err := d.openTarget(ctx, sub)
	if err != nil {
		return nil, err
	}
	return func(due feedmill.DueDelivery, at time.Time, test bool) map[string]string {
		m := feedmill.Message{Delivery: due.ID, Event: due.Event, Type: due.Type, Payload: due.Payload, Attempt: due.Attempts + 1, At: at, Test: test}
		headers := make(map[string]string, ownHeaders)
		for _, h := range d.header(t, &m) {
			headers[strings.ToLower(h[0])] = h[1]
		}
		return headers
	}, nil
}
