package nats

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
	"github.com/feedmill/feedmill/internal/destination/broker/brokertest"
	"github.com/feedmill/feedmill/internal/egress"
)

// newKind is the kind with an egress policy that allows some addresses.
func newKind(t *testing.T, allow ...string) *broker.Kind {
	t.Helper()
	return newTrustingKind(t, nil, allow...)
}

// newTrustingKind is the kind that verifies servers with certificates.
func newTrustingKind(t *testing.T, roots *x509.CertPool, allow ...string) *broker.Kind {
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

// Nothing is lost, doubled or reordered when the server is killed with messages in flight.
func TestServerIsKilled(t *testing.T) {
	p := startProcess(t)
	url := "nats://127.0.0.1:" + p.port
	addStream(t, url, nats.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}})
	brokertest.Proof{
		Endpoint: brokertest.Open(t, newKind(t, loopback), url+"/events.metrics", ""),
		Cut:      func(t *testing.T) { p.kill(t); p.start(t) },
		Stored: func(t *testing.T) (bodies [][]byte) {
			nc, err := nats.Connect(url)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			js, _ := nc.JetStream()
			info, err := js.StreamInfo("EVENTS")
			if err != nil {
				t.Fatal(err)
			}
			for _, msg := range stored(t, url, "events.>", int(info.State.Msgs)) {
				bodies = append(bodies, msg.Data)
			}
			return bodies
		},
	}.Run(t)
}

// A message has the payload byte for byte, and everything else as headers.
func TestMessage(t *testing.T) {
	s := startServer(t, server.Options{JetStream: true})
	addStream(t, s.ClientURL(), nats.StreamConfig{Name: "A", Subjects: []string{"a.b"}, Storage: nats.MemoryStorage})
	e := brokertest.Open(t, newKind(t, loopback), s.ClientURL()+"/a.b", "")
	m := brokertest.Message("r", []byte(`{"a": 1e2, "ü":"\u0000"}`))
	for range 2 { // the second is a repetition, which the stream ignores
		if r := e.Send(t.Context(), m); !r.Delivered() || !r.Responded || r.Error != "" || r.Timing.Total == 0 {
			t.Fatalf("%+v", r)
		}
	}
	other := brokertest.Message("r", []byte("{}"))
	if r := e.Send(t.Context(), other); !r.Delivered() {
		t.Fatalf("%+v", r)
	}
	got := stored(t, s.ClientURL(), "a.b", 2)
	if string(got[0].Data) != string(m.Payload) || string(got[1].Data) != "{}" {
		t.Errorf("the stream has %q and %q", got[0].Data, got[1].Data)
	}
	for _, h := range m.Header {
		if name := strings.ToLower(h[0]); got[0].Header.Get(name) != h[1] {
			t.Errorf("the header %s is %q, want %q", name, got[0].Header.Get(name), h[1])
		}
	}
	if n := s.NumClients(); n > 3 {
		t.Errorf("%d connections are open", n)
	}
}

// What a server refuses has a class, and ends the delivery only if it always will be refused.
func TestRefusals(t *testing.T) {
	plain := startServer(t, server.Options{JetStream: true, MaxPayload: 4096})
	js := addStream(t, plain.ClientURL(), nats.StreamConfig{Name: "S", Subjects: []string{"small"}, MaxMsgSize: 1000, Storage: nats.MemoryStorage})
	if _, err := js.AddStream(&nats.StreamConfig{Name: "F", Subjects: []string{"full"}, MaxMsgs: 1, Discard: nats.DiscardNew, Storage: nats.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish("full", nil); err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(plain.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Subscribe("service", func(m *nats.Msg) { m.Respond([]byte("hello")) }); err != nil {
		t.Fatal(err)
	}
	nc.Flush()
	users := startServer(t, server.Options{JetStream: true, Users: []*server.User{
		{Username: "ada", Password: "Pa55word"},
		{Username: "bob", Password: "Pa55word", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"other"}}}},
	}})
	addStream(t, users.ClientURL(), nats.StreamConfig{Name: "A", Subjects: []string{"a"}, Storage: nats.MemoryStorage}, nats.UserInfo("ada", "Pa55word"))
	dead := "nats://127.0.0.1:" + freePort(t)
	kind := newKind(t, loopback)
	for _, c := range []struct {
		name, url, credentials string
		size                   int
		verdict                feedmill.Verdict
		class                  string
		responded              bool
	}{
		{"credentials", users.ClientURL() + "/a", `{"username":"ada","password":"Pa55word"}`, 10, feedmill.VerdictDelivered, "", true},
		{"no stream", plain.ClientURL() + "/nobody", "", 10, feedmill.VerdictRetry, "no-route", true},
		{"no stream but a service", plain.ClientURL() + "/service", "", 10, feedmill.VerdictRetry, "no-route", true},
		{"too large for the server", plain.ClientURL() + "/small", "", 5000, feedmill.VerdictRejected, "too-large", true},
		{"too large for the stream", plain.ClientURL() + "/small", "", 1500, feedmill.VerdictRejected, "too-large", true},
		{"full stream", plain.ClientURL() + "/full", "", 10, feedmill.VerdictRetry, "refused", true},
		{"no credentials", users.ClientURL() + "/a", "", 10, feedmill.VerdictRetry, "auth", true},
		{"wrong password", users.ClientURL() + "/a", `{"username":"ada","password":"wr0ng"}`, 10, feedmill.VerdictRetry, "auth", true},
		{"not permitted", users.ClientURL() + "/a", `{"username":"bob","password":"Pa55word"}`, 10, feedmill.VerdictRetry, "auth", true},
		{"no server", dead + "/a", "", 10, feedmill.VerdictRetry, "unreachable", false},
		{"no TLS", strings.Replace(plain.ClientURL(), "nats:", "nats+tls:", 1) + "/a", "", 10, feedmill.VerdictRetry, "tls", true},
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

// TLS is required where the URL says so, and the server's certificate is verified.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	s := startServer(t, server.Options{JetStream: true, TLSConfig: &tls.Config{Certificates: web.TLS.Certificates}, TLSTimeout: 10})
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	addStream(t, s.ClientURL(), nats.StreamConfig{Name: "A", Subjects: []string{"a"}, Storage: nats.MemoryStorage}, nats.Secure(&tls.Config{RootCAs: roots}))
	port := s.Addr().(*net.TCPAddr).Port
	for _, c := range []struct {
		url   string
		roots *x509.CertPool
		want  string
	}{
		{"nats+tls://127.0.0.1", roots, ""},
		{"nats+tls://127.0.0.1", x509.NewCertPool(), "tls: the TLS connection failed: the endpoint's certificate is not signed by a trusted authority"},
		{"nats+tls://localhost", roots, "tls: the TLS connection failed: the endpoint's certificate is not for this host"},
		// The client uses TLS if the server requires it, with the system's roots.
		{"nats://127.0.0.1", roots, "tls: the TLS connection failed: the endpoint's certificate is not signed by a trusted authority"},
	} {
		r := brokertest.Open(t, newTrustingKind(t, c.roots, loopback), fmt.Sprintf("%s:%d/a", c.url, port), "").Send(t.Context(), brokertest.Message("r", []byte("{}")))
		if r.Delivered() != (c.want == "") || !strings.HasPrefix(r.Error, c.want) {
			t.Errorf("%s: %+v, want %q", c.url, r, c.want)
		}
	}
}

// A server at an address that the policy forbids is not dialed.
func TestForbiddenAddress(t *testing.T) {
	brokertest.CheckForbidden(t, newKind(t), "nats://%s/a")
}

// An attempt to a server that says nothing ends with its timeout.
func TestSilentServer(t *testing.T) {
	brokertest.CheckSilence(t, newKind(t, loopback), "nats://%s/a")
}

func TestCheckAddress(t *testing.T) {
	brokertest.CheckURLs(t, newKind(t), map[string]string{
		"nats://h/a":                "",
		"nats://h:1/a.b-c_d/e":      "",
		"nats+tls://[2606::1]:1/a":  "",
		"nats://h":                  "must have a subject",
		"nats://h/":                 "must have a subject",
		"nats://h/a?b=c":            "must not have a query",
		"nats://h/a.*":              "wildcards",
		"nats://h/a.>":              "wildcards",
		"nats://h/a..b":             "wildcards",
		"nats://h/a%20b":            "spaces",
		"nats://h/a%0d%0aPUB":       "spaces",
		"nats://h/$JS.API.STREAM":   "reserves",
		"nats://h/_INBOX.x":         "reserves",
		"nats://u:p@h/a":            "delivery.credentials",
		"nats://h,i/a":              "at most 1 hosts",
		"nats://h:0/a":              "port",
		"nats://h:x/a":              "port",
		"nats:///a":                 "host",
		"nats://::1/a":              "host",
		"nats://[::1/a":             "IPv6",
		"nats://[127.0.0.1]:4222/a": "IPv6",
		"nats://h/a#b":              "fragment",
		"nats://h/ä":                "ASCII",
		"nats://127.0.0.1/a":        "egress policy",
		"nats://10.0.0.1:4222/a":    "egress policy",
		"nats://localhost/a":        "egress policy",
		"nats://0x7f.1/a":           "ambiguous",
	})
}

func TestCheckCredentials(t *testing.T) {
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	const jwt = "-----BEGIN NATS USER JWT-----\\na.b.c\\n------END NATS USER JWT------\\n"
	brokertest.CheckCredentials(t, newKind(t), "nats://example.com/a", map[string]string{
		`null`:                            "",
		`{}`:                              "",
		`{"username":"u","password":"p"}`: "",
		`{"token":"t"}`:                   "",
		`{"username":"u"}`:                "together",
		`{"password":"p"}`:                "together",
		`{"username":"u","password":"p","token":"t"}`: "or token",
		`{"creds":"` + jwt + `"}`:                     "credentials file",
		`{"creds":"` + jwt + `-----BEGIN USER NKEY SEED-----\n` + string(seed) + `\n------END USER NKEY SEED------\n"}`: "",
		`{"creds":"x"}`:       "credentials file",
		`{"token":""}`:        "empty",
		`{"token":"a\u0000"}`: "control",
		`{"token":"***"}`:     "no stored value",
		`{"token":1}`:         "string",
		`{"key":"k"}`:         "key",
	})
}
