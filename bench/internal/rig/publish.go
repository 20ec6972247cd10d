package rig

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// publishPatience bounds the publishing of a round.
const publishPatience = 10 * time.Minute

// Publication is how events are published.
type Publication struct {
	// Batch is how many events a request publishes.
	Batch int
	// Subscribers is how many subscriptions each event matches.
	Subscribers int
	// Publishers is how many connections publish concurrently.
	Publishers int
}

// Requests is how many requests lead to about so many deliveries, and how many deliveries
// exactly.
func (p Publication) Requests(deliveries int) (requests, exactly int) {
	requests = max(deliveries/p.Subscribers/p.Batch, 1)
	return requests, requests * p.Batch * p.Subscribers
}

// Deliver publishes what leads to about so many deliveries and waits until the sink has them.
// It returns how many there were and when the last request was accepted. Where there is a seen,
// it is called with the number of deliveries so far, again and again.
func (m *Mill) Deliver(ctx context.Context, s *Sink, p Publication, deliveries int, seen func(got int)) (exactly int, accepted time.Duration, err error) {
	requests, exactly := p.Requests(deliveries)
	before, err := s.Count(ctx)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	published := make(chan error, 1)
	go func() {
		err := m.publish(ctx, requests, p)
		accepted = time.Since(began)
		published <- err
	}()
	arrived := s.WaitFor(ctx, before+exactly, func(got int) {
		if seen != nil {
			seen(got - before)
		}
	})
	if arrived != nil {
		m.Stop() // ends the connections of the publishers
	}
	return exactly, accepted, errors.Join(arrived, <-published)
}

// publish makes requests of events of 1 KB each, over connections that are kept open. It writes
// HTTP itself: the publisher runs on the same cores as the server and should use as little of them
// as possible.
func (m *Mill) publish(ctx context.Context, requests int, p Publication) error {
	event := fmt.Sprintf(`{"type":"metric.created","resourceId":"m_1","data":{"text":%q}}`, strings.Repeat("x", PayloadSize-160))
	body := event
	if p.Batch > 1 {
		body = "[" + strings.Repeat(event+",", p.Batch-1) + event + "]"
	}
	host := strings.TrimPrefix(m.URL, "http://")
	request := fmt.Appendf(nil, "POST /events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, m.Key, len(body), body)
	var left atomic.Int64
	left.Store(int64(requests))
	var wg sync.WaitGroup
	errs := make(chan error, p.Publishers)
	for range p.Publishers {
		wg.Go(func() {
			if err := publishOn(ctx, host, request, &left); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

func publishOn(ctx context.Context, host string, request []byte, left *atomic.Int64) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(publishPatience))
	r := bufio.NewReaderSize(conn, 64<<10)
	for ctx.Err() == nil && left.Add(-1) >= 0 {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if err := readAccepted(r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// readAccepted reads one answer, which must be 202.
func readAccepted(r *bufio.Reader) error {
	status, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "\r\n" {
			break
		}
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-length") {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 202") {
		return fmt.Errorf("publishing: %s%s", status, body)
	}
	return nil
}
