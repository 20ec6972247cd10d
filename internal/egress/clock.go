package egress

import (
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// clock measures the phases of an exchange. It has a mutex because a transport can call the
// trace from a background connection.
type clock struct {
	start time.Time

	mu                         sync.Mutex
	dnsStart, dialStart, hello time.Time
	split                      feedmill.Timing
}

func (c *clock) trace() *httptrace.ClientTrace {
	began := func(at *time.Time) {
		c.mu.Lock()
		*at = time.Now()
		c.mu.Unlock()
	}
	ended := func(part *time.Duration, since *time.Time) {
		c.mu.Lock()
		*part = time.Since(*since)
		c.mu.Unlock()
	}
	return &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { began(&c.dnsStart) },
		DNSDone:              func(httptrace.DNSDoneInfo) { ended(&c.split.DNS, &c.dnsStart) },
		ConnectStart:         func(string, string) { began(&c.dialStart) },
		ConnectDone:          func(string, string, error) { ended(&c.split.Connect, &c.dialStart) },
		TLSHandshakeStart:    func() { began(&c.hello) },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { ended(&c.split.TLS, &c.hello) },
		GotFirstResponseByte: func() { ended(&c.split.FirstByte, &c.start) },
	}
}

func (c *clock) timing() feedmill.Timing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.split
}
