package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Pace calls send n times, perSecond of them a second, and waits for all to
// return. A send that is slow does not put off those after it.
func Pace(ctx context.Context, n int, perSecond float64, send func(context.Context) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	defer wg.Wait()
	start := time.Now()
	for i := range n {
		at := start.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
			return ctx.Err()
		}
		wg.Go(func() { errs[i] = send(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Latencies sends stamped payloads at a rate and returns how long each took to the sink.
func (s *Sink) Latencies(ctx context.Context, n int, perSecond float64, send func(context.Context) error) ([]time.Duration, error) {
	before, err := s.Count(ctx)
	if err != nil {
		return nil, err
	}
	if err := Pace(ctx, n, perSecond, send); err != nil {
		return nil, err
	}
	if err := s.WaitFor(ctx, before+n, nil); err != nil {
		return nil, err
	}
	return s.Times(ctx)
}

// sender sends stamped payloads over connections that are kept open.
var sender = &http.Transport{MaxIdleConnsPerHost: rawWorkers}

// PostStamped sends a payload to a timed endpoint, signed and with no one in between.
func (s *Sink) PostStamped(ctx context.Context) error {
	return postSigned(ctx, sender, s.URL+Timed, []byte(stampedData(time.Now())))
}

// PublishStamped publishes an event that tells timed endpoints when it was sent.
func (m *Mill) PublishStamped(ctx context.Context) error {
	body := fmt.Sprintf(`{"type":"metric.created","resourceId":"m_1","data":%s}`, stampedData(time.Now()))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+"/events", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+m.Key)
	return exchange(sender, req, http.StatusAccepted)
}

// stampedData is an object that tells when it was sent. The payload of an event
// with it is 1 KB long.
func stampedData(at time.Time) string {
	return fmt.Sprintf(`{"sent":"%d","text":%q}`, at.UnixNano(), strings.Repeat("x", PayloadSize-190))
}
