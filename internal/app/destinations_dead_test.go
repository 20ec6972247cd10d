package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Brokers that are not there, or say nothing, delay no other: the test logs the time from
// publishing to receipt with and without them, of which the 99th percentile is to be at most
// 1.5 times as long.
func TestDeadBrokersDelayNoOther(t *testing.T) {
	live, dead, events := longOr(10, 50), longOr(40, 200), longOr(5, 200)
	s := start(t, setup{env: []string{"FEEDMILL_EGRESS_ALLOW=127.0.0.0/8"}})
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "live"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	consumer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("live"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(consumer.Close)
	for range live {
		s.subscribeBroker(t, "kafka://"+cluster.ListenAddrs()[0]+"/live")
	}
	s.timeDeliveries(t, consumer, 2, live) // they connect
	alone := s.timeDeliveries(t, consumer, events, live)
	for i := range dead {
		s.subscribeBroker(t, []string{
			"kafka://127.0.0.1:1/dead", "nats://127.0.0.1:1/dead", "amqp://127.0.0.1:1/?routingKey=dead",
			"kafka://" + silent.Addr().String() + "/dead", "nats://" + silent.Addr().String() + "/dead", "amqp://" + silent.Addr().String() + "/?routingKey=dead",
		}[i%6])
	}
	beside := s.timeDeliveries(t, consumer, events, live)
	t.Logf("%d live brokers: p99 %v alone, %v beside %d dead ones: %.2f times", live, alone, beside, dead, float64(beside)/float64(alone))
}

// subscribeBroker creates a subscription to a broker.
func (s *service) subscribeBroker(t *testing.T, url string) {
	t.Helper()
	r := s.send(t, request{method: "POST", path: "/events/subscriptions", body: fmt.Sprintf(`{"url":%q,"events":["metric.created"]}`, url)})
	if r.status != 201 {
		t.Fatalf("%d: %s", r.status, r.body)
	}
}

// timeDeliveries publishes events, 20 in a second, and returns the 99th percentile of the
// times to their receipt by each of the live subscriptions.
func (s *service) timeDeliveries(t *testing.T, consumer *kgo.Client, events, live int) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	published := make(chan struct{})
	go func() {
		defer close(published)
		for range events {
			body := fmt.Sprintf(`{"type":"metric.created","resourceId":"m_1","data":{"at":"%d"}}`, time.Now().UnixNano())
			if r, err := s.try(request{method: "POST", path: "/events", body: body}); err != nil || r.status >= 300 {
				t.Errorf("publishing: %v, %+v", err, r)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	var times []time.Duration
	for len(times) < events*live {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d deliveries: %v", len(times), events*live, err)
		}
		now := time.Now().UnixNano()
		for _, r := range fetches.Records() {
			var got struct {
				Data struct {
					At int64 `json:"at,string"`
				} `json:"data"`
			}
			if err := json.Unmarshal(r.Value, &got); err != nil {
				t.Fatalf("%s: %v", r.Value, err)
			}
			times = append(times, time.Duration(now-got.Data.At))
		}
	}
	<-published
	slices.Sort(times)
	return times[len(times)*99/100]
}
