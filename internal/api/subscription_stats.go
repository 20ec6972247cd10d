package api

import (
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// statsSince is how far back statistics go where nobody says.
const statsSince = 24 * time.Hour

func viewCount(c feedmill.DeliveryCount) client.DeliveryCount {
	v := client.DeliveryCount{Delivered: c.Delivered, FirstAttempt: c.First, Failed: c.Failed, Exhausted: c.Exhausted}
	if len(c.Times) > 0 {
		v.P50, v.P99 = new(float64(inMilliseconds(c.Times.Quantile(0.5)))), new(float64(inMilliseconds(c.Times.Quantile(0.99))))
	}
	return v
}

func shareOf(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	return new(float64(part) / float64(whole))
}

func (s *Server) subscriptionStats(c *call) (answer, error) {
	at := now()
	since := c.timeParameter("since")
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	if since.IsZero() {
		since = at.Add(-statsSince)
	}
	if oldest := at.Add(-feedmill.CountRetention); since.Before(oldest) {
		since = oldest
	}
	sub, err := s.subscription(c)
	if err != nil {
		return answer{}, err
	}
	counts, err := s.Dispatcher.Counts(c.ctx(), sub.ID, since)
	if err != nil {
		return answer{}, err
	}
	v := client.SubscriptionStats{Since: since, Step: client.Duration(feedmill.CountStep), Buckets: []client.StatsBucket{}}
	var total feedmill.DeliveryCount
	for from := since.UTC().Truncate(feedmill.CountStep); !from.After(at); from = from.Add(feedmill.CountStep) {
		var count feedmill.DeliveryCount
		if len(counts) > 0 && counts[0].From.Equal(from) {
			count, counts = counts[0], counts[1:]
		}
		total.Add(count)
		v.Buckets = append(v.Buckets, client.StatsBucket{From: from, DeliveryCount: viewCount(count)})
	}
	v.DeliveryCount = viewCount(total)
	v.DeliveredShare, v.FirstAttemptShare = shareOf(total.Delivered, total.Delivered+total.Exhausted), shareOf(total.First, total.Delivered)
	return jsonAnswer(http.StatusOK, v), nil
}
