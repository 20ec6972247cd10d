package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// sample is one of each thing of which a full store has many.
type sample struct {
	mill *rig.Mill
	sink *rig.Sink
	// feed is read, versioned has many versions, delivered has many deliveries, and quiet
	// is the oldest subscription, which is multiplied.
	feed, versioned, delivered, quiet string
}

const (
	// eventType is the type of the events that are published.
	eventType = "metric.created"
	// otherType is the type to which the others subscribe.
	otherType = "metric.deleted"
	// pageSize is how many there are of each thing before the store is filled, so that
	// pages of a full store are no longer.
	pageSize = 100
)

func newSample(ctx context.Context, mill *rig.Mill) (_ *sample, err error) {
	s := &sample{mill: mill}
	if s.sink, err = rig.StartSink(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.sink.Stop()
		}
	}()
	c := client.New(mill.URL, mill.Key)
	upload := func(i int) client.Upload {
		return client.Upload{Data: strings.NewReader(fmt.Sprint("id,name\n", i, ",first\n", strings.Repeat("2,a name\n", 1000))), Format: "csv"}
	}
	for i := range pageSize {
		feed, err := c.CreateDataFeed(ctx, upload(i))
		if err != nil {
			return nil, err
		}
		s.feed = feed.ID
	}
	feed, err := c.CreateDataFeed(ctx, upload(0))
	if err != nil {
		return nil, err
	}
	s.versioned = feed.ID
	if _, err := c.ChangeDataFeed(ctx, s.versioned, client.DataFeedChange{Keep: client.To(client.Keep{Versions: 1000})}); err != nil {
		return nil, err
	}
	for i := range pageSize {
		if _, err := c.ReplaceData(ctx, s.versioned, upload(i+1)); err != nil {
			return nil, err
		}
		quiet, err := c.CreateSubscription(ctx, client.NewSubscription{URL: s.sink.URL + rig.Counted + "quiet", Events: []string{otherType}})
		if err != nil {
			return nil, err
		}
		if s.quiet == "" {
			s.quiet = quiet.Created[0].ID
		}
	}
	delivered, err := c.CreateSubscription(ctx, client.NewSubscription{URL: s.sink.URL + rig.Counted + "growth", Events: []string{eventType}})
	if err != nil {
		return nil, err
	}
	s.delivered = delivered.Created[0].ID
	for range pageSize {
		if err := s.publish(ctx); err != nil {
			return nil, err
		}
	}
	return s, s.sink.WaitFor(ctx, pageSize, nil)
}

func (s *sample) publish(ctx context.Context) error {
	_, err := client.New(s.mill.URL, s.mill.Key).Publish(ctx, client.NewEvent{Type: eventType, Data: map[string]int{"value": 1}})
	return err
}

// get reads a response to its end.
func (s *sample) get(path string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.mill.URL+path, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+s.mill.Key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode == http.StatusOK {
			return err
		}
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
}

// request is something that is measured.
type request struct {
	name   string
	do     func(context.Context) error
	before func() // is not measured
}

func (s *sample) requests() []request {
	page := fmt.Sprint("?limit=", pageSize)
	return []request{
		{name: "publish", do: s.publish},
		{name: "rows", do: s.get("/data_feeds/" + s.feed + "/data" + page)},
		{name: "a feed", do: s.get("/data_feeds/" + s.feed)},
		{name: "feeds", do: s.get("/data_feeds" + page)},
		{name: "feeds by name", do: s.get("/data_feeds" + page + "&sort=name")},
		{name: "feeds, counted by state", do: s.get("/data_feeds" + page + "&counts=state")},
		{name: "versions", do: s.get("/data_feeds/" + s.versioned + "/versions" + page)},
		{name: "subscriptions", do: s.get("/events/subscriptions" + page)},
		{name: "deliveries", do: s.get("/events/subscriptions/" + s.delivered + "/deliveries" + page)},
		{name: "events", do: s.get("/events" + page)},
	}
}

// start is a start of the server until it is ready.
func (s *sample) start() request {
	return request{name: "start", before: func() { s.mill.Stop() }, do: func(ctx context.Context) error {
		if err := s.mill.Restart(); err != nil {
			return err
		}
		return s.get("/readyz")(ctx)
	}}
}
