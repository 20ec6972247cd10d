package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// publishPatience bounds the publishing of a round.
const publishPatience = 10 * time.Minute

// publish makes requests of batch events of 1 KB each, over connections that
// are kept open. It writes HTTP itself: the publisher runs on the same cores as
// what is measured, and should take as little of them as it can.
func publish(ctx context.Context, m *rig.Mill, requests, batch, publishers int) error {
	event := fmt.Sprintf(`{"type":"metric.created","resourceId":"m_1","data":{"text":%q}}`, strings.Repeat("x", rig.PayloadSize-160))
	body := event
	if batch > 1 {
		body = "[" + strings.Repeat(event+",", batch-1) + event + "]"
	}
	host := strings.TrimPrefix(m.URL, "http://")
	request := fmt.Appendf(nil, "POST /events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, m.Key, len(body), body)
	var left atomic.Int64
	left.Store(int64(requests))
	var wg sync.WaitGroup
	errs := make(chan error, publishers)
	for range publishers {
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
