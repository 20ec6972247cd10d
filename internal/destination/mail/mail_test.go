package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker/brokertest"
	"github.com/feedmill/feedmill/internal/destination/mail/mailtest"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
)

// newKind is the kind with a server.
func newKind(t *testing.T, url string, roots *x509.CertPool, perHour int) *Kind {
	t.Helper()
	server, err := NewServer(url, "feedmill@example.org", roots)
	if err != nil {
		t.Fatal(err)
	}
	k := New(Options{Server: server, PublicURL: "https://feeds.example.org/", Domains: []string{"trusted.example"}, Windows: sqlitetest.New(t), PerHour: perHour})
	t.Cleanup(k.Close)
	return k
}

// open opens the endpoint of a subscription with consent.
func open(t *testing.T, k *Kind, url string, change ...func(*feedmill.Subscription)) feedmill.Endpoint {
	t.Helper()
	sub := brokertest.Subscription(k.Name(), url)
	sub.ConsentedAt = time.Now()
	for _, change := range change {
		change(&sub)
	}
	sealed, err := newConfig()
	if err != nil {
		t.Fatal(err)
	}
	e, err := k.Open(sub, sealed)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// textMessage is a delivery whose body is text.
func textMessage(text string) feedmill.Message {
	m := brokertest.Message("df_01kc88t5w3e9q2n7b4xhzv0rjm", []byte(text))
	m.ContentType = "text/plain; charset=utf-8"
	return m
}

// A message has the text, the links and the ids of its delivery.
func TestMessage(t *testing.T) {
	box := mailtest.Start(t)
	e := open(t, newKind(t, "smtp://"+box.Address, nil, 60), "mailto:Ada.L@example.com")
	m := textMessage("Größe: refresh failed\n.\r\nline 2\n..")
	for range 2 {
		if r := e.Send(t.Context(), m); !r.Delivered() || r.Error != "" || r.Timing.Total == 0 {
			t.Fatalf("%+v", r)
		}
	}
	messages, bodies := box.All()
	h := messages[0].Header
	for name, want := range map[string]string{
		"To": "<Ada.L@example.com>", "From": "Feedmill <feedmill@example.org>", "Auto-Submitted": "auto-generated",
		"Message-Id": "<" + string(m.Delivery) + "@example.org>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
		"X-Service-Event": "metric.created", "X-Service-Delivery": string(m.Delivery), "X-Service-Signature": "",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if messages[1].Header.Get("Message-Id") != h.Get("Message-Id") {
		t.Error("a second attempt has another id")
	}
	if at, err := h.Date(); err != nil || time.Since(at) > time.Hour {
		t.Errorf("the date is %v, %v", at, err)
	}
	subject, err := decoder.DecodeHeader(h.Get("Subject"))
	if err != nil || subject != "Größe: refresh failed" {
		t.Errorf("the subject is %q, %v", subject, err)
	}
	unsubscribe := strings.Trim(h.Get("List-Unsubscribe"), "<>")
	if !strings.HasPrefix(unsubscribe, "https://feeds.example.org/ui/mail/unsubscribe/sub_") {
		t.Errorf("List-Unsubscribe is %q", unsubscribe)
	}
	if body := bodies[0]; !strings.HasPrefix(body, "Größe: refresh failed\n.\nline 2\n..\n\nhttps://feeds.example.org/ui/feeds/df_01kc88t5w3e9q2n7b4xhzv0rjm\n\n-- \n") || !strings.Contains(body, unsubscribe) {
		t.Errorf("the body is %q", body)
	}
}

// What the server refuses for good ends the delivery. Everything else is repeated.
func TestRefusals(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	secure := func(s *smtp.Server) { s.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates} }
	reply := func(command string, code int) func(string, string) error {
		return func(got, _ string) error {
			if got == command {
				return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: "because\nof this"}
			}
			return nil
		}
	}
	plain, encrypted := mailtest.Start(t), mailtest.Start(t, secure)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, c := range []struct {
		name, url string
		box       *mailtest.Server
		refuse    func(string, string) error
		verdict   feedmill.Verdict
		responded bool
		class     string
	}{
		{"greylisting", "smtp://" + plain.Address, plain, reply("RCPT", 451), feedmill.VerdictRetry, true, "deferred"},
		{"unknown mailbox", "smtp://" + plain.Address, plain, reply("RCPT", 550), feedmill.VerdictRejected, true, "refused"},
		{"full mailbox", "smtp://" + plain.Address, plain, reply("DATA", 452), feedmill.VerdictRetry, true, "deferred"},
		{"refused content", "smtp://" + plain.Address, plain, reply("DATA", 554), feedmill.VerdictRejected, true, "refused"},
		{"refused sender", "smtp://" + plain.Address, plain, reply("MAIL", 550), feedmill.VerdictRetry, true, "refused"},
		{"closing", "smtp://" + plain.Address, plain, reply("MAIL", 421), feedmill.VerdictRetry, true, "deferred"},
		{"accepted again", "smtp://" + plain.Address, plain, nil, feedmill.VerdictDelivered, true, ""},
		{"credentials", "smtp://ada:pa55@" + plain.Address, plain, nil, feedmill.VerdictDelivered, true, ""},
		{"wrong password", "smtp://ada:wr0ng@" + plain.Address, plain, nil, feedmill.VerdictRetry, true, "auth"},
		{"STARTTLS", "smtp://ada:pa55@" + encrypted.Address + "?starttls=required", encrypted, nil, feedmill.VerdictDelivered, true, ""},
		{"STARTTLS is used if offered", "smtp://" + strings.Replace(encrypted.Address, "127.0.0.1", "localhost", 1), encrypted, nil, feedmill.VerdictRetry, false, "tls"},
		{"STARTTLS is not offered", "smtp://" + plain.Address + "?starttls=required", plain, nil, feedmill.VerdictRetry, false, "tls"},
		{"no TLS", "smtps://" + plain.Address, plain, nil, feedmill.VerdictRetry, false, "tls"},
		{"no server", "smtp://127.0.0.1:1", plain, nil, feedmill.VerdictRetry, false, "unreachable"},
		{"silent server", "smtp://" + silent.Addr().String(), plain, nil, feedmill.VerdictRetry, false, "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.box.Refuse(c.refuse)
			e := open(t, newKind(t, c.url, roots, 60), "mailto:ada@example.com")
			m := textMessage("hello")
			if c.class == "timeout" {
				m.Timeout = 100 * time.Millisecond
			}
			r := e.Send(t.Context(), m)
			class, _, _ := strings.Cut(r.Error, ": ")
			if r.Verdict != c.verdict || r.Responded != c.responded || class != c.class {
				t.Errorf("%+v", r)
			}
			for _, secret := range []string{"pa55", "wr0ng", "127.0.0.1", "\n"} {
				if strings.Contains(r.Error, secret) {
					t.Errorf("the error has %q: %s", secret, r.Error)
				}
			}
		})
	}
}

// Connections are used again, and a failure leaves none behind.
func TestConnections(t *testing.T) {
	box := mailtest.Start(t)
	k := newKind(t, "smtp://"+box.Address, nil, 1000)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			e := open(t, k, "mailto:ada@example.com")
			for range 5 {
				if r := e.Send(context.Background(), textMessage("hello")); !r.Delivered() {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	all.Wait()
	if messages, _ := box.All(); box.Open() > maxConnections || len(messages) != 100 {
		t.Errorf("%d connections are open after %d messages", box.Open(), len(messages))
	}
	k.Close()
	for end := time.Now().Add(20 * time.Second); box.Open() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are still open", box.Open())
		}
	}
}

// Above the limit of an address, messages wait. Other addresses and workspaces do not, and a
// message that was not sent is not counted.
func TestLimitOfAnAddress(t *testing.T) {
	box := mailtest.Start(t)
	k := newKind(t, "smtp://"+box.Address, nil, 3)
	home := feedmill.NewID(feedmill.PrefixWorkspace)
	in := func(id feedmill.ID) func(*feedmill.Subscription) {
		return func(s *feedmill.Subscription) { s.Workspace = id }
	}
	send := func(url string, workspace feedmill.ID) feedmill.Result {
		return open(t, k, url, in(workspace)).Send(t.Context(), textMessage("hello"))
	}
	box.Refuse(func(command, _ string) error {
		if command == "RCPT" {
			return &smtp.SMTPError{Code: 451}
		}
		return nil
	})
	for range 5 {
		if r := send("mailto:ada@example.com", home); r.Verdict != feedmill.VerdictRetry {
			t.Errorf("%+v", r)
		}
	}
	box.Refuse(nil)
	for range 3 {
		if r := send("mailto:ada@example.com", home); !r.Delivered() {
			t.Errorf("%+v", r)
		}
	}
	r := send("mailto:ADA@example.com", home)
	if r.Verdict != feedmill.VerdictWait || r.RetryAfter < 59*time.Minute || r.RetryAfter > time.Hour || !r.NotSent {
		t.Errorf("%+v", r)
	}
	if r := send("mailto:bob@example.com", home); !r.Delivered() {
		t.Errorf("%+v", r)
	}
	if r := send("mailto:ada@example.com", feedmill.NewID(feedmill.PrefixWorkspace)); !r.Delivered() {
		t.Errorf("%+v", r)
	}
	if messages, _ := box.All(); len(messages) != 5 {
		t.Errorf("%d messages arrived", len(messages))
	}
}

// Nothing is sent without consent, or without a server.
func TestNothingWithoutConsent(t *testing.T) {
	box := mailtest.Start(t)
	k := newKind(t, "smtp://"+box.Address, nil, 60)
	r := open(t, k, "mailto:ada@trusted.example", func(s *feedmill.Subscription) { s.ConsentedAt = time.Time{} }).Send(t.Context(), textMessage("hello"))
	if r.Verdict != feedmill.VerdictRejected || !r.NotSent || !strings.Contains(r.Error, "confirmed") {
		t.Errorf("%+v", r)
	}
	if messages, _ := box.All(); len(messages) != 0 {
		t.Error("a message was sent")
	}
	r = open(t, New(Options{PublicURL: "https://a.example"}), "mailto:ada@example.com").Send(t.Context(), textMessage("hello"))
	if r.Verdict != feedmill.VerdictRetry || !strings.Contains(r.Error, "FEEDMILL_SMTP_URL") {
		t.Errorf("%+v", r)
	}
}

// No message is lost or reordered when connections are cut.
func TestServerIsCut(t *testing.T) {
	box := mailtest.Start(t)
	p := startProxy(t, box.Address)
	sub := open(t, newKind(t, "smtp://"+p.address, nil, 1_000_000), "mailto:ada@example.com").(*endpoint)
	sub.Windows = unlimited{} // the limit has a test of its own, and is not for so many
	brokertest.Proof{
		Endpoint: sub,
		Cut:      func(*testing.T) { p.cut() },
		Stored: func(*testing.T) (bodies [][]byte) {
			_, all := box.All()
			for _, body := range all {
				first, _, _ := strings.Cut(body, "\n")
				bodies = append(bodies, []byte(first))
			}
			return bodies
		},
	}.Run(t)
}

// unlimited counts no messages.
type unlimited struct{}

func (unlimited) TakeTurn(context.Context, string, int, time.Duration) (time.Time, time.Duration, error) {
	return time.Now(), 0, nil
}

func (unlimited) ReturnTurn(context.Context, string, time.Time) error { return nil }

// proxy passes bytes on, until its connections are cut.
type proxy struct {
	address string
	mu      sync.Mutex
	open    map[net.Conn]bool
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), open: make(map[net.Conn]bool)}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); p.cut(); all.Wait() })
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			p.mu.Lock()
			p.open[near], p.open[far] = true, true
			p.mu.Unlock()
			for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
				all.Go(func() {
					io.Copy(pair[0], pair[1])
					pair[0].Close()
					pair[1].Close()
				})
			}
		}
	})
	return p
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
		delete(p.open, c)
	}
}
