package broker_test

import (
	"context"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
	"github.com/feedmill/feedmill/internal/destination/broker/brokertest"
	"github.com/feedmill/feedmill/internal/egress"
)

// parrot is a protocol with two credentials.
type parrot struct{ broker.Protocol }

func (parrot) Name() feedmill.DestinationKind { return "parrot" }

func (parrot) Form() broker.Form {
	return broker.Form{Plain: "parrot", Secure: "parrot+tls", PlainPort: "1", SecurePort: "2", Example: "parrot://host/x", MaxHosts: 3, Credentials: []string{"key", "other"}}
}

func (parrot) CheckAddress(broker.Address) string { return "" }

func (parrot) CheckCredentials(map[string]string) string { return "" }

func (parrot) Connect(context.Context, broker.Settings) (broker.Conn, error) { return nil, nil }

// Credentials were given for one origin and go to no other.
func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	policy, err := egress.NewPolicy(nil)
	if err != nil {
		t.Fatal(err)
	}
	kind := broker.New(parrot{}, broker.Options{Hosts: policy})
	was, faults := brokertest.Define(t, kind, feedmill.Destination{}, `{"url":"parrot://a.test,b.test:7/x","delivery":{"credentials":{"key":"k","other":"o"}}}`)
	if faults != "" || string(was.Config) != `{"key":"k","other":"o"}` || was.Method != "" {
		t.Fatalf("%+v: %s", was, faults)
	}
	const moved = "/delivery/credentials: The new URL has another origin"
	for _, c := range []struct{ body, config, fault string }{
		{`{"name":"n"}`, `{"key":"k","other":"o"}`, ""},
		{`{"url":"parrot://A.test:1,b.test:7/other?q=1"}`, `{"key":"k","other":"o"}`, ""},
		{`{"url":"parrot://b.test:7,a.test/x"}`, `{"key":"k","other":"o"}`, ""},
		{`{"url":"parrot://a.test/x"}`, "", moved},
		{`{"url":"parrot://a.test,b.test:7,c.test/x"}`, "", moved},
		{`{"url":"parrot://a.test,b.test:8/x"}`, "", moved},
		{`{"url":"parrot+tls://a.test:1,b.test:7/x"}`, "", moved},
		{`{"url":"parrot://c.test/x","delivery":{"credentials":{"key":"***"}}}`, "", "/delivery/credentials/key: The credential has no stored value to keep"},
		{`{"url":"parrot://c.test/x","delivery":{"credentials":{"key":"new"}}}`, `{"key":"new"}`, ""},
		{`{"url":"parrot://c.test/x","delivery":{"credentials":null}}`, "", ""},
		{`{"url":"parrot://c.test/x","delivery":{"credentials":{}}}`, "", ""},
		{`{"url":"parrot://c.test/x","delivery":null}`, "", ""},
		{`{"delivery":{"credentials":{"key":"new"}}}`, `{"key":"new"}`, ""},
		{`{"delivery":{"credentials":{"key":"***","other":"new"}}}`, `{"key":"k","other":"new"}`, ""},
		{`{"delivery":{"credentials":{"key":"` + strings.Repeat("k", 8193) + `"}}}`, "", "/delivery/credentials: credentials must have at most 8192 bytes"},
		{`{"httpOperation":"POST"}`, "", "/httpOperation: httpOperation applies only to webhooks"},
		{`{"httpOperation":null}`, `{"key":"k","other":"o"}`, ""},
	} {
		d, faults := brokertest.Define(t, kind, was, c.body)
		if c.fault == "" && (faults != "" || string(d.Config) != c.config || (len(d.ConfigNames) > 0) != (c.config != "")) || !strings.HasPrefix(faults, c.fault) || c.fault != "" && faults == "" {
			t.Errorf("%s: %s with faults %q, want %s with %q", c.body, d.Config, faults, c.config, c.fault)
		}
	}
}
