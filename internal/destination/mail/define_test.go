package mail

import (
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker/brokertest"
	"github.com/feedmill/feedmill/internal/destination/mail/mailtest"
)

var decoder mime.WordDecoder

func TestAddresses(t *testing.T) {
	k := newKind(t, "smtp://127.0.0.1:1", nil, 60)
	for url, want := range map[string]string{
		"mailto:a@b":                       "",
		"mailto:ada.l+x@Example.COM":       "",
		"MAILTO:ada@xn--bcher-kva.example": "",
		"mailto:a@b?subject=x":             "header fields",
		"mailto:a@b?":                      "header fields",
		"mailto:a@b,c@d":                   "one address",
		"mailto:a@b;c@d":                   "one address",
		"mailto:a%0d%0aBcc:x@b":            "ASCII letters",
		"mailto:a\\r\\nRCPT TO:<x@y>@b":    "ASCII letters",
		"mailto:a b@c":                     "ASCII letters",
		"mailto:<a>@c":                     "ASCII letters",
		"mailto:a@b>":                      "domain",
		"mailto:a@b c":                     "domain",
		"mailto:a@-b":                      "domain",
		"mailto:a@b..c":                    "domain",
		"mailto:a@bücher.example":          "domain",
		"mailto:@b":                        "before the @",
		"mailto:.a@b":                      "before the @",
		"mailto:a..b@c":                    "before the @",
		"mailto:" + strings.Repeat("a", 65) + "@b": "before the @",
		"mailto:a":     "address such as",
		"mailto:":      "address such as",
		"mailto://a@b": "ASCII letters",
	} {
		d, faults := brokertest.Define(t, k, feedmill.Destination{}, `{"url":"`+url+`"}`)
		if want == "" && (faults != "" || !strings.EqualFold(d.URL, url) || len(d.Config) == 0) || !strings.Contains(faults, want) || want != "" && faults == "" {
			t.Errorf("%s: %+v, %q, want %q", url, d, faults, want)
		}
	}
	was, _ := brokertest.Define(t, k, feedmill.Destination{}, `{"url":"mailto:a@b"}`)
	same, _ := brokertest.Define(t, k, was, `{"url":"MailTo:a@B"}`)
	other, _ := brokertest.Define(t, k, was, `{"url":"mailto:c@b"}`)
	if !same.Equal(was) || string(other.Config) == string(was.Config) {
		t.Error("a key is that of one address")
	}
	if !k.Consented(feedmill.Destination{URL: "mailto:a@trusted.example"}) || k.Consented(feedmill.Destination{URL: "mailto:a@not.trusted.example"}) || k.Consented(was) {
		t.Error("the domains without confirmation are others")
	}
	for _, o := range []Options{{}, {PublicURL: "https://a.example"}, {Server: k.Server}} {
		if _, faults := brokertest.Define(t, New(o), feedmill.Destination{}, `{"url":"mailto:a@b","httpOperation":"GET"}`); !strings.Contains(faults, "FEEDMILL_") || !strings.Contains(faults, "/httpOperation") {
			t.Errorf("%q", faults)
		}
	}
}

func TestServerURLs(t *testing.T) {
	for url, want := range map[string]string{
		"smtp://mail":                       "",
		"smtps://u:p@mail:465/":             "",
		"smtp://u:p@mail?starttls=required": "",
		"smtp://mail?starttls=off":          "",
		"smtp://mail?starttls=on":           "starttls",
		"smtps://mail?starttls=off":         "smtp://",
		"smtp://mail?a=b":                   "parameter",
		"http://mail":                       "smtp://",
		"mail:25":                           "smtp://",
		"smtp://secret:secret@:x":           "smtpUrl",
		"":                                  "smtpUrl",
	} {
		_, err := NewServer(url, "a@b", nil)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if _, err := NewServer("smtp://mail", "a@b\r\nBcc: c@d", nil); err == nil {
		t.Error("a sender with a line break is accepted")
	}
}

// A token is valid for its purpose, subscription, time and key only.
func TestTokens(t *testing.T) {
	a, b := feedmill.NewID(feedmill.PrefixSubscription), feedmill.NewID(feedmill.PrefixSubscription)
	l, other := links{key: []byte("k1")}, links{key: []byte("k2")}
	until := time.Unix(1_800_000_000, 0)
	tokens, ok := parseTokens(l.confirm(a, until) + "~" + l.confirm(b, until))
	if !ok || len(tokens) != 2 || !tokens[0].until.Equal(until) || !l.proves(tokens[0], "confirm") || !l.proves(tokens[1], "confirm") {
		t.Fatalf("%+v", tokens)
	}
	forged := tokens[0]
	forged.id = b
	later := tokens[0]
	later.until = until.Add(time.Second)
	if l.proves(forged, "confirm") || l.proves(later, "confirm") || l.proves(tokens[0], "unsubscribe") || other.proves(tokens[0], "confirm") || (links{}).proves(tokens[0], "confirm") {
		t.Error("a forged token is accepted")
	}
	one, ok := parseTokens(l.unsubscribe(a))
	if !ok || !l.proves(one[0], "unsubscribe") || l.proves(one[0], "confirm") {
		t.Errorf("%+v", one)
	}
	for _, text := range []string{"", "~", "a.b.c", string(a) + ".x.y", string(a) + ".0", strings.Repeat(l.unsubscribe(a)+"~", 10) + l.unsubscribe(a)} {
		if tokens, ok := parseTokens(text); ok {
			t.Errorf("%q: %+v", text, tokens)
		}
	}
}

// Whatever an event contains, a message has the headers of this package and no others.
func FuzzMessage(f *testing.F) {
	f.Add("a: b\r\nBcc: x@y\r\n\r\nbody", "t\r\nBcc: x@y", "r\nTo: z", false)
	f.Add("=?utf-8?q?=0d=0aBcc:_x?=", "ü", "\u2028Bcc: x", true)
	f.Add(strings.Repeat("ä", 5000), "", strings.Repeat("\x00", 50), true)
	f.Add("\r\n.\r\nMAIL FROM:<x@y>\r\n", "a", "b", true)
	k := New(Options{Server: &Server{From: address{"feedmill", "example.org"}}, PublicURL: "https://a.example"})
	e := &endpoint{Kind: k, subscription: feedmill.NewID(feedmill.PrefixSubscription), to: address{"ada", "example.com"}, links: links{[]byte("k"), "https://a.example"}}
	known := map[string]bool{
		"From": true, "To": true, "Subject": true, "Date": true, "Message-Id": true, "Auto-Submitted": true, "Mime-Version": true, "Content-Type": true,
		"Content-Transfer-Encoding": true, "List-Unsubscribe": true, "List-Unsubscribe-Post": true, "X-Service-Event": true, "X-Service-Delivery": true, "X-Service-Attempt": true,
	}
	f.Fuzz(func(t *testing.T, text, kind, resource string, plain bool) {
		m := brokertest.Message(resource, []byte(text))
		m.Type, m.Header[2][1] = kind, kind
		if plain {
			m.ContentType = "text/plain"
		}
		raw := e.compose(m)
		msg, body, err := mailtest.Read(raw)
		if err != nil {
			t.Fatalf("%v: %q", err, raw)
		}
		for name, values := range msg.Header {
			if !known[name] || len(values) != 1 {
				t.Fatalf("the header %s: %q", name, raw)
			}
		}
		if msg.Header.Get("To") != "<ada@example.com>" {
			t.Fatalf("the recipient is %q", msg.Header.Get("To"))
		}
		if subject, err := decoder.DecodeHeader(msg.Header.Get("Subject")); err != nil || strings.ContainsFunc(subject, isControl) {
			t.Fatalf("the subject is %q, %v", subject, err)
		}
		if !strings.Contains(body, "https://a.example/ui/mail/unsubscribe/") {
			t.Fatalf("the body has no link: %q", body)
		}
		for line := range strings.SplitSeq(string(raw), "\r\n") {
			if len(line) > 998 || strings.ContainsAny(line, "\r\n") || strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' && r != '\t' }) {
				t.Fatalf("the line %q", line)
			}
		}
	})
}
