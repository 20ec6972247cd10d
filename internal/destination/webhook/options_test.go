package webhook

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// authority issues certificates.
type authority struct {
	*testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{T: t}
	a.pem, _ = a.issue("authority", time.Now().Add(time.Hour), true)
	return a
}

// issue returns a certificate and its key as PEM. A new authority signs itself.
func (a *authority) issue(name string, until time.Time, isCA bool) (cert, key string) {
	a.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until,
		IsCA: isCA, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	parent, signer := a.cert, a.key
	if isCA {
		parent, signer, a.key = template, private, private
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, private.Public(), signer)
	if err != nil {
		a.Fatal(err)
	}
	if isCA {
		a.cert, _ = x509.ParseCertificate(der)
	}
	pkcs8, _ := x509.MarshalPKCS8PrivateKey(private)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
}

// startMutual starts a server that requires a client certificate of the authority.
func (a *authority) startMutual(h http.HandlerFunc) *httptest.Server {
	a.Helper()
	pair, err := tls.X509KeyPair(joinPEM(a.issue("server", time.Now().Add(time.Hour), false)))
	if err != nil {
		a.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	srv.StartTLS()
	a.Cleanup(srv.Close)
	return srv
}

func joinPEM(cert, key string) ([]byte, []byte) { return []byte(cert), []byte(key) }

// openSettings opens a webhook with settings.
func openSettings(t *testing.T, k *Kind, workspace feedmill.ID, to string, s settings) feedmill.Endpoint {
	t.Helper()
	config, err := s.config()
	if err != nil {
		t.Fatal(err)
	}
	e, err := k.Open(feedmill.Subscription{Workspace: workspace, Destination: feedmill.Destination{URL: to, Method: http.MethodPost}}, config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Subscriptions to one host show their own certificates, on their own connections.
func TestClientCertificates(t *testing.T) {
	a := newAuthority(t)
	var mu sync.Mutex
	connections := make(map[string]string) // the certificate of each client address
	srv := a.startMutual(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		name := r.TLS.PeerCertificates[0].Subject.CommonName
		if was := connections[r.RemoteAddr]; was != "" && was != name {
			t.Errorf("a connection of %s is used for %s", was, name)
		}
		connections[r.RemoteAddr] = name
		if r.Header.Get("X-Client") != name {
			t.Errorf("the request of %s has the certificate of %s", r.Header.Get("X-Client"), name)
		}
	})
	k := newKind(t, "127.0.0.1")
	var endpoints []feedmill.Endpoint
	for i := range 4 {
		name := fmt.Sprint("client-", i)
		c := &certificates{CACert: a.pem}
		c.ClientCert, c.ClientKey = a.issue(name, time.Now().Add(time.Hour), false)
		workspace := feedmill.ID(fmt.Sprint("ws_", i%2))
		endpoints = append(endpoints, openSettings(t, k, workspace, srv.URL, settings{Headers: map[string]string{"X-Client": name}, TLS: c}))
	}
	for range 3 {
		for i, e := range endpoints {
			if r := e.Send(t.Context(), newMessage(`{}`)); !r.Delivered() {
				t.Errorf("client %d: %+v", i, r)
			}
		}
	}
	if len(connections) != len(endpoints) {
		t.Errorf("%d connections, want %d that are reused", len(connections), len(endpoints))
	}

	other := newAuthority(t)
	wrong := &certificates{CACert: a.pem}
	wrong.ClientCert, wrong.ClientKey = other.issue("stranger", time.Now().Add(time.Hour), false)
	old := &certificates{CACert: a.pem}
	old.ClientCert, old.ClientKey = a.issue("old", time.Now().Add(-time.Hour), false)
	for name, c := range map[string]struct {
		settings
		want string
	}{
		"no certificate":        {settings{TLS: &certificates{CACert: a.pem}}, "the endpoint reported: certificate required"},
		"unknown certificate":   {settings{TLS: wrong}, "the endpoint reported: "},
		"expired certificate":   {settings{TLS: old}, "the client certificate expired on "},
		"unknown authority":     {settings{TLS: &certificates{CACert: other.pem}}, "not signed by a trusted authority"},
		"nothing":               {settings{}, "not signed by a trusted authority"},
		"headers, but no certs": {settings{Headers: map[string]string{"X-A": "b"}}, "not signed by a trusted authority"},
	} {
		if r := openSettings(t, k, "ws_0", srv.URL, c.settings).Send(t.Context(), newMessage(`{}`)); r.Verdict != feedmill.VerdictRetry || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// tokenServer issues access tokens.
type tokenServer struct {
	*httptest.Server
	requests, issued atomic.Int64
	body             atomic.Bool // it reads only the body
	respond          atomic.Pointer[http.HandlerFunc]
}

func startTokens(t *testing.T) *tokenServer {
	s := new(tokenServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if respond := s.respond.Load(); respond != nil {
			(*respond)(w, r)
			return
		}
		id, secret, ok := r.BasicAuth()
		secret, _ = url.QueryUnescape(secret) // as RFC 6749 encodes it
		if s.body.Load() {
			id, secret, ok = r.FormValue("client_id"), r.FormValue("client_secret"), !ok
		}
		if !ok || id != "ada" || secret != "s3cret%21" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "a b" || r.FormValue("audience") != "api" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"invalid_client","error_description":"s3cret"}`)
			return
		}
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600}`, s.issued.Add(1))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *tokenServer) client() *oauth2 {
	return &oauth2{TokenURL: s.URL + "/token", ClientID: "ada", ClientSecret: "s3cret%21", Scope: "a b", Audience: "api"}
}

// A token is requested once for all attempts, and again after the endpoint refused it.
func TestAccessTokens(t *testing.T) {
	for _, inBody := range []bool{false, true} {
		tokens := startTokens(t)
		tokens.body.Store(inBody)
		var valid atomic.Value
		valid.Store("token-1")
		sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Echo", r.Header.Get("Authorization"))
			if r.Header.Get("Authorization") != "Bearer "+valid.Load().(string) {
				w.WriteHeader(http.StatusUnauthorized)
				io.WriteString(w, "refused "+r.Header.Get("Authorization"))
			}
		}))
		defer sink.Close()
		k := newKind(t, "127.0.0.1")
		e := openSettings(t, k, "ws_1", sink.URL, settings{OAuth2: tokens.client()})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if r := e.Send(t.Context(), newMessage(`{}`)); !r.Delivered() || strings.Contains(fmt.Sprint(r), "token-1") {
					t.Errorf("%+v", r)
				}
			})
		}
		wg.Wait()
		if n := tokens.issued.Load(); n != 1 {
			t.Errorf("%d tokens were issued, want 1", n)
		}
		valid.Store("token-2")
		if r := e.Send(t.Context(), newMessage(`{}`)); r.Verdict != feedmill.VerdictRetry || r.Status != http.StatusUnauthorized || string(r.Body) != "refused Bearer ***" || strings.Contains(fmt.Sprint(r.Header), "token-1") {
			t.Errorf("a refused token: %+v, %s", r, r.Body)
		}
		// Opened again, as after the age of a subscription: tokens are kept by the kind.
		e = openSettings(t, k, "ws_1", sink.URL, settings{OAuth2: tokens.client()})
		if r := e.Send(t.Context(), newMessage(`{}`)); !r.Delivered() {
			t.Errorf("after the token was refused: %+v", r)
		}
		// No other workspace uses the token.
		if openSettings(t, k, "ws_2", sink.URL, settings{OAuth2: tokens.client()}).Send(t.Context(), newMessage(`{}`)); tokens.issued.Load() != 3 {
			t.Errorf("%d tokens were issued, want 3", tokens.issued.Load())
		}
	}
}

// A failed token request is an attempt, whose error has nothing of the response.
func TestTokenFailures(t *testing.T) {
	tokens := startTokens(t)
	var sent atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	defer sink.Close()
	k := newKind(t, "127.0.0.1")
	for name, c := range map[string]struct {
		respond   http.HandlerFunc
		want      string
		responded bool
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			io.WriteString(w, `{"error":"invalid_client"}`)
		}, "the token endpoint returned 401 Unauthorized (invalid_client)", true},
		"own error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			io.WriteString(w, `{"error":"s3cret"}`)
		}, "the token endpoint returned 400 Bad Request", true},
		"error in 200": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"error":"invalid_scope"}`) }, "(invalid_scope)", true},
		"down":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "the token endpoint returned 503", true},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, "the token endpoint returned 307", true},
		"no JSON":  {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `s3cret`) }, "not a valid JSON object", true},
		"no token": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"token":"s3cret"}`) }, "has no access_token", true},
		"other type": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"access_token":"s3cret","token_type":"mac"}`)
		}, "token_type is not bearer", true},
		"line break": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"access_token":"s3cret\r\nX-A: b"}`) }, "cannot be sent in a header", true},
		"closed":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "the token request failed: the connection closed", false},
	} {
		tokens.respond.Store(&c.respond)
		client := tokens.client()
		client.Scope = name // a token of its own
		r := openSettings(t, k, "ws_1", sink.URL, settings{OAuth2: client}).Send(t.Context(), newMessage(`{}`))
		if r.Verdict != feedmill.VerdictRetry || !strings.Contains(r.Error, c.want) || r.Responded != c.responded || strings.Contains(fmt.Sprintf("%+v", r), "s3cret") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	forbidden := tokens.client()
	forbidden.TokenURL = "http://10.0.0.1/token"
	if r := openSettings(t, k, "ws_1", sink.URL, settings{OAuth2: forbidden}).Send(t.Context(), newMessage(`{}`)); r.Verdict != feedmill.VerdictRejected || !strings.Contains(r.Error, "tokenUrl") {
		t.Errorf("a forbidden address: %+v", r)
	}
	if n := sent.Load(); n != 0 {
		t.Errorf("%d requests were sent without a token", n)
	}
}

// An attempt that is canceled during its token request fails no other attempt.
func TestCanceledTokenRequest(t *testing.T) {
	tokens := startTokens(t)
	asked, proceed := make(chan struct{}), make(chan struct{})
	var first sync.Once
	respond := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		waits := false
		first.Do(func() { waits = true })
		if waits {
			close(asked)
			<-proceed
			return
		}
		io.WriteString(w, `{"access_token":"t","expires_in":"60"}`)
	})
	tokens.respond.Store(&respond)
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer sink.Close()
	defer close(proceed)
	k := newKind(t, "127.0.0.1")
	e := openSettings(t, k, "ws_1", sink.URL, settings{OAuth2: tokens.client()})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { e.Send(ctx, newMessage(`{}`)) })
	<-asked
	wg.Go(func() {
		if r := e.Send(t.Context(), newMessage(`{}`)); !r.Delivered() {
			t.Errorf("%+v", r)
		}
	})
	cancel()
}

// A token is renewed before it expires, and one without a lifetime when it is refused.
func TestTokenLifetime(t *testing.T) {
	for text, want := range map[string]time.Duration{`60`: time.Minute, `"60"`: time.Minute, `0`: 0, `-1`: 0, `"NaN"`: 0, `null`: 0, `1e300`: maxLifetime, `[]`: 0} {
		if got, err := parseToken(200, fmt.Appendf(nil, `{"access_token":"t","expires_in":%s}`, text)); err != nil || got.lives != want {
			t.Errorf("expires_in %s: %v, %v, want %v", text, got.lives, err, want)
		}
	}
	var all tokens
	now := time.Now()
	for i := range maxTokens + 10 {
		all.begin(fmt.Sprint(i), now)
		all.of[fmt.Sprint(i)].request = nil
	}
	if len(all.of) > maxTokens {
		t.Errorf("%d tokens are kept", len(all.of))
	}
}

// define reads a delivery member as a change of settings.
func define(t *testing.T, was settings, from, body string) (settings, []feedmill.Fault) {
	t.Helper()
	faults := new(feedmill.Faults)
	v, ok := strictjson.Read([]byte(body), strictjson.Part{}, faults.Note)
	if !ok {
		t.Fatalf("%s is not valid: %v", body, faults.List)
	}
	config, err := was.config()
	if err != nil {
		t.Fatal(err)
	}
	o := strictjson.NewObject(&v, "", faults.Note)
	r := feedmill.DestinationRequest{Body: o, Faults: faults, OpenConfig: func() ([]byte, error) { return config, nil }}
	r.Was = feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: from, Method: "POST", Config: config}
	if f, ok := o.Get("delivery"); ok {
		if r.ResetDelivery = f.Kind == 'n'; !r.ResetDelivery {
			r.Delivery, _ = f.Object()
		}
	}
	d, made, err := (&Kind{URLs: anyURL{}}).Define(r)
	if err != nil {
		t.Fatal(err)
	}
	if made == nil {
		made = d.Config
	}
	s, err := parseSettings(made)
	if err != nil {
		t.Fatal(err)
	}
	if len(faults.List) == 0 && strings.Contains(string(d.Shown), "PRIVATE") || strings.Contains(string(d.Shown), "s3cret") {
		t.Errorf("%s: secrets are shown: %s", body, d.Shown)
	}
	return s, faults.List
}

// What was given for an origin is given again for another, or dropped.
func TestSettingsStayWithTheirOrigin(t *testing.T) {
	a := newAuthority(t)
	c := &certificates{CACert: a.pem}
	c.ClientCert, c.ClientKey = a.issue("client", time.Now().Add(time.Hour), false)
	client := &oauth2{TokenURL: "https://auth.test/token", ClientID: "ada", ClientSecret: "s3cret"}
	full := settings{Headers: map[string]string{"X-A": "1"}, TLS: c, OAuth2: client}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	all := []string{"/delivery/headers", "/delivery/tls", "/delivery/oauth2"}
	for body, want := range map[string][]string{
		`{"url":"https://a.test/other"}`:                                                                                                        nil,
		`{"url":"https://b.test/"}`:                                                                                                             all,
		`{"url":"https://b.test/","delivery":{"timeout":"1s"}}`:                                                                                 all,
		`{"url":"https://b.test/","delivery":{"headers":null}}`:                                                                                 all[1:],
		`{"url":"https://b.test/","delivery":null}`:                                                                                             nil,
		`{"url":"https://b.test/","delivery":{"tls":null,"oauth2":null,"headers":{}}}`:                                                          nil,
		`{"delivery":{"oauth2":{"tokenUrl":"https://auth.test/other","clientId":"ada","clientSecret":"***"}}}`:                                  nil,
		`{"delivery":{"oauth2":null}}`:                                                                                                          nil,
		`{"delivery":{"oauth2":{"tokenUrl":"https://evil.test/","clientId":"ada","clientSecret":"new"}}}`:                                       all[:2],
		`{"delivery":{"oauth2":{"tokenUrl":"https://evil.test/","clientId":"ada","clientSecret":"***"},"headers":null,"tls":null}}`:             {"/delivery/oauth2/clientSecret"},
		`{"delivery":{"oauth2":{"tokenUrl":"https://evil.test/","clientId":"ada","clientSecret":"new"},"headers":{"X-A":"***"},"tls":null}}`:    {"/delivery/headers/X-A"},
		`{"delivery":{"oauth2":{"tokenUrl":"https://evil.test/","clientId":"ada","clientSecret":"new"},"headers":{"X-A":"2"},"tls":null}}`:      nil,
		`{"delivery":{"oauth2":{"tokenUrl":"https://bad.test/","clientId":"","clientSecret":"x\n"},"headers":null,"tls":null}}`:                 {"/delivery/oauth2/tokenUrl", "/delivery/oauth2/clientId", "/delivery/oauth2/clientSecret"},
		`{"delivery":{"headers":{"Authorization":"x"}}}`:                                                                                        {"/delivery/oauth2"},
		`{"url":"https://b.test/","delivery":{"headers":null,"oauth2":null,"tls":{"clientCert":` + text(c.ClientCert) + `,"clientKey":"***"}}}`: {"/delivery/tls/clientKey"},
		`{"delivery":{"tls":{"clientCert":` + text(c.ClientCert) + `,"clientKey":"***"}}}`:                                                      nil,
		`{"delivery":{"tls":{}}}`:                      {"/delivery/tls"},
		`{"delivery":{"tls":{"caCert":"x","more":1}}}`: {"/delivery/tls/caCert", "/delivery/tls/more"},
	} {
		made, faults := define(t, full, "https://a.test/hook", body)
		var places []string
		for _, f := range faults {
			places = append(places, f.Pointer)
		}
		if fmt.Sprint(places) != fmt.Sprint(want) {
			t.Errorf("%s: faults at %q, want %q: %v", body, places, want, faults)
		}
		if want == nil && strings.Contains(body, "b.test") && (made.TLS != nil || made.OAuth2 != nil || len(made.Headers) > 0) {
			t.Errorf("%s: %+v is kept", body, made)
		}
		if body == `{"url":"https://a.test/other"}` && text(made) != text(full) {
			t.Errorf("the same origin does not keep what was given: %+v", made)
		}
	}
	if _, faults := define(t, settings{}, "https://a.test/", `{"delivery":{"oauth2":{"tokenUrl":"https://u:p@x.test/","clientId":"a"}}}`); len(faults) != 2 {
		t.Errorf("%v", faults)
	}
}

// Certificates are checked before they are stored.
func TestCertificatesAreChecked(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	cert, key := a.issue("client", time.Now().Add(time.Hour), false)
	_, otherKey := other.issue("client", time.Now().Add(time.Hour), false)
	oldCert, oldKey := a.issue("client", time.Now().Add(-time.Hour), false)
	_, _ = other.issue("old authority", time.Now().Add(-time.Hour), true)
	oldCA := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.cert.Raw}))
	for name, c := range map[string]struct {
		certificates
		want string
	}{
		"valid":            {certificates{a.pem, cert, key}, ""},
		"only authorities": {certificates{CACert: a.pem + oldCA}, ""},
		"no key":           {certificates{ClientCert: cert}, "clientCert requires clientKey"},
		"no certificate":   {certificates{ClientKey: key}, "clientKey requires clientCert"},
		"other key":        {certificates{ClientCert: cert, ClientKey: otherKey}, "must be a certificate and its private key"},
		"expired":          {certificates{ClientCert: oldCert, ClientKey: oldKey}, "clientCert expired on 20"},
		"old authority":    {certificates{CACert: oldCA}, "caCert expired on 20"},
		"key as authority": {certificates{CACert: key}, "only certificates"},
		"broken authority": {certificates{CACert: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, "not contain a valid certificate"},
	} {
		body, err := json.Marshal(map[string]any{"delivery": map[string]any{"tls": c.certificates.members()}})
		if err != nil {
			t.Fatal(err)
		}
		made, faults := define(t, settings{}, "https://a.test/", string(body))
		if (c.want == "") != (len(faults) == 0) || len(faults) > 0 && !strings.Contains(faults[0].Detail, c.want) || strings.Contains(fmt.Sprint(faults), "BEGIN") {
			t.Errorf("%s: %v, want %q", name, faults, c.want)
		}
		if c.want == "" && *made.TLS != c.certificates {
			t.Errorf("%s: %+v", name, made.TLS)
		}
		if _, faults := define(t, settings{}, "http://a.test/", string(body)); c.want == "" && len(faults) != 1 {
			t.Errorf("%s with http: %v", name, faults)
		}
	}
}

func (c certificates) members() map[string]string {
	m := make(map[string]string)
	for name, text := range map[string]string{"caCert": c.CACert, "clientCert": c.ClientCert, "clientKey": c.ClientKey} {
		if text != "" {
			m[name] = text
		}
	}
	return m
}

// Settings of previous releases are the headers alone.
func TestStoredSettings(t *testing.T) {
	for _, config := range []string{`{"Authorization":"x","Headers":"y"}`, `{"headers":{"Authorization":"x","Headers":"y"}}`} {
		s, err := parseSettings([]byte(config))
		if err != nil || len(s.Headers) != 2 || s.Headers["Headers"] != "y" {
			t.Errorf("%s: %+v, %v", config, s, err)
		}
	}
	config, err := settings{Headers: map[string]string{"X-A": "b"}}.config()
	if err != nil || string(config) != `{"X-A":"b"}` {
		t.Errorf("%s, %v", config, err)
	}
}
