package kafka

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker/brokertest"
)

// Nothing is lost, doubled or reordered when connections are cut with records in flight.
func TestConnectionsAreCut(t *testing.T) {
	const partitions = 6
	c := startCluster(t, kfake.NumBrokers(2), kfake.SeedTopics(partitions, "orders"))
	var cable *brokertest.Cable
	kind := newDialingKind(t, func(dial brokertest.Dial) brokertest.Dial {
		cable = brokertest.NewCable(t, dial)
		return cable.Dial
	}, nil, loopback)
	brokertest.Proof{
		Endpoint: brokertest.Open(t, kind, "kafka://"+strings.Join(c.ListenAddrs(), ",")+"/orders", ""),
		Cut:      cable.Cut,
		Stored: func(t *testing.T) (bodies [][]byte) {
			for _, r := range stored(t, c, "orders", records(t, c, "orders", partitions)) {
				bodies = append(bodies, r.Value)
			}
			return bodies
		},
	}.Run(t)
}

// A record has the payload byte for byte, the resource as its key, and everything else as
// headers. Those of a resource are in one partition.
func TestRecord(t *testing.T) {
	c := startCluster(t, kfake.NumBrokers(3), kfake.SeedTopics(16, "orders", "other"))
	e := brokertest.Open(t, newKind(t, loopback), "kafka://"+c.ListenAddrs()[0]+"/orders", "")
	m := brokertest.Message("r 1", []byte(`{"a": 1e2, "ü":"\u0000"}`))
	for range 3 {
		if r := e.Send(t.Context(), m); !r.Delivered() || !r.Responded || r.Error != "" || r.Timing.Total == 0 {
			t.Fatalf("%+v", r)
		}
	}
	if r := e.Send(t.Context(), brokertest.Message("", []byte("{}"))); !r.Delivered() {
		t.Fatalf("%+v", r)
	}
	ours, partitions := 0, make(map[int32]bool)
	for _, got := range stored(t, c, "orders", 4) {
		if len(got.Key) == 0 {
			if got.Key != nil || string(got.Value) != "{}" {
				t.Errorf("%q: %q", got.Key, got.Value)
			}
			continue
		}
		ours++
		partitions[got.Partition] = true
		if string(got.Key) != "r 1" || string(got.Value) != string(m.Payload) {
			t.Errorf("%q: %q", got.Key, got.Value)
		}
		headers := make(map[string]string)
		for _, h := range got.Headers {
			headers[h.Key] = string(h.Value)
		}
		for _, h := range m.Header {
			if name := strings.ToLower(h[0]); headers[name] != h[1] {
				t.Errorf("the header %s is %q, want %q", name, headers[name], h[1])
			}
		}
	}
	if ours != 3 || len(partitions) != 1 {
		t.Errorf("%d records of the resource are in %d partitions", ours, len(partitions))
	}
	if n := records(t, c, "other", 16); n != 0 {
		t.Errorf("another topic has %d records", n)
	}
}

// What a cluster refuses has a class, and ends the delivery only if it always will be refused.
func TestRefusals(t *testing.T) {
	open := startCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "small"))
	limit(t, open, "small", "2000")
	allow := func(op kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: "a", Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true}
	}
	users := startCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "a"), kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.User("PLAIN", "ada", "Pa55word", allow(kmsg.ACLOperationDescribe), allow(kmsg.ACLOperationWrite)),
		kfake.User("SCRAM-SHA-256", "ada", "Pa55word", allow(kmsg.ACLOperationDescribe), allow(kmsg.ACLOperationWrite)),
		kfake.User("SCRAM-SHA-512", "cid", "Pa55word", allow(kmsg.ACLOperationDescribe), allow(kmsg.ACLOperationWrite)),
		kfake.User("PLAIN", "bob", "Pa55word", allow(kmsg.ACLOperationDescribe)),
		kfake.User("PLAIN", "eve", "Pa55word"),
	)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	kind := newKind(t, loopback)
	for _, c := range []struct {
		name, address, credentials string
		size                       int
		verdict                    feedmill.Verdict
		class                      string
		responded                  bool
	}{
		{"delivered", open.ListenAddrs()[0] + "/small", "", 10, feedmill.VerdictDelivered, "", true},
		{"PLAIN", users.ListenAddrs()[0] + "/a", `{"username":"ada","password":"Pa55word"}`, 10, feedmill.VerdictDelivered, "", true},
		{"SCRAM-SHA-256", users.ListenAddrs()[0] + "/a", `{"username":"ada","password":"Pa55word","mechanism":"SCRAM-SHA-256"}`, 10, feedmill.VerdictDelivered, "", true},
		{"SCRAM-SHA-512", users.ListenAddrs()[0] + "/a", `{"username":"cid","password":"Pa55word","mechanism":"SCRAM-SHA-512"}`, 10, feedmill.VerdictDelivered, "", true},
		{"no topic", open.ListenAddrs()[0] + "/nothing", "", 10, feedmill.VerdictRetry, "no-route", true},
		{"too large", open.ListenAddrs()[0] + "/small", "", 3000, feedmill.VerdictRejected, "too-large", true},
		{"larger than batches", open.ListenAddrs()[0] + "/small", "", feedmill.MaxPayloadBytes, feedmill.VerdictRejected, "too-large", true},
		{"no credentials", users.ListenAddrs()[0] + "/a", "", 10, feedmill.VerdictRetry, "closed", false},
		{"wrong password", users.ListenAddrs()[0] + "/a", `{"username":"ada","password":"wr0ng"}`, 10, feedmill.VerdictRetry, "closed", false}, // unlike Kafka
		{"not permitted to write", users.ListenAddrs()[0] + "/a", `{"username":"bob","password":"Pa55word"}`, 10, feedmill.VerdictRetry, "auth", true},
		{"not permitted to describe", users.ListenAddrs()[0] + "/a", `{"username":"eve","password":"Pa55word"}`, 10, feedmill.VerdictRetry, "auth", true},
		{"no broker", nobody.Addr().String() + "/a", "", 10, feedmill.VerdictRetry, "unreachable", false},
		{"another broker", nobody.Addr().String() + "," + open.ListenAddrs()[0] + "/small", "", 10, feedmill.VerdictDelivered, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := make([]byte, c.size/2)
			rand.Read(body) // it cannot be compressed much
			r := brokertest.Open(t, kind, "kafka://"+c.address, c.credentials).Send(t.Context(), brokertest.Message("r", []byte(hex.EncodeToString(body))))
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

// Credentials that Kafka refuses are reported as such, and a broker cannot make the client
// compute hashes for long.
func TestAuthentication(t *testing.T) {
	c := startCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "a"), kfake.EnableSASL())
	var next atomic.Pointer[kmsg.SASLAuthenticateResponse]
	c.ControlKey(kmsg.SASLAuthenticate.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		response := *next.Load()
		response.Version = r.GetVersion()
		return &response, nil, true
	})
	kind := newKind(t, loopback)
	for _, test := range []struct {
		response kmsg.SASLAuthenticateResponse
		want     string
	}{
		{kmsg.SASLAuthenticateResponse{ErrorCode: kerr.SaslAuthenticationFailed.Code, ErrorMessage: kmsg.StringPtr("password of ada")}, "auth: the broker refused"},
		{kmsg.SASLAuthenticateResponse{SASLAuthBytes: []byte("r=x,s=eA==,i=2000000000")}, "auth: the broker asks for too many"},
		{kmsg.SASLAuthenticateResponse{SASLAuthBytes: []byte("r=x,s=eA==,i=9999999999999999999999")}, "auth: the broker asks for too many"},
		{kmsg.SASLAuthenticateResponse{SASLAuthBytes: []byte("e=other-error")}, "auth: the broker refused"},
	} {
		next.Store(&test.response)
		credentials := `{"username":"ada","password":"Pa55word","mechanism":"SCRAM-SHA-256"}`
		r := brokertest.Open(t, kind, "kafka://"+c.ListenAddrs()[0]+"/a", credentials).Send(t.Context(), brokertest.Message("r", nil))
		if r.Verdict != feedmill.VerdictRetry || !r.Responded || !strings.HasPrefix(r.Error, test.want) || strings.Contains(r.Error, "ada") {
			t.Errorf("%+v, want %q", r, test.want)
		}
	}
}

// A batch that is too large fails only the record that is too large by itself.
func TestBatchIsTooLarge(t *testing.T) {
	c := startCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "small"))
	limit(t, c, "small", "20000")
	e := brokertest.Open(t, newKind(t, loopback), "kafka://"+c.ListenAddrs()[0]+"/small", "")
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			size, want := 4_000, feedmill.VerdictDelivered
			if i == 20 {
				size, want = 30_000, feedmill.VerdictRejected
			}
			body := make([]byte, size/2)
			rand.Read(body)
			if r := e.Send(t.Context(), brokertest.Message("r"+strconv.Itoa(i), []byte(hex.EncodeToString(body)))); r.Verdict != want {
				t.Errorf("%d: %+v", i, r)
			}
		})
	}
	all.Wait()
	if n := records(t, c, "small", 1); n != 39 {
		t.Errorf("the topic has %d records, want 39", n)
	}
}

// The largest payload is delivered if the topic takes it.
func TestLargestPayload(t *testing.T) {
	c := startCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "large"))
	limit(t, c, "large", "3000000")
	body := make([]byte, feedmill.MaxPayloadBytes/2)
	rand.Read(body)
	m := brokertest.Message("r", []byte(hex.EncodeToString(body)))
	if r := brokertest.Open(t, newKind(t, loopback), "kafka://"+c.ListenAddrs()[0]+"/large", "").Send(t.Context(), m); !r.Delivered() {
		t.Fatalf("%+v", r)
	}
	if got := stored(t, c, "large", 1)[0].Value; string(got) != string(m.Payload) {
		t.Errorf("the record has %d bytes", len(got))
	}
}

// TLS is required where the URL says so, and the certificates of all brokers are verified.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	c := startCluster(t, kfake.NumBrokers(2), kfake.SeedTopics(4, "a"), kfake.TLS(&tls.Config{Certificates: web.TLS.Certificates}))
	plain := startCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "a"))
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	for _, c := range []struct {
		url   string
		roots *x509.CertPool
		want  string
	}{
		{"kafka+tls://" + c.ListenAddrs()[0], roots, ""},
		{"kafka+tls://" + c.ListenAddrs()[0], x509.NewCertPool(), "tls: the TLS connection failed: the endpoint's certificate is not signed by a trusted authority"},
		{"kafka+tls://" + strings.Replace(c.ListenAddrs()[0], "127.0.0.1", "localhost", 1), roots, "tls: the TLS connection failed: the endpoint's certificate is not for this host"},
		{"kafka://" + c.ListenAddrs()[0], roots, "closed: "},
	} {
		r := brokertest.Open(t, newTrustingKind(t, c.roots, loopback), c.url+"/a", "").Send(t.Context(), brokertest.Message("r", []byte("{}")))
		if r.Delivered() != (c.want == "") || !strings.HasPrefix(r.Error, c.want) {
			t.Errorf("%s: %+v, want %q", c.url, r, c.want)
		}
	}
	m := brokertest.Message("r", nil)
	m.Timeout /= 5 // a server without TLS waits for the rest of a request
	r := brokertest.Open(t, newTrustingKind(t, roots, loopback), "kafka+tls://"+plain.ListenAddrs()[0]+"/a", "").Send(t.Context(), m)
	if r.Delivered() || r.Responded {
		t.Errorf("without TLS: %+v", r)
	}
}

// A broker at an address that the policy forbids is not dialed, even if the cluster announces
// it, and the attempt does not wait for its timeout.
func TestForbiddenAddress(t *testing.T) {
	brokertest.CheckForbidden(t, newKind(t), "kafka://%s/a")
	next := 1
	c := startCluster(t, kfake.NumBrokers(2), kfake.SeedTopics(2, "a"), kfake.ListenFn(func(network, address string) (net.Listener, error) {
		_, port, _ := net.SplitHostPort(address)
		next++
		return net.Listen(network, fmt.Sprintf("127.0.0.%d:%s", next-1, port))
	}))
	m := brokertest.Message("r", nil)
	m.Timeout = feedmill.MaxTimeout
	for i := range 20 { // some of them are led by the broker that may be dialed
		m.ResourceID = strconv.Itoa(i)
		r := brokertest.Open(t, newKind(t, "127.0.0.1/32"), "kafka://"+c.ListenAddrs()[0]+"/a", "").Send(t.Context(), m)
		if r.Delivered() {
			continue
		}
		if r.Verdict != feedmill.VerdictRejected || !strings.HasPrefix(r.Error, "forbidden: ") {
			t.Errorf("%+v", r)
		}
		return
	}
	t.Error("everything was delivered")
}

// An attempt to a server that says nothing ends with its timeout.
func TestSilentServer(t *testing.T) {
	brokertest.CheckSilence(t, newKind(t, loopback), "kafka://%s/a")
}

func TestCheckAddress(t *testing.T) {
	brokertest.CheckURLs(t, newKind(t), map[string]string{
		"kafka://h/a":                           "",
		"kafka://h:1,i,[2606::1]:3/a.b-c_D":     "",
		"kafka+tls://h:1/a":                     "",
		"kafka://h/" + strings.Repeat("a", 249): "",
		"kafka://h/" + strings.Repeat("a", 250): "1 to 249",
		"kafka://h":                             "must have a topic",
		"kafka://h/":                            "must have a topic",
		"kafka://h/..":                          "1 to 249",
		"kafka://h/a/b":                         "1 to 249",
		"kafka://h/a%20b":                       "1 to 249",
		"kafka://h/a?b=c":                       "must not have a query",
		"kafka://u:p@h/a":                       "delivery.credentials",
		"kafka://h,u:p@i/a":                     "delivery.credentials",
		"kafka://h,/a":                          "host",
		"kafka://h:0/a":                         "port",
		"kafka://h,127.0.0.1/a":                 "egress policy",
		"kafka://10.0.0.1:4222/a":               "egress policy",
		"kafka://a,b,c,d,e,f,g,h,i,j,k/a":       "at most 10 hosts",
		"kafka://h/a#b":                         "fragment",
	})
}

func TestCheckCredentials(t *testing.T) {
	brokertest.CheckCredentials(t, newKind(t), "kafka://example.com/a", map[string]string{
		`null`:                            "",
		`{}`:                              "",
		`{"username":"u","password":"p"}`: "",
		`{"username":"u","password":"p","mechanism":"PLAIN"}`:         "",
		`{"username":"u","password":"p","mechanism":"SCRAM-SHA-256"}`: "",
		`{"username":"u","password":"p","mechanism":"SCRAM-SHA-512"}`: "",
		`{"username":"u","password":"p","mechanism":"GSSAPI"}`:        "mechanism must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
		`{"mechanism":"PLAIN"}`:                                       "needs username",
		`{"username":"u"}`:                                            "together",
		`{"password":"p"}`:                                            "together",
		`{"token":"t"}`:                                               "token",
	})
}
