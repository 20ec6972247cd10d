package deliver

import (
	"context"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Headers makes the headers that deliveries of a subscription are sent with, for
// those who carry them in another way than the sender. Their names are in lower
// case.
func (s *Sender) Headers(ctx context.Context, v Vault, sub feedmill.Subscription) (func(feedmill.DueDelivery, time.Time) map[string]string, error) {
	t, err := openTarget(ctx, v, sub)
	if err != nil {
		return nil, err
	}
	return func(d feedmill.DueDelivery, at time.Time) map[string]string {
		r, err := s.request(*t, Message{Delivery: d.ID, Event: d.Event, Type: d.Type, Payload: d.Payload, Attempt: d.Attempts + 1, At: at})
		if err != nil {
			panic(err) // only what is in a URL can be wrong, and a listener has none
		}
		headers := make(map[string]string, len(r.Header))
		for _, h := range r.Header {
			headers[strings.ToLower(h[0])] = h[1]
		}
		return headers
	}, nil
}
