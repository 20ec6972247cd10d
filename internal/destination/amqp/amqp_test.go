package amqp

import (
	"crypto/x509"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
	"github.com/feedmill/feedmill/internal/destination/broker/brokertest"
	"github.com/feedmill/feedmill/internal/egress"
)

// newKind is the kind with an egress policy that allows some addresses.
func newKind(t *testing.T, roots *x509.CertPool, allow ...string) *broker.Kind {
	t.Helper()
	client, err := egress.New(egress.Options{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	k := broker.New(Protocol{}, broker.Options{Dial: client.DialContext, Forbidden: egress.ErrForbidden, Hosts: client.Policy(), RootCAs: roots})
	t.Cleanup(k.Close)
	return k
}

const loopback = "127.0.0.0/8"

// These share a server, which takes seconds to start.
func TestRabbitMQ(t *testing.T) {
	s := startServer(t)
	// RabbitMQ writes new queues to the disk after about two seconds, and testKilled needs one that survives.
	addQueue(t, s.admin(t, "/"), "events", "", "", nil)
	t.Run("message", s.testMessage)
	t.Run("refusals", s.testRefusals)
	t.Run("large messages", s.testLargeMessages)
	t.Run("TLS", s.testTLS)
	t.Run("killed", s.testKilled)
}

// A message has the payload byte for byte, and everything else as headers.
func (s *server) testMessage(t *testing.T) {
	admin := s.admin(t, "a/b")
	addQueue(t, admin, "orders", "events", "created", nil)
	e := brokertest.Open(t, newKind(t, nil, loopback), s.url("a%2Fb?exchange=events&routingKey=created"), `{"username":"ada","password":"Pa55word"}`)
	m := brokertest.Message("r", []byte(`{"a": 1e2, "ü":"\u0000"}`))
	if r := e.Send(t.Context(), m); !r.Delivered() || !r.Responded || r.Error != "" || r.Timing.Total == 0 {
		t.Fatalf("%+v", r)
	}
	all := stored(t, admin, "orders")
	if len(all) != 1 {
		t.Fatalf("%d messages", len(all))
	}
	got := all[0]
	if string(got.Body) != string(m.Payload) || got.DeliveryMode != amqp.Persistent || got.ContentType != "application/json" || got.MessageId != string(m.Delivery) {
		t.Errorf("%+v", got)
	}
	for _, h := range m.Header {
		if name := strings.ToLower(h[0]); got.Headers[name] != h[1] {
			t.Errorf("the header %s is %q, want %q", name, got.Headers[name], h[1])
		}
	}
}

// What a broker refuses has a class, and ends the delivery only if it always will be refused.
func (s *server) testRefusals(t *testing.T) {
	admin := s.admin(t, "/")
	addQueue(t, admin, "open", "", "", nil)
	addQueue(t, admin, "full", "", "", amqp.Table{"x-max-length": 0, "x-overflow": "reject-publish"})
	addQueue(t, admin, "bound", "exchange", "key", nil)
	dead := "amqp://127.0.0.1:" + freePort(t) + "/?routingKey=open"
	kind := newKind(t, nil, loopback)
	const ada = `{"username":"ada","password":"Pa55word"}`
	for _, c := range []struct {
		name, url, credentials string
		size                   int
		verdict                feedmill.Verdict
		class                  string
		responded              bool
	}{
		{"queue", s.url("?routingKey=open"), "", 10, feedmill.VerdictDelivered, "", true},
		{"credentials", s.url("%2f?exchange=exchange&routingKey=key"), ada, 10, feedmill.VerdictDelivered, "", true},
		{"no queue", s.url("?routingKey=nothing"), "", 10, feedmill.VerdictRetry, "no-route", true},
		{"not bound", s.url("?exchange=exchange&routingKey=other"), "", 10, feedmill.VerdictRetry, "no-route", true},
		{"no exchange", s.url("?exchange=nothing"), "", 10, feedmill.VerdictRetry, "no-route", true},
		{"full", s.url("?routingKey=full"), "", 10, feedmill.VerdictRetry, "refused", true},
		{"too large", s.url("?routingKey=open"), "", maxMessage + 1, feedmill.VerdictRejected, "too-large", true},
		{"wrong password", s.url("?routingKey=open"), `{"username":"ada","password":"wr0ng"}`, 10, feedmill.VerdictRetry, "auth", true},
		{"not permitted", s.url("?exchange=exchange&routingKey=key"), `{"username":"bob","password":"Pa55word"}`, 10, feedmill.VerdictRetry, "auth", true},
		{"virtual host without permission", s.url("closed?routingKey=open"), ada, 10, feedmill.VerdictRetry, "auth", true},
		{"no virtual host", s.url("nothing?routingKey=open"), ada, 10, feedmill.VerdictRetry, "auth", true},
		{"no server", dead, "", 10, feedmill.VerdictRetry, "unreachable", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := brokertest.Open(t, kind, c.url, c.credentials).Send(t.Context(), brokertest.Message("r", []byte(strings.Repeat("x", c.size))))
			class, _, _ := strings.Cut(r.Error, ": ")
			if r.Verdict != c.verdict || class != c.class || r.Responded != c.responded {
				t.Errorf("%+v", r)
			}
			for _, secret := range []string{"Pa55word", "wr0ng", "127.0.0.1"} {
				if strings.Contains(r.Error, secret) {
					t.Errorf("the error has %s: %s", secret, r.Error)
				}
			}
		})
	}
}

// A message that is too large fails no other one, and those that are returned are told apart.
func (s *server) testLargeMessages(t *testing.T) {
	admin := s.admin(t, "/")
	addQueue(t, admin, "mixed", "", "", nil)
	e := brokertest.Open(t, newKind(t, nil, loopback), s.url("?routingKey=mixed"), "")
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			m, want := brokertest.Message("r"+strconv.Itoa(i), []byte("{}")), feedmill.VerdictDelivered
			if i%20 == 0 {
				m.Payload, want = make([]byte, maxMessage+1), feedmill.VerdictRejected
			}
			r := e.Send(t.Context(), m)
			for n := 0; r.Verdict == feedmill.VerdictRetry && n < 100; n++ { // the channel was closed
				r = e.Send(t.Context(), m)
			}
			if r.Verdict != want {
				t.Errorf("%d: %+v", i, r)
			}
		})
	}
	all.Wait()
	if n := len(stored(t, admin, "mixed")); n < 38 || n > 76 {
		t.Errorf("the queue has %d messages, want 38, of which some can be doubled", n)
	}
}

// TLS is required where the URL says so, and the broker's certificate is verified.
func (s *server) testTLS(t *testing.T) {
	addQueue(t, s.admin(t, "/"), "tls", "", "", nil)
	for _, c := range []struct {
		url   string
		roots *x509.CertPool
		want  string
	}{
		{"amqps://127.0.0.1:" + s.securePort, s.roots, ""},
		{"amqps://127.0.0.1:" + s.securePort, x509.NewCertPool(), "tls: the TLS connection failed: the endpoint's certificate is not signed by a trusted authority"},
		{"amqps://localhost:" + s.securePort, s.roots, "tls: the TLS connection failed: the endpoint's certificate is not for this host"},
		{"amqps://127.0.0.1:" + s.port, s.roots, "tls: the TLS connection failed: the endpoint does not use TLS on this port"},
		{"amqp://127.0.0.1:" + s.securePort, s.roots, "closed: "},
	} {
		r := brokertest.Open(t, newKind(t, c.roots, loopback), c.url+"/?routingKey=tls", "").Send(t.Context(), brokertest.Message("r", []byte("{}")))
		if r.Delivered() != (c.want == "") || !strings.HasPrefix(r.Error, c.want) {
			t.Errorf("%s: %+v, want %q", c.url, r, c.want)
		}
	}
}

// Nothing is lost or reordered when the server is killed with messages in flight, and no more
// is doubled than was in flight.
func (s *server) testKilled(t *testing.T) {
	brokertest.Proof{
		Endpoint: brokertest.Open(t, newKind(t, nil, loopback), s.url("?routingKey=events"), ""),
		Cut:      func(t *testing.T) { s.kill(t); s.start(t) },
		Cuts:     1, // it starts in seconds
		Stored: func(t *testing.T) (bodies [][]byte) {
			for _, d := range stored(t, s.admin(t, "/"), "events") {
				bodies = append(bodies, d.Body)
			}
			return bodies
		},
	}.Run(t)
}

// A broker cannot send much more than it receives.
func TestBounded(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	b := newBounded(here)
	go func() {
		defer there.Close()
		for range 100 {
			if _, err := there.Write(make([]byte, firstCredit/10)); err != nil {
				return
			}
		}
	}()
	n, buffer := 0, make([]byte, firstCredit)
	for {
		read, err := b.Read(buffer)
		if n += read; err != nil {
			if err != errTooMuch || n > firstCredit {
				t.Errorf("%d bytes: %v", n, err)
			}
			return
		}
	}
}

func TestForbiddenAddress(t *testing.T) {
	brokertest.CheckForbidden(t, newKind(t, nil), "amqp://%s/?routingKey=a")
}

func TestSilentServer(t *testing.T) {
	brokertest.CheckSilence(t, newKind(t, nil, loopback), "amqp://%s/?routingKey=a")
}

func TestCheckAddress(t *testing.T) {
	brokertest.CheckURLs(t, newKind(t, nil), map[string]string{
		"amqp://h?exchange=e":                                  "",
		"amqp://h/?routingKey=k":                               "",
		"amqp://h:1/v?exchange=e&routingKey=k.%23":             "",
		"amqps://[2606::1]/a%2Fb?exchange=e":                   "",
		"amqp://h/v":                                           "must have an exchange",
		"amqp://h/v?exchange=":                                 "must have an exchange",
		"amqp://h/v?exchange=e&exchange=f":                     "only once",
		"amqp://h/v?exchange=e&heartbeat=1":                    "only exchange and routingKey",
		"amqp://h/v?exchange=e%00":                             "control characters",
		"amqp://h/v%0a?exchange=e":                             "control characters",
		"amqp://h/v?exchange=" + strings.Repeat("e", 256):      "at most 255 bytes",
		"amqp://h/" + strings.Repeat("v", 256) + "?exchange=e": "at most 255 bytes",
		"amqp://guest:guest@h/v?exchange=e":                    "delivery.credentials",
		"amqp://h,i/v?exchange=e":                              "at most 1 hosts",
		"amqp://127.0.0.1/v?exchange=e":                        "egress policy",
	})
}

func TestCheckCredentials(t *testing.T) {
	brokertest.CheckCredentials(t, newKind(t, nil), "amqp://example.com/?exchange=a", map[string]string{
		`null`:                            "",
		`{"username":"u","password":"p"}`: "",
		`{"username":"u"}`:                "together",
		`{"password":"p"}`:                "together",
		`{"token":"t"}`:                   "token",
	})
}
