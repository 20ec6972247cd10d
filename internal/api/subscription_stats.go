package api

import (
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// statsSince is how far back statistics go where nobody says.
const statsSince = 24 * time.Hour

// countView is what came of attempts in some time.
type countView struct {
	Delivered    int64 `json:"delivered"`
	FirstAttempt int64 `json:"firstAttempt"`
	Failed       int64 `json:"failed"`
	Exhausted    int64 `json:"exhausted"`
	// P50 and P99 are null where no endpoint gave an answer.
	P50 *client.Milliseconds `json:"p50Ms"`
	P99 *client.Milliseconds `json:"p99Ms"`
}

type statsBucketView struct {
	From timestamp `json:"from"`
	countView
}

type statsView struct {
	Since timestamp `json:"since"`
	Step  string    `json:"step"`
	countView
	// DeliveredShare is of the deliveries that have ended, and FirstAttemptShare
	// of those that got through; each is null where there is none.
	DeliveredShare    *float64          `json:"deliveredShare"`
	FirstAttemptShare *float64          `json:"firstAttemptShare"`
	Buckets           []statsBucketView `json:"buckets"`
}

func viewCount(c feedmill.DeliveryCount) countView {
	v := countView{Delivered: c.Delivered, FirstAttempt: c.First, Failed: c.Failed, Exhausted: c.Exhausted}
	if len(c.Times) > 0 {
		v.P50, v.P99 = new(inMilliseconds(c.Times.Quantile(0.5))), new(inMilliseconds(c.Times.Quantile(0.99)))
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
	v := statsView{Since: timestamp(since), Step: feedmill.FormatDuration(feedmill.CountStep), Buckets: []statsBucketView{}}
	var total feedmill.DeliveryCount
	for from := since.UTC().Truncate(feedmill.CountStep); !from.After(at); from = from.Add(feedmill.CountStep) {
		var count feedmill.DeliveryCount
		if len(counts) > 0 && counts[0].From.Equal(from) {
			count, counts = counts[0], counts[1:]
		}
		total.Add(count)
		v.Buckets = append(v.Buckets, statsBucketView{timestamp(from), viewCount(count)})
	}
	v.countView = viewCount(total)
	v.DeliveredShare, v.FirstAttemptShare = shareOf(total.Delivered, total.Delivered+total.Exhausted), shareOf(total.First, total.Delivered)
	return jsonAnswer(http.StatusOK, v), nil
}
